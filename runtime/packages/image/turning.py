"""Images that are turned around their middle, or in polar coordinates.

In polar coordinates, the result has a row for each direction and a column for each radius. Values
are those of nearest pixels, or between four pixels.

Images that are cut, moved or mirrored are at the end: their pixels change places, not values.
"""

import math
from functools import partial

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.packages.image.planes import (
    FLOAT,
    check_depths,
    pair,
    planes,
    put,
    take,
    take_inside,
    whole,
    working,
)


def _operands(call: Call) -> tuple[Tensor, Tensor, float]:
    source, target = call.tensor(1), call.tensor(2)
    angle = float(FLOAT(call.number(3)))
    pair(call, "rotate")
    if source.array.ctypes.data == target.array.ctypes.data:
        raise TorchError("image.rotate: in-place rotate not supported")
    check_depths("rotate", source, target)
    return source, target, angle


def _from_middle(source: Tensor, target: Tensor) -> tuple[Array, Array, np.float32, np.float32]:
    """Return the target's rows and columns from the source's middle, and this middle: y, x."""
    y0, x0 = (FLOAT((n - 1) / 2) for n in source.sizes[-2:])
    height, width = target.sizes[-2:]
    y = np.arange(height, dtype=FLOAT)[:, None] - y0
    return y, np.arange(width, dtype=FLOAT) - x0, y0, x0


def _round(values: Array) -> Array:
    """Return the nearest whole numbers; those halfway between two go away from 0."""
    wide = values.astype(np.float64)
    return whole(np.trunc(wide + np.copysign(0.5, wide)))


def _rotate(call: Call) -> None:
    source, target, angle = _operands(call)
    y, x, y0, x0 = _from_middle(source, target)
    sin, cos = FLOAT(np.sin(angle)), FLOAT(np.cos(angle))
    columns, rows = _round(cos * x - sin * y + x0), _round(cos * y + sin * x + y0)
    put(target, take_inside(planes(source), rows, columns).astype(FLOAT))


def _rotate_bilinear(call: Call) -> None:
    source, target, angle = _operands(call)
    y, x, y0, x0 = _from_middle(source, target)
    kind = working(call.dtype)
    sin, cos = np.sin(angle), np.cos(angle)
    y, x = y.astype(np.float64), x.astype(np.float64)
    column = (cos * x - sin * y).astype(kind) + x0.astype(kind)
    row = (cos * y + sin * x).astype(kind) + y0.astype(kind)
    (x1, x2, dx, no_x), (y1, y2, dy, no_y) = (
        _neighbours(column, source.sizes[-1]),
        _neighbours(row, source.sizes[-2]),
    )
    values = _between(planes(source), y1, y2, dy, x1, x2, dx)
    put(target, np.where(no_x | no_y, FLOAT(0), values.astype(FLOAT)))


def _neighbours(position: Array, size: int) -> tuple[Array, Array, Array, Array]:
    """Return the two pixels around positions, the distances from the first, and if none are.

    A position less than half a pixel outside of the image has the nearest pixel twice.
    """
    first = whole(np.floor(position))
    part = position - first.astype(position.dtype)
    second = first + 1
    none = (second >= size) & ~((second == size) & (part < 0.5))
    none |= (first < 0) & ~((first == -1) & (part > 0.5))
    return np.clip(first, 0, size - 1), np.clip(second, 0, size - 1), part, none


def _between(
    pixels: Array, y1: Array, y2: Array, dy: Array, x1: Array, x2: Array, dx: Array
) -> Array:
    """Return values between four pixels, linear in both directions, in double precision."""
    right, below = dx.astype(np.float64), dy.astype(np.float64)
    left, above = 1 - right, 1 - below
    top = left * above * take(pixels, y1, x1) + right * above * take(pixels, y1, x2)
    bottom = left * below * take(pixels, y2, x1)
    # Torch7: this term is of the type of dx and dy, or of the pixels.
    corner = take(pixels, y2, x2)
    last = (dx * dy) * corner.astype(np.result_type(dx.dtype, pixels.dtype), copy=False)
    return np.asarray((top + bottom) + last)


# ------------------------------------------------------------------- polar coordinates


def _positions(source: Tensor, target: Tensor, full: bool, log: bool) -> tuple[Array, Array]:
    """Return the row and column in the source of each pixel of the target, as doubles.

    full: whether the largest radius reaches the corners of the source, not only its nearer side.
    log: whether the radius grows exponentially with the column.
    """
    (height, width), (rows, columns) = source.sizes[-2:], target.sizes[-2:]
    middle_y, middle_x = FLOAT(height / 2), FLOAT(width / 2)
    longest = middle_x if width < height else middle_y
    if full:
        squares = FLOAT(width) * FLOAT(width) + FLOAT(height) * FLOAT(height)
        longest = FLOAT(math.sqrt(squares) / 2)
    around = (2 * math.pi * np.arange(rows, dtype=np.float64) / rows).astype(FLOAT)
    angle = around.astype(np.float64)[:, None]
    steps = np.arange(columns, dtype=FLOAT)
    if log:
        rate = FLOAT(np.log(np.float64(longest)) / columns)
        radius = np.exp((steps * rate).astype(np.float64)).astype(FLOAT)
    else:
        radius = longest * steps / FLOAT(columns)
    r = radius.astype(np.float64)
    return r * np.cos(angle) + middle_y, -r * np.sin(angle) + middle_x


def _polar(call: Call, bilinear: bool, log: bool) -> None:
    full = FLOAT(call.number(3)) == 1
    source, target = pair(call, "polar")
    check_depths("polar", source, target)
    y, x = _positions(source, target, bool(full), log)
    if bilinear:
        # Torch7: positions in the logarithmic form have single precision, for doubles too.
        kind = FLOAT if log else working(call.dtype)
        values = _between_pixels(planes(source), y.astype(kind), x.astype(kind))
    else:
        values = take_inside(planes(source), whole(np.floor(y)), whole(np.floor(x)))
    put(target, values.astype(FLOAT))


def _between_pixels(pixels: Array, y: Array, x: Array) -> Array:
    """Return values between four pixels; at the borders the pixel itself, and 0 outside."""
    height, width = pixels.shape[1:]
    y1, x1 = whole(np.floor(y)), whole(np.floor(x))
    has_four = (y1 >= 0) & (y1 + 1 < height) & (x1 >= 0) & (x1 + 1 < width)
    ys, xs = np.clip(y1, 0, height - 1), np.clip(x1, 0, width - 1)
    dy, dx = y - y1.astype(y.dtype), x - x1.astype(x.dtype)
    y2, x2 = np.minimum(ys + 1, height - 1), np.minimum(xs + 1, width - 1)
    values = _between(pixels, ys, y2, dy, xs, x2, dx)
    return np.where(has_four, values, take_inside(pixels, y1, x1))


def _crop(call: Call) -> None:
    source, target = pair(call, "rotate")
    x, y = call.long(3), call.long(4)
    height, width = target.sizes[-2:]
    if x < 0 or y < 0 or x + width > source.sizes[-1] or y + height > source.sizes[-2]:
        raise TorchError("image.crop: crop goes outside bounds of src")
    if target.ndim == 3:
        check_depths("crop", source, target)
    # Torch7: of several planes that go to one, the last one stays; doubles lose precision.
    put(target, planes(source)[-len(planes(target)) :, y : y + height, x : x + width].astype(FLOAT))


def _translate(call: Call) -> None:
    source, target = pair(call, "rotate")
    x, y = call.long(3), call.long(4)
    check_depths("translate", source, target)
    rows = _overlap(y, source.sizes[-2], target.sizes[-2])
    columns = _overlap(x, source.sizes[-1], target.sizes[-1])
    if rows and columns:
        moved = planes(source)[:, rows[0], columns[0]].copy()
        planes(target)[:, rows[1], columns[1]] = moved


def _overlap(shift: int, old: int, new: int) -> tuple[slice, slice] | None:
    """Return the positions that stay inside when they are moved: before and after."""
    first, last = max(shift, 0), min(old + shift, new)
    return (slice(first - shift, last - shift), slice(first, last)) if first < last else None


def _mirror(call: Call, name: str, dimension: int) -> None:
    target, source = call.tensor(1), call.tensor(2)
    if target.ndim != 3:
        raise TorchError(f"image.{name}: expected 3 dimensions for src and dst")
    _check_sizes(name, source, target)
    target.array[...] = np.flip(source.array, dimension).copy()


def _check_sizes(name: str, source: Tensor, target: Tensor) -> None:
    if source.sizes != target.sizes:
        raise TorchError(f"image.{name}: src and dst are not the same size")


def _flip(call: Call) -> None:
    target, source, dimension = call.tensor(1), call.tensor(2), call.long(3)
    if target.ndim != 5 or source.ndim != 5:
        raise TorchError("image.flip: expected 5 dimensions for src and dst")
    if not 1 <= dimension <= 5:
        raise TorchError("image.flip: flip_dim out of bounds")
    if target.array.ctypes.data == source.array.ctypes.data:
        raise TorchError("image.flip: in-place flip not supported")
    _check_sizes("flip", source, target)
    target.array[...] = np.flip(source.array, dimension - 1).copy()


FUNCTIONS = {
    "rotate": _rotate,
    "rotateBilinear": _rotate_bilinear,
    "polar": partial(_polar, bilinear=False, log=False),
    "polarBilinear": partial(_polar, bilinear=True, log=False),
    "logPolar": partial(_polar, bilinear=False, log=True),
    "logPolarBilinear": partial(_polar, bilinear=True, log=True),
    "cropNoScale": _crop,
    "translate": _translate,
    "hflip": lambda call: _mirror(call, "hflip", 2),
    "vflip": lambda call: _mirror(call, "vflip", 1),
    "flip": _flip,
}
