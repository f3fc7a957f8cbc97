"""Text and rectangles, drawn in an image of three planes with colours between 0 and 255.

Letters have the classic font of 5 x 7 pixels of small displays, with the shapes of Adafruit's GFX
library, in which the original draws.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import BYTE, INT, Array, cast_scalar
from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.packages.image.planes import FLOAT, colour_image

#: Colours of bytes are between 0 and 255, others between 0 and 1.
_Colour = tuple[int, int, int]


def _int(call: Call, at: int) -> int:
    return int(cast_scalar(call.number(at), INT))


def _colour(call: Call, at: int) -> _Colour:
    return _int(call, at), _int(call, at + 1), _int(call, at + 2)


def _paint(image: Tensor, mask: Array, colour: _Colour) -> None:
    levels = np.array(colour, np.int64)
    shown = levels if image.dtype is BYTE else levels.astype(FLOAT) / FLOAT(255)
    image.array[:3, mask] = shown.astype(image.dtype.numpy)[:, None]


def _text(call: Call) -> None:
    """Draw a text; letters that are wholly outside of the image are left out.

    Torch7: letters that are partly outside are an error, behind which the others are drawn.
    """
    image = colour_image(call, 1)
    text, size = call.get(2), _int(call, 5)
    colour, background, wrap = _colour(call, 6), _colour(call, 9), _int(call, 12) != 0
    marks = np.zeros(image.sizes[1:], bool)
    grounds = np.zeros_like(marks)
    has_ground = -1 not in background
    for code, x, y in _places(text, call.long(3), call.long(4), size, image, wrap):
        shape = letter(code).repeat(size, 0).repeat(size, 1)
        drawn = np.ones_like(shape) if has_ground else shape
        rows, columns = drawn.nonzero()
        if not rows.size:
            continue
        if min(y + rows.min(), x + columns.min()) < 0 or (
            y + rows.max() >= image.sizes[1] or x + columns.max() >= image.sizes[2]
        ):
            raise ArgError(2, "out of range")
        ys, xs = y + rows, x + columns
        marks[ys, xs] = shape[rows, columns]
        grounds[ys, xs] = ~shape[rows, columns]
    _paint(image, grounds, background)
    _paint(image, marks, colour)


def _places(
    text: bytes, x: int, y: int, size: int, image: Tensor, wrap: bool
) -> Iterator[tuple[int, int, int]]:
    """Yield the letters of a text that are seen, and the upper left pixel of each: x, y."""
    height, width = image.sizes[1:]
    left = x
    for code in text.partition(b"\0")[0]:
        if code == ord("\n"):
            y, x = y + size * HEIGHT, left
        elif code != ord("\r"):
            if wrap and x + size * WIDTH >= width:
                y, x = y + size * HEIGHT, 0
            seen_x = x < width and x + WIDTH * size > 0
            if seen_x and y < height and y + HEIGHT * size > 0:
                yield code, x, y
            x += size * WIDTH


def _rectangle(call: Call) -> None:
    image = colour_image(call, 1)
    x1, y1, x2, y2 = (call.long(at) for at in (2, 3, 4, 5))
    line, colour = _int(call, 6), _colour(call, 7)
    height, width = image.sizes[1:]
    left, right = _line(x1, line, width), _line(x2, line, width)
    top, bottom = _line(y1, line, height), _line(y2, line, height)
    mask = np.zeros((height, width), bool)
    rows, columns = slice(top.start, bottom.stop), slice(left.start, right.stop)
    mask[rows, left] = mask[rows, right] = True
    mask[top, columns] = mask[bottom, columns] = True
    _paint(image, mask, colour)


def _line(position: int, width: int, size: int) -> slice:
    """Return the pixels of a line of some width around a position that counts from 1."""
    # Division as in C, which rounds towards 0.
    before = int(width / 2) + 1
    last = min(size, position + width - before)
    return slice(max(0, position - before), max(0, last))


FUNCTIONS = {"text": _text, "drawRect": _rectangle}


#: The pixels that each letter takes, with the space behind it.
WIDTH, HEIGHT = 6, 8

# For each byte of a text five columns of eight pixels, the uppermost in the lowest bit.
_COLUMNS = bytes.fromhex(Path(__file__).with_name("letters.txt").read_text("ascii"))


def letter(code: int) -> Array:
    """Return the pixels of a letter that are set, as booleans: height x width."""
    columns = np.frombuffer(_COLUMNS, np.uint8, 5, 5 * code)
    bits = np.unpackbits(columns[None], axis=0, bitorder="little").astype(bool)
    return np.pad(bits, ((0, 0), (0, WIDTH - 5)))
