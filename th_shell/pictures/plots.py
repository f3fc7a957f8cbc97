"""The pictures of `plot` and `hist`: drawn by uniplot in a terminal, by the plotter in files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from th_shell.pictures.display import Ink, Screen, load
from th_shell.pictures.pixels import Array

_HEIGHT = 15  # lines of a plot
_LABELS = 12  # columns beside it
_PIXELS = 640, 400  # of a plot in a file
#: Characters for the lines around a plot where there is only ASCII.
_FRAME = str.maketrans("┌┐└┘─│▁", "++++-|_")


def _numbers(values: Array, what: str) -> Array:
    numbers = np.asarray(values, np.float64).reshape(-1)
    if not np.isfinite(numbers).any():
        raise ValueError(f"there is no finite number in {what}")
    return numbers


def _options(screen: Screen) -> dict[str, Any]:
    sets = {Ink.ASCII: "ascii"}
    return {
        "line_length_hard_cap": max(40, screen.columns - 1),
        "width": max(20, screen.columns - _LABELS),
        "height": min(_HEIGHT, max(4, screen.lines - 6)),
        "character_set": sets.get(screen.ink, "braille"),
        "color": ["blue"] if screen.ink in (Ink.COLOURS, Ink.COLOURS_256) else False,
    }


class Plot(ABC):
    """A plot: characters at a terminal, a picture in a file."""

    @abstractmethod
    def _text(self, screen: Screen, options: dict[str, Any]) -> str:
        """Return the characters that uniplot draws."""

    @abstractmethod
    def _series(self) -> tuple[Array, Array, str]:
        """Return what the plotter of the runtime draws: x, y and a style."""

    def to_text(self, screen: Screen) -> str:
        """Return the plot in characters."""
        text = self._text(screen, _options(screen)).rstrip("\n") + "\n"
        return text.translate(_FRAME) if screen.ink is Ink.ASCII else text

    def to_png(self, least: int = 1) -> bytes:
        """Return the plot as a PNG file."""
        load("matplotlib.figure", "a plot in a file")
        from th_shell.runtime.shell import plot_png  # late, as few inputs draw

        return plot_png(*self._series(), *_PIXELS)


class Line(Plot):
    """A line through points. x: by default 1, 2, …, as Lua counts."""

    def __init__(self, y: Array, x: Array | None = None) -> None:
        if y.ndim > 1 and max(y.shape) < y.size:
            sizes = "x".join(map(str, y.shape))
            raise ValueError(f"takes vectors, not {sizes}")
        self._y = _numbers(y, "the vector")
        self._x = np.arange(1.0, self._y.size + 1) if x is None else _numbers(x, "x")
        if self._x.size != self._y.size:
            raise ValueError(f"x has {self._x.size} elements, and y {self._y.size}")
        finite = np.isfinite(self._x) & np.isfinite(self._y)
        self._x, self._y = self._x[finite], self._y[finite]

    def _text(self, screen: Screen, options: dict[str, Any]) -> str:
        import uniplot  # late: few inputs draw

        return str(uniplot.plot_to_string(self._y, self._x, lines=True, **options))

    def _series(self) -> tuple[Array, Array, str]:
        return self._x, self._y, "-"


class Histogram(Plot):
    """The numbers of values in ranges of equal width."""

    def __init__(self, values: Array, bins: int = 20) -> None:
        if not 1 <= bins <= 10_000:
            raise ValueError(f"the number of bins is from 1 to 10000, not {bins}")
        numbers = _numbers(values, "the tensor")
        self._values, self._bins = numbers[np.isfinite(numbers)], bins

    def _text(self, screen: Screen, options: dict[str, Any]) -> str:
        import uniplot

        low, high = float(self._values.min()), float(self._values.max())
        if low == high:
            low, high = low - 0.5, high + 0.5
        options |= {"bins_min": low, "bins_max": high}
        if screen.ink is not Ink.ASCII:
            options["character_set"] = "block"
        return str(uniplot.histogram_to_string(self._values, bins=self._bins, **options))

    def _series(self) -> tuple[Array, Array, str]:
        counts, edges = np.histogram(self._values, self._bins)
        return edges, counts, "|"
