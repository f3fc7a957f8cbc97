"""Scales and warps images: by nearest pixels, linearly, by cubic polynomials, by Lanczos' window.

An image is scaled to the size of another one: its rows first, then its columns. Between the two
steps numbers are rounded to elements, as the original does. An image is warped by a flow field,
which says for each pixel of the result where it is in the source.

x, y: positions in pixels from the left and from the top, from 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import Array, DType, cast_scalar
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.packages.image.planes import (
    FLOAT,
    check_depths,
    pair,
    planes,
    put,
    take,
    take_inside,
    to_elements,
    working,
)

#: scale(pixels, length, dtype) returns elements whose second dimension has a new length.
_Scale = Callable[[Array, int, DType], Array]


def _scale_nearest(call: Call) -> None:
    """Scale an image: each pixel is that of the source at, or before, its position."""
    source, target = pair(call, "image.scale")
    check_depths("scale", source, target)
    pixels = planes(source)
    y, x = (
        np.minimum((np.arange(new, dtype=FLOAT) * (FLOAT(old) / FLOAT(new))).astype(int), old - 1)
        for old, new in zip(source.sizes[-2:], target.sizes[-2:], strict=True)
    )
    put(target, pixels.take(y, 1).take(x, 2).astype(FLOAT))


def _scale_rows_and_columns(call: Call, scale: _Scale) -> None:
    """Scale an image along its rows, then along its columns."""
    source, target = pair(call, "rotate")
    check_depths("scale", source, target)
    height, width = target.sizes[-2:]
    # Each step scales the second dimension, so that pixels that are read together lie together.
    columns = np.ascontiguousarray(planes(source).swapaxes(1, 2))
    rows = np.ascontiguousarray(scale(columns, width, call.dtype).swapaxes(1, 2))
    planes(target)[...] = scale(rows, height, call.dtype)


def _linear(x: Array, length: int, dtype: DType) -> Array:
    """Scale by linear interpolation to a greater length, by means to a smaller one."""
    if length == x.shape[1]:
        return x
    return _interpolated(x, length, dtype) if length > x.shape[1] else _averaged(x, length, dtype)


def _steps(old: int, new: int) -> tuple[Array, Array]:
    """Return the old pixel before each new one, and the distance from it, a part of a pixel.

    The last new pixel is left out: it is the last old one.
    """
    positions = np.arange(new - 1, dtype=FLOAT) * (FLOAT(old - 1) / FLOAT(max(new - 1, 1)))
    before = positions.astype(int)
    return before, (positions - before.astype(FLOAT))[:, None]


def _with_last(values: Array, x: Array, dtype: DType) -> Array:
    """Return computed values as elements, followed by the last pixel of x."""
    return np.concatenate([to_elements(values, dtype), x[:, -1:]], 1)


def _interpolated(x: Array, length: int, dtype: DType) -> Array:
    """Return values on the lines between neighbouring old pixels."""
    before, part = _steps(x.shape[1], length)
    behind = np.minimum(before + 1, x.shape[1] - 1)
    kind = working(dtype)
    left, right = (FLOAT(1) - part).astype(kind), part.astype(kind)
    return _with_last(left * x.take(before, 1) + right * x.take(behind, 1), x, dtype)


def _averaged(x: Array, length: int, dtype: DType) -> Array:
    """Return the means of the old pixels that each new one covers; outer ones count in part.

    Torch7: adds in single precision, doubles too.
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
    """Return the Catmull-Rom polynomial at x, from 0 (where it is p1) to 1 (where it is p2)."""
    a1 = p2 - p0
    a2 = 2 * p0 - 5 * p1 + 4 * p2 - p3
    a3 = 3 * (p1 - p2) + p3 - p0
    inner = a1 + x * (a2 + x * a3)
    # Torch7: the constant makes the last steps double precision.
    wide = p1 + 0.5 * x.astype(np.float64) * inner
    return np.asarray(wide.astype(p1.dtype))


def _cubic(x: Array, length: int, dtype: DType) -> Array:
    """Scale by cubic polynomials through four old pixels, extended beyond the borders."""
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


_SIMPLE, _BILINEAR, _BICUBIC, _LANCZOS = range(4)
_RADIUS = 3  # of Lanczos' window, in pixels


def _warp(call: Call) -> None:
    """Fill an image from the source's pixels at the positions of a flow field.

    Arguments: destination, source, field; mode; whether the field has distances from each pixel;
    1 if positions outside of the source get the padding, otherwise the nearest pixel; the padding.
    """
    target, source, field = call.tensor(1), call.tensor(2), call.tensor(3)
    mode, with_offset, pad = call.long(4, 0), call.get(5) not in (None, False), call.long(6, 0)
    padding = cast_scalar(call.number(7), call.dtype) if call.get(7) is not None else 0
    pixels = source.array
    if target.ndim != 3 or pixels.ndim != 3 or field.ndim != 3 or field.sizes[0] < 2:
        raise TorchError("image.warp: expected 3 dimensions for src, dst and flow field")
    if target.sizes != (pixels.shape[0], *field.sizes[1:]):
        raise TorchError("image.warp: src, flow field and dst do not fit together")
    y, x = field.array[:2].astype(FLOAT)
    if with_offset:
        y = np.arange(y.shape[0], dtype=FLOAT)[:, None] + y
        x = np.arange(x.shape[1], dtype=FLOAT) + x
    outside, y, x = _clamp(pixels, y, x)
    compute = {_BILINEAR: _sample_bilinear, _LANCZOS: _sample_lanczos}
    if mode == _SIMPLE:
        values = take(pixels, _nearest(y), _nearest(x))
    elif mode == _BICUBIC:
        values = to_elements(_sample_bicubic(pixels, y, x, call.dtype, padding), call.dtype)
    elif mode in compute:
        values = to_elements(compute[mode](pixels, y, x, call.dtype), call.dtype)
    else:
        return
    if pad == 1:
        values = np.where(outside, np.asarray(padding, values.dtype), values)
    target.array[...] = values


def _clamp(pixels: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
    """Return whether each position is outside of the source, and y and x moved inside."""
    bottom, right = FLOAT(pixels.shape[1] - 1), FLOAT(pixels.shape[2] - 1)
    outside = (y < 0) | (y > bottom) | (x < 0) | (x > right)
    y, x = np.where(y > 0, y, FLOAT(0)), np.where(x > 0, x, FLOAT(0))  # and 0 for a nan
    return outside, np.minimum(y, bottom), np.minimum(x, right)


def _nearest(position: Array) -> Array:
    """Return the pixel nearest to a position."""
    return np.floor(position.astype(np.float64) + 0.5).astype(int)


def _sample_bilinear(pixels: Array, y: Array, x: Array, dtype: DType) -> Array:
    """Return values at positions between four pixels, by linear interpolation."""
    y1, x1 = np.floor(y).astype(int), np.floor(x).astype(int)
    up, left = y - y1.astype(FLOAT), x - x1.astype(FLOAT)
    down, right = (y1 + 1).astype(FLOAT) - y, (x1 + 1).astype(FLOAT) - x
    y2, x2 = np.minimum(y1 + 1, pixels.shape[1] - 1), np.minimum(x1 + 1, pixels.shape[2] - 1)
    kind = working(dtype)
    total = take(pixels, y1, x1) * (right * down).astype(kind)
    total = total + take(pixels, y1, x2) * (left * down).astype(kind)
    total = total + take(pixels, y2, x1) * (right * up).astype(kind)
    return np.asarray(total + take(pixels, y2, x2) * (left * up).astype(kind))


def _sample_bicubic(pixels: Array, y: Array, x: Array, dtype: DType, padding: float) -> Array:
    """Return values at positions between sixteen pixels, by cubic polynomials.

    Torch7: pixels beyond the borders count as the padding, also where positions are clamped.
    """
    kind = working(dtype)
    values = pixels.astype(kind)
    y1, x1 = np.floor(y).astype(int), np.floor(x).astype(int)
    dy, dx = y.astype(kind) - y1.astype(kind), x.astype(kind) - x1.astype(kind)

    def across(row: Array) -> Array:
        p0, p1, p2, p3 = (take_inside(values, row, x1 + j, padding) for j in range(-1, 3))
        return cubic(p0, p1, p2, p3, dx)

    p0, p1, p2, p3 = (across(y1 + i) for i in range(-1, 3))
    return cubic(p0, p1, p2, p3, dy)


def _sample_lanczos(pixels: Array, y: Array, x: Array, dtype: DType) -> Array:
    """Return means of the 36 pixels around each position, weighted by Lanczos' window."""
    height, width = pixels.shape[1:]
    y1, x1 = np.floor(y).astype(int), np.floor(x).astype(int)
    around = range(1 - _RADIUS, _RADIUS + 1)
    of_rows = [_window(y - (y1 + i).astype(FLOAT)) for i in around]
    of_columns = [_window(x - (x1 + j).astype(FLOAT)) for j in around]
    rows = {i: np.clip(y1 + i, 0, height - 1) for i in around}
    kind = working(dtype)
    result = np.zeros((len(pixels), *y.shape), kind)
    total = np.zeros(y.shape, FLOAT)
    for j, column_weight in zip(around, of_columns, strict=True):
        column = np.clip(x1 + j, 0, width - 1)
        for i, row_weight in zip(around, of_rows, strict=True):
            weight = column_weight * row_weight
            total += weight
            result += take(pixels, rows[i], column) * weight.astype(kind)
    return np.asarray(result / total.astype(kind))


def _window(distance: Array) -> Array:
    """Return Lanczos' window: the weights of pixels at a distance."""
    d = np.abs(distance)
    arc = (FLOAT(math.pi) * d).astype(np.float64)
    outer = (FLOAT(math.pi) * d / FLOAT(_RADIUS)).astype(np.float64)
    weight = (_RADIUS * np.sin(arc) * np.sin(outer)) / (FLOAT(math.pi * math.pi) * d * d)
    weight = np.where(d > _RADIUS, 0, weight)
    return np.where(d < FLOAT(0.000001), 1, weight).astype(FLOAT)


FUNCTIONS = {
    "scaleSimple": _scale_nearest,
    "scaleBilinear": lambda call: _scale_rows_and_columns(call, _linear),
    "scaleBicubic": lambda call: _scale_rows_and_columns(call, _cubic),
    "warp": _warp,
}
