"""Manual, Math Functions: convolution operations.

Every form is a sum of correlations of planes with kernels. A correlation is computed on a
plane's elements as one contiguous vector: the window that the kernel is multiplied with starts
at some position, and each of the window's rows at a fixed distance from it. The values for
positions at which no window fits into its row are computed, too, and dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from th_shell.runtime.calls.table import op
from th_shell.runtime.compute import thread_pool
from th_shell.runtime.compute.blas_threads import check_room
from th_shell.runtime.compute.c_functions import blas
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.memory import address_of
from th_shell.runtime.core.tensor import Sizes, Tensor, contiguous_strides
from th_shell.runtime.ops._operands import store

#: The number of floating-point weights up to which numpy's correlate is fast.
_CORRELATE_WIDTH = 11
#: Output elements of one plane that are computed at a time: they fit into the processor's cache.
_BLOCK = 10_000
#: Elements of the matrices that one step of `_multiply` works on: they fit into the cache, too.
_MATRICES = 40_960
#: The number of multiplications for one output plane from which on BLAS is faster.
_LARGE = 400_000
#: How many results `_row_distances` and `_window_positions` keep.
_CACHED_WINDOWS = 16

#: A plane of the input, the distance from the start of a window to neighbouring elements of it,
#: and their weights.
_Piece = tuple[Array, int, Array]


def _add_convolution(name: str, dims: int, flip: bool) -> None:
    """Add the three forms of one convolution over the last ``dims`` dimensions.

    flip: whether the kernel is mirrored (a convolution) or not (a cross-correlation).
    """

    def single(r: Tensor, x: Tensor, k: Tensor, area: str) -> None:
        sizes = _output_sizes(f"conv{dims}Dmul", x, k, area, dims)
        source, kernels = x.array[None], mirrored(k.array)[None, None]
        _fill(r, sizes, x, k, lambda out: _convolve(out[None], source, kernels, area == "F"))

    def paired(r: Tensor, x: Tensor, k: Tensor, area: str) -> None:
        if x.sizes[0] != k.sizes[0]:
            raise ArgError(2, "invalid number of input/kernel planes")
        sizes = (k.sizes[0], *_output_sizes(f"conv{dims}Dcmul", x, k, area, dims))
        kernels = mirrored(k.array)[:, None]
        _fill(r, sizes, x, k, lambda out: _convolve(out, x.array, kernels, area == "F", True))

    def summed(r: Tensor, x: Tensor, k: Tensor, area: str) -> None:
        if x.sizes[0] != k.sizes[1]:
            raise ArgError(2, "invalid number of input planes")
        sizes = (k.sizes[0], *_output_sizes(f"conv{dims}Dmv", x, k, area, dims))
        kernels = mirrored(k.array)
        _fill(r, sizes, x, k, lambda out: _convolve(out, x.array, kernels, area == "F"))

    mirror: Any = (..., *[slice(None, None, -1 if flip else 1)] * dims)

    def mirrored(kernels: Array) -> Array:
        return kernels[mirror]  # type: ignore[no-any-return]

    word = "Convolution" if flip else "Cross-correlation"
    single.__doc__ = f"{word} of one plane with one kernel."
    paired.__doc__ = f"{word} of each plane with its own kernel."
    summed.__doc__ = f"{word} of all planes with the kernels of each output plane, summed up."
    forms: tuple[tuple[Callable[..., None], int, int], ...] = (
        (single, dims, dims),
        (paired, dims + 1, dims + 1),
        (summed, dims + 1, dims + 2),
    )
    for implementation, input_dims, kernel_dims in forms:
        form = f"[*T*] T~{input_dims}D T~{kernel_dims}D [(V|F)=V]"
        op(name, method=form, function=form)(implementation)


def _output_sizes(name: str, x: Tensor, k: Tensor, area: str, dims: int) -> Sizes:
    pairs = list(zip(x.sizes[-dims:], k.sizes[-dims:], strict=True))
    if area == "F":
        return tuple(size + kernel - 1 for size, kernel in pairs)
    if any(size < kernel for size, kernel in pairs):
        raise ArgError(2, f"{name} : Input image is smaller than kernel")
    return tuple(size - kernel + 1 for size, kernel in pairs)


def _fill(r: Tensor, sizes: Sizes, x: Tensor, k: Tensor, compute: Callable[[Array], None]) -> None:
    """Resize r and compute its elements; in memory of their own if a source shares r's memory.

    Torch7: gives wrong values if a source shares r's memory. It writes the elements one behind the
    other, whatever r's strides are; but for those of planes that are summed up in two dimensions,
    it adds them to what is there, once r is 0. Where the storage has no room for that,
    they go to r's own places.
    """
    memory = None if r.storage is None else r.storage.data
    if memory is not None and any(np.may_share_memory(memory, t.array) for t in (x, k)):
        values = np.empty(sizes, memory.dtype)
        compute(values)
        store(r, values)
        return
    r.resize(sizes)
    array = r.array
    block = array if r.storage is None else r.storage.data[r.offset : r.offset + array.size]
    if array.flags.c_contiguous or block.size < array.size:
        compute(array)
        return
    values = np.empty(sizes, array.dtype)
    compute(values)
    if (x.ndim, k.ndim) == (3, 4):
        block.fill(0)
    else:
        array.fill(0)
    block += values.reshape(-1)


def _convolve(out: Array, x: Array, k: Array, full: bool, paired: bool = False) -> None:
    """out[o] = the sum over i of the correlation of x[i] with k[o, i].

    full: for all positions where input and kernel overlap, not only where the kernel lies inside
    of the input. Elements outside count as 0, so that a weight of inf or nan gives nan there.
    paired: out[o] = the correlation of x[o] with k[o, 0].
    """
    if x.dtype.kind != "f" and _is_exact(x, k):
        values = np.empty(out.shape)
        _convolve(values, x.astype(np.float64), k.astype(np.float64), full, paired)
        out[...] = values.astype(np.int64)
        return
    kernel, shape = k.shape[2:], out.shape[1:]
    strides = contiguous_strides(shape if full else x.shape[1:])
    distances = _row_distances(kernel, strides)
    end = distances[-1] + kernel[-1] - 1
    flat = _surround(x, shape, end) if full else np.ascontiguousarray(x).reshape(len(x), -1)
    rows = k.reshape(*k.shape[:2], -1, kernel[-1])
    if paired or x.dtype.kind != "f" or len(x) * len(k) == 1:
        _correlate(out, flat, rows, paired, distances, strides)
    else:
        _multiply(out, flat, rows, distances, strides)


def _is_exact(x: Array, k: Array) -> bool:
    """Tell whether every sum of products of these whole numbers is exact in double precision."""
    largest = [max(abs(int(values.min())), abs(int(values.max()))) for values in (x, k)]
    return largest[0] * largest[1] * int(k[0].size) < 1 << 53


@lru_cache(_CACHED_WINDOWS)
def _row_distances(kernel: Sizes, strides: Sizes) -> tuple[int, ...]:
    """The distance of each row of a window from its first row, in elements."""
    rows = product(*(range(n) for n in kernel[:-1]))
    return tuple([sum(i * s for i, s in zip(row, strides, strict=False)) for row in rows])


def _surround(x: Array, shape: Sizes, end: int) -> Array:
    """The planes of the input as vectors, with zeros before each row and slice and at the end.

    shape: of a plane with these zeros. end: the zeros at the end. The zeros before a row are also
    those behind the row before it.
    """
    flat = np.zeros((len(x), int(np.prod(shape)) + end), x.dtype)
    inside = tuple(slice(n - s, None) for n, s in zip(shape, x.shape[1:], strict=True))
    flat[:, : flat.shape[1] - end].reshape(len(x), *shape)[(slice(None), *inside)] = x
    return flat


def _pieces(flat: Array, rows: Array, distances: tuple[int, ...], step: int) -> list[_Piece]:
    """The kernels of one output plane (planes x rows x width), in pieces of ``step`` weights."""
    return [
        (plane, distance + at, row[at : at + step])
        for plane, kernel in zip(flat, rows, strict=True)
        for row, distance in zip(kernel, distances, strict=True)
        for at in range(0, row.size, step)
    ]


def _correlate(
    out: Array, flat: Array, rows: Array, paired: bool, distances: tuple[int, ...], strides: Sizes
) -> None:
    """out[o] = the sum over i of the correlation of flat[i] (paired: flat[o]) with rows[o, i]."""
    # Decided by the size of one plane, so that a plane has the same bits whatever the others are.
    address = _axpy(rows, out[0].size)
    if address is not None:
        _correlate_large(address, out, flat, rows, paired, distances, strides)
        return
    step = _CORRELATE_WIDTH if rows.dtype.kind == "f" else rows.shape[-1]
    stride, width = strides[-2], out.shape[-1]
    height = max(_BLOCK // stride, 1)
    for o, planes in enumerate(out):
        pieces = _pieces(flat[o : o + 1] if paired else flat, rows[o], distances, step)
        for at in np.ndindex(*planes.shape[:-2]):
            for y in range(0, planes.shape[-2], height):
                block = planes[at][y : y + height]
                start = y * stride + sum(i * s for i, s in zip(at, strides, strict=False))
                sums = _sum_correlations(pieces, start, (len(block) - 1) * stride + width)
                steps = (stride * sums.itemsize, sums.itemsize)
                block[...] = np.ndarray(block.shape, sums.dtype, sums, 0, steps)


def _axpy(rows: Array, size: int) -> int | None:
    """The address of BLAS's axpy; None where it is not faster for output planes of this size."""
    if rows.dtype.kind != "f" or rows[0].size * size < _LARGE:
        return None
    return blas("axpy", rows.itemsize)


@lru_cache(_CACHED_WINDOWS)
def _window_positions(distances: tuple[int, ...], width: int, planes: int, size: int) -> Array:
    """The distances of a window's elements from its start, in so many planes of ``size``."""
    within: Array = np.add.outer(np.asarray(distances), np.arange(width))
    positions: Array = np.add.outer(np.arange(planes, dtype=np.int64) * size, within)
    return positions


def _correlate_large(
    axpy: int,
    out: Array,
    flat: Array,
    rows: Array,
    paired: bool,
    distances: tuple[int, ...],
    strides: Sizes,
) -> None:
    """Correlate large planes: each weight is multiplied with the whole input, by BLAS's axpy."""
    planes, _, width = rows.shape[1:]
    at = _window_positions(distances, width, 1 if paired else planes, flat.shape[1])
    rows = np.ascontiguousarray(rows)
    result = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    size, columns = out.itemsize, out.shape[-1]
    for o, weights in enumerate(rows):
        source = address_of(flat[o if paired else 0])
        for plane in np.ndindex(*out.shape[1:-2]):
            start = sum(i * s for i, s in zip(plane, strides, strict=False)) * size
            block = result[(o, *plane)]
            thread_pool.run(
                "correlate",
                len(block),
                run=axpy,
                size=size,
                sums=address_of(block),
                x=source + start,
                weights=address_of(weights),
                at=address_of(at),
                count=at.size,
                width=columns,
                jump=strides[-2],
            )
    if result is not out:
        out[...] = result


def _sum_correlations(pieces: Sequence[_Piece], start: int, count: int) -> Array:
    """The sums for ``count`` windows, each of which starts one element after the one before."""
    sums: Array | None = None
    for plane, distance, weights in pieces:
        first = start + distance
        values = np.correlate(plane[first : first + count + len(weights) - 1], weights)
        sums = values if sums is None else np.add(sums, values, out=sums)
    assert sums is not None
    return sums


def _multiply(
    out: Array, flat: Array, rows: Array, distances: tuple[int, ...], strides: Sizes
) -> None:
    """out[o] = the sum over i of the correlation of flat[i] with rows[o, i].

    A matrix product multiplies all rows of all kernels with windows of one row; the products that
    belong to one kernel are then added up over its rows.
    """
    out_planes, planes, height, width = rows.shape
    check_room(1)
    matrix = rows.transpose(0, 2, 1, 3).reshape(out_planes * height, planes * width)
    count = 1 + sum((n - 1) * s for n, s in zip(out.shape[1:], strides, strict=True))
    sums = np.zeros((out_planes, count), out.dtype)
    step = max(_MATRICES // sum(matrix.shape), 128)
    for start in range(0, count + distances[-1], step):
        stop = min(start + step, count + distances[-1])
        windows = np.empty((planes, width, stop - start), flat.dtype)
        for j in range(width):
            windows[:, j] = flat[:, start + j : stop + j]
        products = (matrix @ windows.reshape(-1, stop - start)).reshape(out_planes, height, -1)
        for row, distance in enumerate(distances):
            first, last = max(start, distance), min(stop, count + distance)
            if first < last:
                of_row = products[:, row, first - start : last - start]
                sums[:, first - distance : last - distance] += of_row
    steps = tuple(s * sums.itemsize for s in (count, *strides))
    out[...] = np.ndarray(out.shape, sums.dtype, sums, 0, steps)


_add_convolution("conv2", 2, flip=True)
_add_convolution("xcorr2", 2, flip=False)
_add_convolution("conv3", 3, flip=True)
_add_convolution("xcorr3", 3, flip=False)
