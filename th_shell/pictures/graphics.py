"""Images as escape codes of terminals that draw pixels: kitty's protocol, and sixels."""

from __future__ import annotations

import base64

import numpy as np

from th_shell.pictures.pixels import Array, enlarged, resized
from th_shell.pictures.png import png
from th_shell.pictures.screen import Screen

_CHUNK = 4096  # bytes of base64 in one code of kitty
_LEAST = 256  # pixels of the longer side
_CELL = 8  # pixels of a column, about
_LEVELS = 6  # of each colour in sixels


def _sized(image: Array, screen: Screen) -> Array:
    image = enlarged(image, _LEAST)
    most = screen.columns * _CELL
    height, width = image.shape[:2]
    if width <= most:
        return image
    return resized(image, max(1, height * most // width), most)


def kitty(image: Array, screen: Screen) -> str:
    """The codes that draw an image. The terminal answers none of them (q=2)."""
    data = base64.standard_b64encode(png(_sized(image, screen))).decode()
    chunks = [data[i : i + _CHUNK] for i in range(0, len(data), _CHUNK)]
    codes = []
    for i, chunk in enumerate(chunks):
        keys = "a=T,f=100,q=2," if i == 0 else "q=2,"
        codes.append(f"\x1b_G{keys}m={int(i < len(chunks) - 1)};{chunk}\x1b\\")
    return "".join(codes) + "\n"


def sixel(image: Array, screen: Screen) -> str:
    """The codes that draw an image in 216 colours, six lines of pixels at a time."""
    image = _sized(image, screen)
    steps = np.rint(image / 255 * (_LEVELS - 1)).astype(np.intp)
    colours = steps @ np.array([_LEVELS**2, _LEVELS, 1])
    height, width = colours.shape
    parts = [f'\x1bPq"1;1;{width};{height}']
    for number in np.unique(colours).tolist():
        r, g, b = (level * 100 // (_LEVELS - 1) for level in _levels(number))
        parts.append(f"#{number};2;{r};{g};{b}")
    for top in range(0, height, 6):
        parts.append("$".join(_band(colours[top : top + 6])) + "-")
    return "".join(parts) + "\x1b\\\n"


def _levels(number: int) -> tuple[int, int, int]:
    return number // _LEVELS**2, number // _LEVELS % _LEVELS, number % _LEVELS


def _band(rows: Array) -> list[str]:
    """The sixels of up to six lines, colour by colour."""
    bits = (1 << np.arange(len(rows)))[:, None]
    return [
        f"#{number}" + _packed(((rows == number) * bits).sum(axis=0))
        for number in np.unique(rows).tolist()
    ]


def _packed(values: Array) -> str:
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    lengths = np.diff(starts, append=len(values)).tolist()
    runs = zip(values[starts].tolist(), lengths, strict=True)
    return "".join(f"!{n}{chr(63 + value)}" if n > 3 else chr(63 + value) * n for value, n in runs)
