"""Images as a terminal draws them: as characters, or as escape codes for those that draw pixels.

In a character there are two pixels, by half blocks; or a shade for both. Pixels are drawn by the
protocol of kitty, or by sixels.
"""

from __future__ import annotations

import base64
import zlib
from itertools import groupby

import numpy as np

from th_shell.pictures.display import Graphics, Ink, Screen, png
from th_shell.pictures.pixels import Array, enlarged, pixels, resized

_ENLARGED = 32  # pixels: a smaller image gets about so many
_OTHER_LINES = 4  # that stay for the prompt
_SHADES = {Ink.SHADES: " ░▒▓█", Ink.ASCII: " .:-=+*#%@"}
_HALF_BLOCK = "▀"
_RESET = "\x1b[0m"


def fitted(height: int, width: int, columns: int, lines: int) -> tuple[int, int]:
    """Return the size in pixels of an image in so many columns and lines; a line has two pixels."""
    room = min((columns - 1) / width, 2 * max(lines - _OTHER_LINES, 4) / height)
    factor = float(max(1, _ENLARGED // max(height, width)))
    factor = min(factor, room)
    if factor > 1:
        factor = int(factor)
    return max(1, int(height * factor)), max(1, int(width * factor))


def image_text(image: Array, screen: Screen) -> str:
    """Return the text of an image H x W x 3, in as many colours as the screen has."""
    height, width = image.shape[:2]
    height, width = fitted(height, width, screen.columns, screen.lines)
    image = resized(image, height, width)
    if height % 2:
        image = np.concatenate([image, image[-1:] if height == 1 else image[-1:] * 0])
    pairs = image.reshape(-1, 2, width, 3)
    if screen.ink in _SHADES:
        return _shaded(pairs, _SHADES[screen.ink])
    codes = _codes_256(pairs) if screen.ink is Ink.COLOURS_256 else _codes(pairs)
    return "".join(_coloured_line(upper, lower) for upper, lower in codes)


def _shaded(pairs: Array, shades: str) -> str:
    weights = np.array([0.299, 0.587, 0.114])
    brightness = pairs.mean(axis=1) @ weights
    steps = (brightness * len(shades) / 256).astype(np.intp)
    return "".join("".join(shades[i] for i in line).rstrip() + "\n" for line in steps.tolist())


def _codes(pairs: Array) -> list[list[list[str]]]:
    return [[[f"2;{r};{g};{b}" for r, g, b in row] for row in pair] for pair in pairs.tolist()]


def _codes_256(pairs: Array) -> list[list[list[str]]]:
    """Return the nearest of the 216 colours and 24 greys of terminals."""
    numbers = pairs.astype(np.intp)
    cube = np.rint(numbers / 51).astype(np.intp) @ np.array([36, 6, 1]) + 16
    grey = 232 + np.rint((numbers.mean(axis=-1) - 8) / 10).clip(0, 23).astype(np.intp)
    is_grey = np.ptp(numbers, axis=-1) < 12
    codes = np.where(is_grey, grey, cube).tolist()
    return [[[f"5;{code}" for code in row] for row in pair] for pair in codes]


def _coloured_line(upper: list[str], lower: list[str]) -> str:
    runs = groupby(zip(upper, lower, strict=True))
    parts = (f"\x1b[38;{top};48;{low}m" + _HALF_BLOCK * len(list(run)) for (top, low), run in runs)
    return "".join(parts) + _RESET + "\n"


# -- images as escape codes of terminals that draw pixels: kitty's protocol, and sixels

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
    """Return the codes that draw an image. The terminal answers none of them (q=2)."""
    image = _sized(image, screen)
    height, width = image.shape[:2]
    data = base64.standard_b64encode(zlib.compress(image.tobytes())).decode()
    chunks = [data[i : i + _CHUNK] for i in range(0, len(data), _CHUNK)]
    codes = []
    for i, chunk in enumerate(chunks):
        keys = f"a=T,f=24,o=z,s={width},v={height},q=2," if i == 0 else "q=2,"
        codes.append(f"\x1b_G{keys}m={int(i < len(chunks) - 1)};{chunk}\x1b\\")
    return "".join(codes) + "\n"


def sixel(image: Array, screen: Screen) -> str:
    """Return the codes that draw an image in 216 colours, six lines of pixels at a time."""
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
    """Return the sixels of up to six lines, colour by colour."""
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


# -- the picture of `show` and `imshow`


class Image:
    """An image of a tensor's values (see `pixels`)."""

    def __init__(self, values: Array) -> None:
        self._pixels = pixels(values)

    def to_png(self, least: int = 1) -> bytes:
        """Return a PNG file; least: pixels that the longer side is to have, about."""
        return png(enlarged(self._pixels, least))

    def to_text(self, screen: Screen) -> str:
        """Return the characters and codes that a terminal draws."""
        draw = {Graphics.KITTY: kitty, Graphics.SIXEL: sixel}.get(screen.graphics, image_text)
        return draw(self._pixels, screen)
