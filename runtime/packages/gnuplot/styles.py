"""The styles of gnuplot.plot: its short names, and gnuplot's ``with lines lw 2``."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Any

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
_LOOKS: dict[str, dict[str, Any]] = {
    "points": {"linestyle": "none", "marker": "+"},
    "dots": {"linestyle": "none", "marker": ","},
    "linespoints": {"marker": "o", "markersize": 3},
}
_NUMERAL = r"[\d.]+(?:[eE][+-]?\d+)?"
_WIDTH, _SIZE = ("lw", "linewidth"), ("ps", "pointsize")
_COLOUR, _NUMBER = ("lc", "linecolor"), ("lt", "ls", "linetype", "linestyle")


@dataclass
class Style:
    """A style's name, what matplotlib is told of lines, and the weight of a smoothing spline."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    weight: float | None = None

    @property
    def colour(self) -> dict[str, Any]:
        """Return matplotlib's options for areas."""
        return {name: value for name, value in self.options.items() if name == "color"}


def read_style(text: str) -> Style:
    """The style that a text names, such as ``+-``, ``0.5~`` or ``with lines lw 2``."""
    text = text.strip()
    name = _SHORT.get(text)
    if name:
        return Style(name, dict(_LOOKS.get(name, {})))
    smooth = re.fullmatch(rf"({_NUMERAL})?\s*(?:~|acsplines)\s*({_NUMERAL})?", text)
    if smooth:
        return Style("acsplines", weight=float(smooth[1] or smooth[2] or 1))
    return _read_words(shlex.split(text))


def _read_words(words: list[str]) -> Style:
    words = [word for word in words if word not in ("with", "w", "smooth", "rgb", "rgbcolor")]
    name = _WORDS.get(words[0], words[0]) if words else "linespoints"
    style = Style(name, dict(_LOOKS.get(name, {})))
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
