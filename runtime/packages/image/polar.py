"""Images in polar coordinates: a row of the result for each direction, a column for each radius."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from runtime.calls.arguments import Call
from runtime.core.dtypes import Array
from runtime.core.tensor import Tensor
from runtime.packages.image.planes import (
    FLOAT,
    check_depths,
    pair,
    planes,
    put,
    take_inside,
    whole,
    working,
)
from runtime.packages.image.rotation import between


def _positions(source: Tensor, target: Tensor, full: bool, log: bool) -> tuple[Array, Array]:
    """The row and column in the source of each pixel of the target, in double precision.

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
    """Values between four pixels; at the borders the pixel itself, and 0 outside."""
    height, width = pixels.shape[1:]
    y1, x1 = whole(np.floor(y)), whole(np.floor(x))
    has_four = (y1 >= 0) & (y1 + 1 < height) & (x1 >= 0) & (x1 + 1 < width)
    ys, xs = np.clip(y1, 0, height - 1), np.clip(x1, 0, width - 1)
    dy, dx = y - y1.astype(y.dtype), x - x1.astype(x.dtype)
    y2, x2 = np.minimum(ys + 1, height - 1), np.minimum(xs + 1, width - 1)
    values = between(pixels, ys, y2, dy, xs, x2, dx)
    return np.where(has_four, values, take_inside(pixels, y1, x1))


FUNCTIONS = {
    "polar": partial(_polar, bilinear=False, log=False),
    "polarBilinear": partial(_polar, bilinear=True, log=False),
    "logPolar": partial(_polar, bilinear=False, log=True),
    "logPolarBilinear": partial(_polar, bilinear=True, log=True),
}
