"""Scaling an image to the size of another: by nearest pixels, linearly, by cubic polynomials.

The last two work on rows, then on columns; what is between is rounded to elements.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import Array, DType
from th_shell.runtime.packages.image.planes import (
    FLOAT,
    check_depths,
    pair,
    planes,
    put,
    to_elements,
    working,
)

#: scale(pixels, length, dtype): elements whose second dimension is scaled to a length.
_Scale = Callable[[Array, int, DType], Array]


def _simple(call: Call) -> None:
    source, target = pair(call, "image.scale")
    check_depths("scale", source, target)
    pixels = planes(source)
    y, x = (
        np.minimum((np.arange(new, dtype=FLOAT) * (FLOAT(old) / FLOAT(new))).astype(int), old - 1)
        for old, new in zip(source.sizes[-2:], target.sizes[-2:], strict=True)
    )
    put(target, pixels.take(y, 1).take(x, 2).astype(FLOAT))


def _both_ways(call: Call, scale: _Scale) -> None:
    source, target = pair(call, "rotate")
    check_depths("scale", source, target)
    height, width = target.sizes[-2:]
    # Pixels that are fetched together lie together: numpy is quicker with them.
    columns = np.ascontiguousarray(planes(source).swapaxes(1, 2))
    rows = np.ascontiguousarray(scale(columns, width, call.dtype).swapaxes(1, 2))
    planes(target)[...] = scale(rows, height, call.dtype)


def _bilinear(call: Call) -> None:
    _both_ways(call, _linear)


def _bicubic(call: Call) -> None:
    _both_ways(call, _cubic)


def _linear(x: Array, length: int, dtype: DType) -> Array:
    if length == x.shape[1]:
        return x
    return _interpolated(x, length, dtype) if length > x.shape[1] else _averaged(x, length, dtype)


def _steps(old: int, new: int) -> tuple[Array, Array]:
    """Of all new positions but the last: the old one before each, and how far it is behind that."""
    positions = np.arange(new - 1, dtype=FLOAT) * (FLOAT(old - 1) / FLOAT(max(new - 1, 1)))
    before = positions.astype(int)
    return before, (positions - before.astype(FLOAT))[:, None]


def _with_last(values: Array, x: Array, dtype: DType) -> Array:
    return np.concatenate([to_elements(values, dtype), x[:, -1:]], 1)


def _interpolated(x: Array, length: int, dtype: DType) -> Array:
    before, part = _steps(x.shape[1], length)
    behind = np.minimum(before + 1, x.shape[1] - 1)
    kind = working(dtype)
    left, right = (FLOAT(1) - part).astype(kind), part.astype(kind)
    return _with_last(left * x.take(before, 1) + right * x.take(behind, 1), x, dtype)


def _averaged(x: Array, length: int, dtype: DType) -> Array:
    """Each new pixel is the mean of the old ones that it covers; of the outer ones a part counts.

    Torch7: adds up in single precision, also doubles.
    """
    old = x.shape[1]
    ends = np.arange(length + 1, dtype=FLOAT) * (FLOAT(old) / FLOAT(length))
    whole = ends.astype(int)
    part = (ends - whole.astype(FLOAT))[:, None]
    first, last = whole[:-1], whole[1:]
    count = FLOAT(1) - part[:-1]
    values = x.astype(working(dtype), copy=False)
    total = (count * values.take(first, 1)).astype(FLOAT, copy=False)

    def add(inside: Array, more: Array) -> None:
        total[...] = np.where(inside, total + more, total)

    for step in range(1, int((last - first).max())):
        inside = (first + step < last)[:, None]
        add(inside, values.take(np.minimum(first + step, old - 1), 1))
        count = count + inside.astype(FLOAT)
    remainder = np.where((last < old)[:, None], part[1:], FLOAT(0))
    add((last < old)[:, None], remainder * values.take(np.minimum(last, old - 1), 1))
    return to_elements(total / (count + remainder), dtype)


def cubic(p0: Array, p1: Array, p2: Array, p3: Array, x: Array) -> Array:
    """The cubic polynomial (Catmull-Rom) through p1 at 0 and p2 at 1, at x between them."""
    a1 = p2 - p0
    a2 = 2 * p0 - 5 * p1 + 4 * p2 - p3
    a3 = 3 * (p1 - p2) + p3 - p0
    inner = a1 + x * (a2 + x * a3)
    # Torch7: the constant makes the last steps double precision.
    wide = p1 + 0.5 * x.astype(np.float64) * inner
    return np.asarray(wide.astype(p1.dtype))


def _cubic(x: Array, length: int, dtype: DType) -> Array:
    old = x.shape[1]
    if length == old:
        return x
    if old == 1:
        return np.repeat(x, length, 1)
    before, part = _steps(old, length)
    values = x.astype(working(dtype), copy=False)
    p1, p2 = values.take(before, 1), values.take(np.minimum(before + 1, old - 1), 1)
    has_p0, has_p3 = (before > 0)[:, None], (before + 2 < old)[:, None]
    p0 = np.where(has_p0, values.take(np.maximum(before - 1, 0), 1), 2 * p1 - p2)
    p3 = np.where(has_p3, values.take(np.minimum(before + 2, old - 1), 1), 2 * p2 - p1)
    return _with_last(cubic(p0, p1, p2, p3, part.astype(values.dtype)), x, dtype)


FUNCTIONS = {"scaleSimple": _simple, "scaleBilinear": _bilinear, "scaleBicubic": _bicubic}
