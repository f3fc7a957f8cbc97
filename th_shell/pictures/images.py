"""Images as a terminal draws them: in a character there are two pixels, or a shade for both."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from th_shell.pictures.display import Ink, Screen, png
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


# -- the picture of `show` and `imshow`


class Image:
    """An image of a tensor's values (see `pixels`)."""

    def __init__(self, values: Array) -> None:
        self._pixels = pixels(values)

    def to_png(self, least: int = 1) -> bytes:
        """Return a PNG file; least: pixels that the longer side is to have, about."""
        return png(enlarged(self._pixels, least))

    def to_text(self, screen: Screen) -> str:
        """Return the characters and colours that a terminal draws."""
        return image_text(self._pixels, screen)
