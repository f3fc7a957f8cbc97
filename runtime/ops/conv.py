"""Manual, Math Functions: convolution operations.

Every form is a sum of correlations of planes, and those are computed on flat memory: a window
of the input starts at one position, its rows at fixed distances from there. What is computed
for positions where no window starts (at the end of a row) is left out at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from runtime.dispatch import op
from runtime.dtypes import Array
from runtime.errors import ArgError
from runtime.ops._operands import store
from runtime.tensor import Sizes, Tensor, contiguous_strides
from runtime.threads import PIECE, in_parts

__all__: list[str] = []

#: numpy's correlate is fast up to this many elements.
_NARROW = 11
#: Elements of the matrices that one step over several planes works on: they stay in the cache.
_CACHE = 40_960
#: From this many products on a plane is shared out to threads.
_LARGE = 400_000


def _add_convolution(name: str, dims: int, flip: bool) -> None:
    """Add the three forms of one convolution over ``dims`` dimensions."""

    def plane(r: Tensor, x: Tensor, k: Tensor, area: str) -> None:
        _check_area(f"conv{dims}Dmul", x, k, area, dims)
        store(r, _convolve(x.array[None], k.array[None, None], area, flip)[0])

    def pairs(r: Tensor, x: Tensor, k: Tensor, area: str) -> None:
        if x.sizes[0] != k.sizes[0]:
            raise ArgError(2, "invalid number of input/kernel planes")
        _check_area(f"conv{dims}Dcmul", x, k, area, dims)
        planes = zip(x.array[:, None], k.array[:, None, None], strict=True)
        store(r, np.concatenate([_convolve(one, kernel, area, flip) for one, kernel in planes]))

    def planes(r: Tensor, x: Tensor, k: Tensor, area: str) -> None:
        if x.sizes[0] != k.sizes[1]:
            raise ArgError(2, "invalid number of input planes")
        _check_area(f"conv{dims}Dmv", x, k, area, dims)
        store(r, _convolve(x.array, k.array, area, flip))

    word = "Convolution" if flip else "Cross-correlation"
    plane.__doc__ = f"{word} of one input with one kernel."
    pairs.__doc__ = f"{word} of each plane of the input with its own kernel."
    planes.__doc__ = f"{word} of all planes of the input with the kernels of each output plane."
    forms: tuple[tuple[Callable[..., None], int, int], ...] = (
        (plane, dims, dims),
        (pairs, dims + 1, dims + 1),
        (planes, dims + 1, dims + 2),
    )
    for implementation, input_dims, kernel_dims in forms:
        form = f"[*T*] T~{input_dims}D T~{kernel_dims}D [(V|F)=V]"
        op(name, method=form, function=form)(implementation)


def _check_area(name: str, x: Tensor, k: Tensor, area: str, dims: int) -> None:
    pairs = zip(x.sizes[-dims:], k.sizes[-dims:], strict=True)
    if area != "F" and any(size < kernel for size, kernel in pairs):
        raise ArgError(2, f"{name} : Input image is smaller than kernel")


def _convolve(x: Array, k: Array, area: str, flip: bool) -> Array:
    """The sums over the input planes of their correlations with the kernels.

    x: input planes x spatial dimensions. k: output planes x input planes x spatial dimensions.
    area: 'V' for the positions where the kernel lies inside the input, 'F' for all that it
    touches. flip: whether the kernel is mirrored.

    Of a full area the outside counts as 0, so that a kernel with inf or nan gives nan there.
    """
    spatial, kernel = x.shape[1:], k.shape[2:]
    if flip:
        k = np.flip(k, tuple(range(2, k.ndim)))
    sign = 1 if area == "F" else -1
    shape = tuple(s + sign * (n - 1) for s, n in zip(spatial, kernel, strict=True))
    strides = contiguous_strides(shape if area == "F" else spatial)
    offsets = _row_offsets(kernel, strides)
    flat = _surround(x, shape, offsets[-1] + kernel[-1] - 1) if area == "F" else _flatten(x)
    count = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    weights = k.reshape(*k.shape[:2], len(offsets), kernel[-1])
    sums = _correlate(flat, weights, offsets, count)
    width = sums.itemsize
    steps = (sums.strides[0], *(s * width for s in strides))
    return np.lib.stride_tricks.as_strided(sums, (len(k), *shape), steps)


def _row_offsets(kernel: Sizes, strides: Sizes) -> list[int]:
    """How far each row of the kernel is from its first."""
    rows = product(*(range(n) for n in kernel[:-1]))
    return [sum(i * s for i, s in zip(row, strides, strict=False)) for row in rows]


def _flatten(x: Array) -> Array:
    return np.ascontiguousarray(x).reshape(len(x), -1)


def _surround(x: Array, shape: Sizes, rest: int) -> Array:
    """The flat input with zeros before each row, each slice and at the end.

    The zeros before a row are those after the row before it.
    """
    count = int(np.prod(shape))
    flat = np.zeros((len(x), count + rest), x.dtype)
    inside = tuple(slice(n - s, None) for n, s in zip(shape, x.shape[1:], strict=True))
    flat[:, :count].reshape(len(x), *shape)[(slice(None), *inside)] = x
    return flat


def _correlate(x: Array, w: Array, offsets: Sequence[int], count: int) -> Array:
    """out[o, p] = sum over i, r, j of w[o, i, r, j] * x[i, p + offsets[r] + j], p < count."""
    out = np.zeros((len(w), count), x.dtype)
    if x.dtype.kind == "f" and (w.shape[0] * w.shape[1] > 1 or w.shape[3] > _NARROW):
        _add_products(out, x, w, offsets)
    else:
        for sums, kernels in zip(out, w, strict=True):
            for plane, kernel in zip(x, kernels, strict=True):
                _add_rows(sums, plane, kernel, offsets)
    return out


def _add_rows(out: Array, x: Array, w: Array, offsets: Sequence[int]) -> None:
    """One plane, a row of the kernel at a time."""
    width = w.shape[1]

    def part(at: slice) -> None:
        for row, offset in zip(w, offsets, strict=True):
            out[at] += np.correlate(x[at.start + offset : at.stop + offset + width - 1], row)

    in_parts(part, len(out), piece=PIECE, large=_LARGE // w.size)


def _add_products(out: Array, x: Array, w: Array, offsets: Sequence[int]) -> None:
    """Several planes or wide kernels: matrix products of all rows with windows of one row."""
    out_planes, in_planes, rows, width = w.shape
    matrix = w.transpose(0, 2, 1, 3).reshape(out_planes * rows, in_planes * width)
    count = out.shape[1]
    total = count + offsets[-1]
    step = max(_CACHE // sum(matrix.shape), 128)
    for start in range(0, total, step):
        stop = min(start + step, total)
        windows = np.empty((in_planes, width, stop - start), x.dtype)
        for j in range(width):
            windows[:, j] = x[:, start + j : stop + j]
        sums = (matrix @ windows.reshape(-1, stop - start)).reshape(out_planes, rows, -1)
        for row, offset in enumerate(offsets):
            first, last = max(start, offset), min(stop, count + offset)
            if first < last:
                of_row = sums[:, row, first - start : last - start]
                out[:, first - offset : last - offset] += of_row


_add_convolution("conv2", 2, flip=True)
_add_convolution("xcorr2", 2, flip=False)
_add_convolution("conv3", 3, flip=True)
_add_convolution("xcorr3", 3, flip=False)
