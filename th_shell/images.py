"""Images: the pixels of a tensor's values, as text of a terminal and as PNG files.

Pixels are H x W x 3 bytes. Bytes are taken as they are. Other values are brightnesses from 0 to 1
if all are in this range; else the least becomes black, the greatest white. A character shows two
pixels, one above the other, or a shade for both.
"""

import os
from collections.abc import Mapping
from enum import Enum
from io import BytesIO
from itertools import groupby
from math import ceil, isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_GAP, _GAP_COLOUR = 1, 96  # pixels between the images of a grid
_CHANNELS = (1, 3)
_ENOUGH = 6  # pixels in a row, for a mean


def pixels(values: Array) -> Array:
    """Return the pixels of an image, or of several in a grid.

    An image is H x W, 1 x H x W, 3 x H x W or H x W x 3. Raises ValueError for other shapes.
    """
    if values.size == 0:
        raise ValueError("the tensor is empty")
    images = _images(_brightness(values))
    return images[0] if len(images) == 1 else _grid(images)


def _brightness(values: Array) -> Array:
    if values.dtype == np.uint8:
        return values
    numbers = values.astype(np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    if not (isfinite(low) and isfinite(high)):
        finite = numbers[np.isfinite(numbers)]
        if not finite.size:
            raise ValueError("there is no finite number in the tensor")
        low, high = float(finite.min()), float(finite.max())
        black, white = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
        numbers = np.nan_to_num(numbers, nan=black, posinf=white, neginf=black)
    if low < 0 or high > 1:
        numbers -= low
        numbers *= 255 / ((high - low) or 1)
    else:
        numbers *= 255
    return np.rint(numbers, out=numbers).astype(np.uint8)


def _images(values: Array) -> list[Array]:
    shape = values.shape
    if values.ndim == 2:
        return [_coloured(values[None])]
    if values.ndim == 3:
        if shape[0] in _CHANNELS:
            return [_coloured(values)]
        if shape[2] == 3:
            return [values]
        return [_coloured(image[None]) for image in values]
    if values.ndim == 4 and shape[1] in _CHANNELS:
        return [_coloured(image) for image in values]
    sizes = "x".join(map(str, shape))
    raise ValueError(f"an image is HxW, 1xHxW or 3xHxW, or several of these, not {sizes}")


def _coloured(channels: Array) -> Array:
    return np.repeat(channels, 3 // len(channels), axis=0).transpose(1, 2, 0)


def _grid(images: list[Array]) -> Array:
    height, width = images[0].shape[:2]
    columns = ceil(sqrt(len(images) * height / width)) if width else 1
    columns = min(max(columns, 1), len(images))
    rows = ceil(len(images) / columns)
    sheet = np.full(
        (rows * (height + _GAP) - _GAP, columns * (width + _GAP) - _GAP, 3), _GAP_COLOUR, np.uint8
    )
    for i, image in enumerate(images):
        top, left = (i // columns) * (height + _GAP), (i % columns) * (width + _GAP)
        sheet[top : top + height, left : left + width] = image
    return sheet


def enlarged(image: Array, least: int) -> Array:
    """Return an image with each pixel repeated until the longer side has about this many."""
    factor = max(1, least // max(image.shape[:2]))
    return image.repeat(factor, axis=0).repeat(factor, axis=1)


def resized(image: Array, height: int, width: int) -> Array:
    """Return an image of another size: means of pixels where it is smaller, repeated ones else.

    Where it is much smaller, the means are of some of the pixels, evenly spread.
    """
    steps = (
        max(1, image.shape[0] // (_ENOUGH * height)),
        max(1, image.shape[1] // (_ENOUGH * width)),
    )
    image = image[:: steps[0], :: steps[1]]
    for axis, size in enumerate((height, width)):
        old = image.shape[axis]
        if size < old:
            edges = np.linspace(0, old, size + 1).astype(np.intp)
            counts = np.diff(edges).reshape([-1 if a == axis else 1 for a in range(3)])
            sums = np.add.reduceat(image.astype(np.float64), edges[:-1], axis=axis)
            image = np.rint(sums / counts).astype(np.uint8)
        elif size > old:
            image = image.take(np.arange(size) * old // size, axis=axis)
    return image


# -- the terminal


class Ink(Enum):
    """The characters and colours that are drawn with."""

    ASCII = "ASCII characters"
    SHADES = "shades of grey, by characters"
    COLOURS_256 = "256 colours"
    COLOURS = "all colours"


class Screen(NamedTuple):
    """A terminal."""

    #: Its size in characters.
    columns: int = 80
    lines: int = 24
    ink: Ink = Ink.SHADES


_TRUE_COLOUR = ("truecolor", "24bit")
_COLOURED = ("xterm", "screen", "tmux", "rxvt", "alacritty", "foot", "konsole", "wezterm")


def screen(environment: Mapping[str, str], descriptor: int = 1) -> Screen:
    """Return the screen behind a descriptor of the standard output, as the environment tells.

    The terminal itself is not asked: its answer would come in the keys that are being typed.
    """
    try:
        columns, lines = os.get_terminal_size(descriptor)
        is_terminal = os.isatty(descriptor)
    except OSError:
        return Screen(ink=_ink(environment, False))
    return Screen(columns or 80, lines or 24, _ink(environment, is_terminal))


def _ink(environment: Mapping[str, str], is_terminal: bool) -> Ink:
    term = environment.get("TERM", "")
    if term == "dumb":
        return Ink.ASCII
    if not is_terminal or "NO_COLOR" in environment:
        return Ink.SHADES
    if environment.get("COLORTERM") in _TRUE_COLOUR:
        return Ink.COLOURS
    return Ink.COLOURS_256 if term.startswith(_COLOURED) or "256" in term else Ink.SHADES


# -- images as text

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


# -- images


class Image:
    """An image of a tensor's values."""

    def __init__(self, values: Array) -> None:
        """Read the pixels off the values. Raises ValueError where they are no image."""
        self._pixels = pixels(values)

    def to_png(self, least: int = 1) -> bytes:
        """Return a PNG file; least: pixels that the longer side is to have, about.

        Raises ValueError where pillow is missing.
        """
        try:
            from PIL import Image as pillow  # late: th itself does without
        except ImportError:
            needed = "a PNG file needs pillow: pip install 'th-shell[pictures]'"
            raise ValueError(needed) from None
        file = BytesIO()
        pillow.fromarray(enlarged(self._pixels, least)).save(file, "PNG")
        return file.getvalue()

    def to_text(self, screen: Screen) -> str:
        """Return the characters and codes that a terminal draws; they end with a newline."""
        return image_text(self._pixels, screen)
