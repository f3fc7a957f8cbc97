"""Draws figures by matplotlib, for the package gnuplot and the prompt's plots.

A series has a style: one of gnuplot.plot's short names, such as ``+-``, or gnuplot's words, such as
``with lines lw 2``.
"""

from __future__ import annotations

import re
import shlex
import warnings
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.packages import optional

_PALETTES = {"gray": "gray", "grey": "gray", "color": "gnuplot", "colour": "gnuplot"}
_VERTICAL = {"top": "upper", "bottom": "lower", "middle": "center"}
_GREY = "0.85"
_DOTS_PER_INCH = 100


class Series(NamedTuple):
    """Data that are drawn in a figure."""

    #: The name in the legend; empty for none.
    legend: str
    #: The text of a style, which `read_style` reads; for an image the name of a palette.
    style: str
    #: x and y for a plot, x, y and z for splot and scatter3, the pixels for an image.
    data: list[Array]


class Description(NamedTuple):
    """A figure as Lua describes it."""

    #: plot, splot, scatter3 or image.
    kind: str
    #: The words of each setting by name; the names are keys of `_SETTERS`.
    settings: dict[str, list[str]]
    series: list[Series]


def read_description(text: bytes, tensors: list[Tensor]) -> Description:
    """Return the figure that Lua describes by lines (`__init__.py` tells of them) and tensors."""
    (kind, *_), *lines = (line.split("\t") for line in text.decode(errors="replace").split("\n"))
    settings = {line[0]: line[1:] for line in lines if line[0] != "series"}
    names = [line[1:3] for line in lines if line[0] == "series"]
    each = len(tensors) // max(len(names), 1)
    arrays = [np.array(tensor.array, np.float64) for tensor in tensors]
    series = [
        Series(legend, style, arrays[i * each : (i + 1) * each])
        for i, (legend, style) in enumerate(names)
    ]
    return Description(kind, settings, series)


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure of matplotlib; width, height: in pixels.

    pyplot is not used: it looks for a window system, and keeps all figures in memory.
    """
    module = optional("matplotlib.figure", "matplotlib", "gnuplot")
    size = (width / _DOTS_PER_INCH, height / _DOTS_PER_INCH)
    return module.Figure(figsize=size, dpi=_DOTS_PER_INCH, layout="tight")


def figure_file(description: Description, width: float, height: float, kind: str) -> bytes:
    """Return the file of a figure; kind: png, svg, eps or pdf; width, height: in pixels."""
    figure, data = new_figure(width, height), BytesIO()
    draw(figure, description)
    figure.savefig(data, format=kind)
    return data.getvalue()


def draw(figure: Any, description: Description) -> None:
    """Draw a description into a figure. Raises TorchError where matplotlib cannot."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as those of logarithms of 0
            _draw(figure, description)
    except ValueError as error:
        raise TorchError(f"gnuplot: {error}") from error


def _draw(figure: Any, description: Description) -> None:
    is_solid = description.kind in ("splot", "scatter3")
    axes = figure.add_subplot(projection="3d" if is_solid else None)
    painter = {"splot": _surface, "scatter3": _points, "image": _image}.get(description.kind, _plot)
    for legend, style, data in description.series:
        painter(figure, axes, data, legend, style)
    _set(axes, description)


# ------------------------------------------------------------------------ series


def _surface(figure: Any, axes: Any, data: list[Array], legend: str, style: str) -> None:
    axes.plot_wireframe(*data, label=legend, linewidth=0.7)


def _points(figure: Any, axes: Any, data: list[Array], legend: str, style: str) -> None:
    axes.scatter(*data, label=legend)


def _image(figure: Any, axes: Any, data: list[Array], legend: str, style: str) -> None:
    drawn = axes.imshow(data[0], cmap=_PALETTES.get(style, "gray"), interpolation="nearest")
    figure.colorbar(drawn, ax=axes)


def _plot(figure: Any, axes: Any, data: list[Array], legend: str, text: str) -> None:
    style, (x, y) = read_style(text), data
    if style.name != "vectors" and x.ndim == 2:
        x = x[:, 0]
    _PAINTERS[style.name](axes, x, y, style, legend)


def _column(y: Array, number: int = 0) -> Array:
    """Return a column of y, counted from 0. Raises TorchError where there is none."""
    if y.ndim == 1 and number == 0:
        return y
    if y.ndim == 1 or number >= y.shape[1]:
        raise TorchError(f"gnuplot.plot: this style needs {number + 2} columns")
    column: Array = y[:, number]
    return column


def _lines(axes: Any, x: Array, y: Array, style: Style, legend: str) -> None:
    axes.plot(x, _column(y), label=legend, **style.options)


def _boxes(axes: Any, x: Array, y: Array, style: Style, legend: str) -> None:
    """Draw boxes around the elements of x; between them, where x has one more than y."""
    if len(x) > len(y):
        axes.stairs(y, x, fill=True)
        return
    steps = np.diff(np.unique(x))
    width = float(steps.min()) if steps.size else 1.0
    axes.bar(x, _column(y), width, label=legend, edgecolor="black", linewidth=0.5, **style.colour)


def _impulses(axes: Any, x: Array, y: Array, style: Style, legend: str) -> None:
    axes.vlines(x, 0, _column(y), label=legend)


def _steps(axes: Any, x: Array, y: Array, style: Style, legend: str) -> None:
    axes.step(x, _column(y), where="post", label=legend, **style.options)


def _bars(axes: Any, x: Array, y: Array, style: Style, legend: str) -> None:
    axes.errorbar(x, _column(y), _column(y, 1), fmt="o", markersize=3, label=legend, **style.colour)


def _filled(axes: Any, x: Array, y: Array, style: Style, legend: str) -> None:
    baseline = _column(y, 1) if y.ndim == 2 and y.shape[1] > 1 else 0
    axes.fill_between(x, _column(y), baseline, label=legend, **style.colour)


def _vectors(axes: Any, x: Array, y: Array, style: Style, legend: str) -> None:
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] < 2 or y.shape[1] < 2:
        raise TorchError("gnuplot.plot: vectors are a tensor with 4 columns, or two with 2")
    units = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.003}
    axes.quiver(x[:, 0], y[:, 0], x[:, 1], y[:, 1], label=legend, **units)
    ends = np.stack([np.concatenate([a[:, 0], a[:, 0] + a[:, 1]]) for a in (x, y)], axis=1)
    axes.update_datalim(ends)
    axes.autoscale_view()


def _spline(axes: Any, x: Array, y: Array, style: Style, legend: str) -> None:
    """Draw a spline through the points; near them, if the style has a weight."""
    at, inverse = np.unique(x, return_inverse=True)
    # The mean of points with the same x, as gnuplot.
    values = np.bincount(inverse, _column(y)) / np.bincount(inverse)
    curve = _curve(at, values, style.weight)
    fine = np.linspace(at[0], at[-1], 300) if curve else at
    axes.plot(fine, curve(fine) if curve else values, label=legend, **style.options)


def _curve(x: Array, y: Array, weight: float | None) -> Any:
    """Return a spline as a function of x; None for too few points. weight: see `Style`."""
    from scipy import interpolate  # late: it takes long to load

    if x.size < (3 if weight is None else 5):
        return None
    if weight is None:
        return interpolate.CubicSpline(x, y, bc_type="natural")
    return interpolate.make_smoothing_spline(x, y, np.full(x.size, weight), lam=1.0)


_PAINTERS = {
    **dict.fromkeys(("lines", "points", "linespoints", "dots"), _lines),
    **dict.fromkeys(("yerrorbars", "errorbars"), _bars),
    **dict.fromkeys(("csplines", "acsplines"), _spline),
    "boxes": _boxes,
    "impulses": _impulses,
    "steps": _steps,
    "filledcurves": _filled,
    "vectors": _vectors,
}


def check_style(text: bytes) -> None:
    """Raise TorchError for a text that is no style of `plot`."""
    try:
        name = read_style(text.decode(errors="replace")).name
    except ValueError as error:
        raise TorchError(f"gnuplot.plot: the style '{text.decode()}': {error}") from error
    if name not in _PAINTERS:
        raise TorchError(f"gnuplot.plot: there is no style '{name}' here")


# ---------------------------------------------------------------------- settings


def _set(axes: Any, description: Description) -> None:
    for name, values in description.settings.items():
        _SETTERS[name](axes, *values)
    labelled = any(series.legend for series in description.series)
    if labelled and description.kind != "image" and "nokey" not in description.settings:
        across, down = description.settings.get("key", ["right", "top"])
        place = f"{_VERTICAL[down]} {across}".replace("center center", "center")
        axes.legend(loc=place, framealpha=1)


def _limits(axis: str) -> Any:
    def set_limits(axes: Any, text: str) -> None:
        match = re.fullmatch(r"([^:\s]*)\s*:\s*([^:\s]*)", text.strip())
        if not match:
            raise TorchError(f"gnuplot: '{text}' is no range")
        try:
            low, high = (float(part) if part not in ("", "*") else None for part in match.groups())
        except ValueError as error:
            raise TorchError(f"gnuplot: '{text}' is no range") from error
        getattr(axes, f"set_{axis}lim")(low, high)

    return set_limits


def _logarithmic(axes: Any, which: str) -> None:
    for axis in which:
        getattr(axes, f"set_{axis}scale")("log")


_SETTERS: dict[str, Any] = {
    "title": lambda axes, text: axes.set_title(text),
    "xlabel": lambda axes, text: axes.set_xlabel(text),
    "ylabel": lambda axes, text: axes.set_ylabel(text),
    "zlabel": lambda axes, text: getattr(axes, "set_zlabel", lambda _: None)(text),
    "xrange": _limits("x"),
    "yrange": _limits("y"),
    "grid": lambda axes, *_: axes.grid(True, color=_GREY),
    "logscale": _logarithmic,
    "equal": lambda axes, *_: axes.set_aspect("equal"),
    "xtics": lambda axes, *values: axes.set_xticks(list(map(float, values[1::2])), values[::2]),
    "key": lambda axes, *_: None,
    "nokey": lambda axes, *_: None,
}


_SHORT = {
    "": "linespoints",
    "+": "points",
    ".": "dots",
    "-": "lines",
    "+-": "linespoints",
    "|": "boxes",
    "~": "csplines",
    "v": "vectors",
    "V": "vectors",
}
_WORDS = {"l": "lines", "p": "points", "lp": "linespoints", "i": "impulses", "d": "dots"}
_OPTIONS: dict[str, dict[str, Any]] = {
    "points": {"linestyle": "none", "marker": "+"},
    "dots": {"linestyle": "none", "marker": ","},
    "linespoints": {"marker": "o", "markersize": 3},
}
_NUMERAL = r"[\d.]+(?:[eE][+-]?\d+)?"
# The words of gnuplot that set an option. A number as a colour is the place of one in its list.
_WIDTH, _SIZE = ("lw", "linewidth"), ("ps", "pointsize")
_COLOUR, _NUMBER = ("lc", "linecolor"), ("lt", "ls", "linetype", "linestyle")


@dataclass
class Style:
    """The look of a series."""

    #: A key of `_PAINTERS`; any other word where the text has another name.
    name: str
    #: Matplotlib's options of a line.
    options: dict[str, Any] = field(default_factory=dict)
    #: For smoothing splines: the weight of distances from the points against curvature.
    weight: float | None = None

    @property
    def colour(self) -> dict[str, Any]:
        """Return the options that matplotlib also takes for areas: the colour, if there is one."""
        return {name: value for name, value in self.options.items() if name == "color"}


def read_style(text: str) -> Style:
    """Return the style that a text names, such as ``+-``, ``0.5~`` or ``with lines lw 2``."""
    text = text.strip()
    name = _SHORT.get(text)
    if name:
        return Style(name, dict(_OPTIONS.get(name, {})))
    smooth = re.fullmatch(rf"({_NUMERAL})?\s*(?:~|acsplines)\s*({_NUMERAL})?", text)
    if smooth:
        return Style("acsplines", weight=float(smooth[1] or smooth[2] or 1))
    return _read_words(shlex.split(text))


def _read_words(words: list[str]) -> Style:
    """Return the style in gnuplot's words: a name, and options with a value behind each."""
    words = [word for word in words if word not in ("with", "w", "smooth", "rgb", "rgbcolor")]
    name = _WORDS.get(words[0], words[0]) if words else "linespoints"
    style = Style(name, dict(_OPTIONS.get(name, {})))
    for word, value in zip(words[1:], words[2:], strict=False):
        if word in _WIDTH:
            style.options["linewidth"] = float(value)
        elif word in _SIZE:
            style.options["markersize"] = 6 * float(value)
        elif word in _COLOUR and not value.isdigit():
            style.options["color"] = value
        elif word in (*_NUMBER, *_COLOUR) and value.isdigit():
            style.options["color"] = f"C{max(int(value) - 1, 0)}"
    return style
