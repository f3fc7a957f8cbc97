"""Warping: for each pixel of the result, a flow field says where it is in the source."""

from __future__ import annotations

import math

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import Array, DType, cast_scalar
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.packages.image.planes import FLOAT, take, take_inside, to_elements, working
from th_shell.runtime.packages.image.scaling import cubic

_SIMPLE, _BILINEAR, _BICUBIC, _LANCZOS = range(4)
_RADIUS = 3  # pixels around a position that Lanczos' window has


def _warp(call: Call) -> None:
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
    compute = {_BILINEAR: _bilinear, _LANCZOS: _lanczos}
    if mode == _SIMPLE:
        values = take(pixels, _nearest(y), _nearest(x))
    elif mode == _BICUBIC:
        values = to_elements(_bicubic(pixels, y, x, call.dtype, padding), call.dtype)
    elif mode in compute:
        values = to_elements(compute[mode](pixels, y, x, call.dtype), call.dtype)
    else:
        return
    if pad == 1:
        values = np.where(outside, np.asarray(padding, values.dtype), values)
    target.array[...] = values


def _clamp(pixels: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
    """Return which positions are outside of the source, and all of them moved inside."""
    bottom, right = FLOAT(pixels.shape[1] - 1), FLOAT(pixels.shape[2] - 1)
    outside = (y < 0) | (y > bottom) | (x < 0) | (x > right)
    y, x = np.where(y > 0, y, FLOAT(0)), np.where(x > 0, x, FLOAT(0))  # of a nan too
    return outside, np.minimum(y, bottom), np.minimum(x, right)


def _nearest(position: Array) -> Array:
    return np.floor(position.astype(np.float64) + 0.5).astype(int)


def _bilinear(pixels: Array, y: Array, x: Array, dtype: DType) -> Array:
    y1, x1 = np.floor(y).astype(int), np.floor(x).astype(int)
    up, left = y - y1.astype(FLOAT), x - x1.astype(FLOAT)
    down, right = (y1 + 1).astype(FLOAT) - y, (x1 + 1).astype(FLOAT) - x
    y2, x2 = np.minimum(y1 + 1, pixels.shape[1] - 1), np.minimum(x1 + 1, pixels.shape[2] - 1)
    kind = working(dtype)
    total = take(pixels, y1, x1) * (right * down).astype(kind)
    total = total + take(pixels, y1, x2) * (left * down).astype(kind)
    total = total + take(pixels, y2, x1) * (right * up).astype(kind)
    return np.asarray(total + take(pixels, y2, x2) * (left * up).astype(kind))


def _bicubic(pixels: Array, y: Array, x: Array, dtype: DType, padding: float) -> Array:
    """Torch7: pixels beyond the borders count as the padding, also where positions are clamped."""
    kind = working(dtype)
    values = pixels.astype(kind)
    y1, x1 = np.floor(y).astype(int), np.floor(x).astype(int)
    dy, dx = y.astype(kind) - y1.astype(kind), x.astype(kind) - x1.astype(kind)

    def across(row: Array) -> Array:
        p0, p1, p2, p3 = (take_inside(values, row, x1 + j, padding) for j in range(-1, 3))
        return cubic(p0, p1, p2, p3, dx)

    p0, p1, p2, p3 = (across(y1 + i) for i in range(-1, 3))
    return cubic(p0, p1, p2, p3, dy)


def _lanczos(pixels: Array, y: Array, x: Array, dtype: DType) -> Array:
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
    """The weights of pixels at a distance: Lanczos' window."""
    d = np.abs(distance)
    arc = (FLOAT(math.pi) * d).astype(np.float64)
    outer = (FLOAT(math.pi) * d / FLOAT(_RADIUS)).astype(np.float64)
    weight = (_RADIUS * np.sin(arc) * np.sin(outer)) / (FLOAT(math.pi * math.pi) * d * d)
    weight = np.where(d > _RADIUS, 0, weight)
    return np.where(d < FLOAT(0.000001), 1, weight).astype(FLOAT)


FUNCTIONS = {"warp": _warp}
