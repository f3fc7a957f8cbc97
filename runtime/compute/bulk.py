"""Operations on large arrays that are faster here than in numpy.

They are jobs for the threads of the engine: numpy's own inner loops, functions of BLAS and LAPACK,
copies and gathering. Arrays that do not suit go through numpy.

`pieces` divides large arrays into parts that stay in the processor's cache, or blocks of bounded
memory.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from th_shell.runtime.compute import thread_pool
from th_shell.runtime.compute.c_functions import blas, inner_loop, lapack
from th_shell.runtime.compute.self_check import call_fortran
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.memory import address_of

_OPERANDS = 4  # of a loop
_SHORT = 16  # elements of a row; to call a loop takes as long as to compute more of them
_OUT_OF_RANGE = "position out of range"  # what a job in lua/parallel/jobs.lua says


def compute_large(ufunc: np.ufunc, out: Array, *inputs: Array | float) -> None:
    """out = ufunc(*inputs); by several threads where that is possible.

    An input may be a number, where an array has another one's type.
    """
    dtype = next(x.dtype for x in inputs if isinstance(x, np.ndarray))
    values = [x if isinstance(x, np.ndarray) else np.array(x, dtype) for x in inputs]
    whole = dtype.kind != "f" and any(x.ndim == 0 for x in values)  # which numbers may not be
    suits = out.size >= LARGE and not whole and all(x.dtype == dtype for x in values)
    if not (suits and run_loop(ufunc, out, values)):
        ufunc(*inputs, out=out)


def run_loop(ufunc: np.ufunc, out: Array, values: Sequence[Array]) -> bool:
    """out = ufunc(*values) by several threads; whether that was possible.

    Values are broadcast to out's shape. Types are not converted.
    """
    operands = [*values, out]
    loop = inner_loop(ufunc, f"{''.join([x.dtype.char for x in values])}->{out.dtype.char}")
    if loop is None or len(operands) > _OPERANDS or not out.size:
        return False
    unused = [0] * (_OPERANDS - len(operands))
    at = [*map(address_of, operands), *unused]
    shape, run = out.shape, out.ndim == 1
    if all([x.size == 1 or (x.shape == shape and (run or x.flags.c_contiguous)) for x in operands]):
        steps = [0 if x.size == 1 else x.strides[0] if run else x.itemsize for x in operands]
        thread_pool.run_quickly(b"loop", out.size, *loop, len(operands), 0, *at, *steps, *unused)
        return True
    grid = _grid(operands)
    if grid is None:
        return False
    (size, blocks), (rows, row), (width, steps) = grid
    steps = [*steps, *unused, *row, *unused, *blocks, *unused]
    thread_pool.run_quickly(b"rows", size, *loop, rows, width, *at, *steps)
    return True


def add_rows(parts: Array, out: Array) -> None:
    """out += the sums of the rows of each part, one row after the other.

    parts: contiguous, of three dimensions; out: contiguous, of its type, a row for each part.
    """
    count, rows, width = parts.shape
    loop = inner_loop(np.add, f"{out.dtype.char * 2}->{out.dtype.char}")
    if loop is None:
        np.add(out, np.add.reduce(parts, 1), out)
        return
    size, at, of = out.itemsize, address_of(parts), address_of(out)
    row, part = size * width, size * width * rows
    steps = (size, size, size, 0, 0, row, 0, 0, row, part, row, 0)
    thread_pool.run_quickly(b"rows", count, *loop, rows, width, of, at, of, 0, *steps)


def _grid(arrays: list[Array]) -> list[tuple[int, list[int]]] | None:
    """Three dimensions of arrays that are broadcast to the last one's shape: sizes and strides.

    Neighbours are made one where that is possible. None for more of them, for short rows, and where
    the last array's elements are no neighbours: numpy takes them in another order.
    """
    shape = arrays[-1].shape
    dims: list[tuple[int, list[int]]] = []
    for d, size in enumerate(shape, -len(shape)):
        steps = [x.strides[d] if -d <= x.ndim and x.shape[d] > 1 else 0 for x in arrays]
        if dims and dims[-1][1] == [size * step for step in steps]:
            size *= dims.pop()[0]
        if size > 1:
            dims.append((size, steps))
    if not 0 < len(dims) <= 3 or dims[-1][0] < _SHORT or dims[-1][1][-1] != arrays[-1].itemsize:
        return None
    *outer, row = dims
    return [*outer, *[(1, [0] * len(arrays))] * (3 - len(dims)), row]


def copy_into(out: Array, values: Array) -> None:
    """Set an array's elements to others of the same type and shape."""
    if out.nbytes < 8 * LARGE or np.may_share_memory(out, values):
        np.copyto(out, values)
    elif out.flags.c_contiguous and values.flags.c_contiguous:
        thread_pool.run("copy", out.nbytes, out=out, source=values)
    else:
        thread_pool.share(lambda at: np.copyto(out[at], values[at]), len(out), large=0)


def add_multiple(r: Array, factor: float, x: Array) -> bool:
    """r += factor * x, by BLAS; whether that was possible.

    Both are one-dimensional and contiguous, of one floating-point type.
    """
    function = blas("axpy", r.itemsize)
    if function is None:
        return False
    thread_pool.run("axpy", len(r), run=function, size=r.itemsize, r=r, x=x, factor=factor)
    return True


def add_product(out: Array, beta: float, alpha: float, a: Array, b: Array) -> bool:
    """out = beta * out + alpha * a @ b, by BLAS; whether that was possible.

    All are matrices of one floating-point type. out is contiguous, and does not overlap the others.
    A term with the factor 0 is left out, even if it is nan.
    """
    function = blas("gemm", out.itemsize)
    if function is None:
        return False
    (kind_a, a, apart_a), (kind_b, b, apart_b) = map(_stored, (a, b))
    factor, scale = (np.array(number, out.dtype) for number in (alpha, beta))
    (rows, depth), columns = a.shape, b.shape[1]
    if not factor:  # BLAS may multiply it with nans
        depth = 0
    # BLAS stores by columns: for it, these are the transposed matrices.
    kinds, sizes, factors = (kind_b, kind_a), (columns, rows, depth), (b, apart_b, a, apart_a)
    call_fortran(function, *kinds, *sizes, factor, *factors, scale, out, columns)
    return True


def _stored(matrix: Array) -> tuple[bytes, Array, int]:
    """Return a matrix as BLAS reads it: b"T" if transposed, the array, its leading dimension.

    One that lies in neither way in memory is copied. ops/linalg/blas.lua has the same rule.
    """
    (rows, columns), (down, right) = matrix.shape, (s // matrix.itemsize for s in matrix.strides)
    if (right == 1 or columns == 1) and (down >= columns or rows == 1):
        return b"N", matrix, max(down, columns)
    if (down == 1 or rows == 1) and (right >= rows or columns == 1):
        return b"T", matrix, max(right, rows)
    return b"N", np.ascontiguousarray(matrix), columns


def multiply_vector(matrix: Array, vector: Array, out: Array) -> bool:
    """out = matrix @ vector, by BLAS; whether that was possible.

    All are of one floating-point type, and out does not overlap the others.
    """
    flags, size = matrix.flags, matrix.itemsize
    by_rows = flags.c_contiguous
    function = blas("gemv", size)
    if not (by_rows or flags.f_contiguous) or out.strides != (size,) or function is None:
        return False
    rows, columns = matrix.shape
    steps = {"columnStep": 1, "rowStep": columns} if by_rows else {"columnStep": rows, "rowStep": 1}
    arrays: dict[str, Any] = {"r": out, "m": matrix, "x": np.ascontiguousarray(vector)}
    numbers = {"run": function, "size": size, "columns": columns}
    thread_pool.run("gemv", rows, at_a_time=rows, **arrays, **numbers, **steps)
    return True


def invert_factored(factors: Array, order: Array) -> Array | None:
    """The inverse, stored by columns, of a matrix from LU factors; None without LAPACK.

    factors, order: what LAPACK's getrf gives, with rows counted from 0. Each column of the inverse
    is the solution of a system of equations (getrs), which threads solve independently of each
    other. In LAPACK's function for inverses (getri), threads wait for each other very often.
    """
    function = lapack("getrs", factors.itemsize)
    if function is None:
        return None
    n = len(factors)
    inverse = np.empty((n, n), factors.dtype, order="F")
    pivots = order.astype(np.int32) + np.int32(1)
    arrays: dict[str, Any] = {"factors": factors, "pivots": pivots, "inverse": inverse}
    thread_pool.run("invert", n, at_a_time=n, run=function, size=factors.itemsize, n=n, **arrays)
    return inverse


def spread_of_rows(rows: Array, large: bool = True) -> tuple[Array, Array]:
    """The averages of rows, and the sums of the squares of the distances from them, as float64.

    rows: contiguous, of finite float32 or float64 numbers. large: whether to share the work out.
    """
    spreads = np.empty((len(rows), 2))
    numbers = {"size": rows.itemsize, "count": rows.shape[1]}
    thread_pool.run("spread", len(rows), large=large, out=spreads, source=rows, **numbers)
    return spreads[:, 0], spreads[:, 1]


def cumulate_rows(rows: Array, out: Array) -> None:
    """Write the sums so far in rows, taken in float64, to an array of their type and shape.

    Both are contiguous, of finite float32 or float64 numbers.
    """
    numbers = {"size": rows.itemsize, "count": rows.shape[1]}
    thread_pool.run("cumulate", len(rows), out=out, source=rows, **numbers)


def take_rows(rows: Array, at: Array, out: Array) -> None:
    """out = rows[at]; all are contiguous and do not overlap, positions are from 0 and in range."""
    large, size = out.nbytes >= 8 * LARGE, rows[0].nbytes
    thread_pool.run("take", len(at), large=large, out=out, source=rows, at=at, size=size)


def write_steps(out: Array, start: float, step: float, origin: int) -> None:
    """out[i] = start + (i - origin) * step, computed in float64; out is contiguous."""
    size = out.itemsize
    thread_pool.run("steps", len(out), out=out, size=size, start=start, step=step, origin=origin)


def clear(out: Array) -> None:
    """Set all elements of a contiguous array to 0."""
    if out.nbytes < 8 * LARGE:
        out.fill(0)
    else:
        thread_pool.run_quickly(b"clear", out.nbytes, address_of(out))


def choose(flags: Array, where_true: Array, where_false: Array, out: Array) -> None:
    """out = one where a flag is true, else other; all are contiguous and large, of one shape.

    numpy's where takes several times as long if nobody can guess the flags.
    """
    size = out.itemsize
    if (address_of(where_true) - address_of(where_false)) % size:
        np.copyto(out, np.where(flags, where_true, where_false))
        return
    at = map(address_of, (out, flags, where_true, where_false))
    thread_pool.run_quickly(b"choose", out.size, *at, size)


def take_along(
    values: Array, at: Array, dim: int, out: Array | None = None, first: int = 0
) -> Array:
    """The elements of values at positions along one dimension, which are counted from ``first``.

    The other sizes of values and at are the same. numpy's take_along_axis takes several times as
    long. out: the destination, contiguous, which does not overlap values; by default new memory.
    Raises IndexError for a position out of range; part of out is then written.
    """
    if out is None:
        out = np.empty(at.shape, values.dtype)
    if not at.size:
        return out
    values, at = np.ascontiguousarray(values), np.ascontiguousarray(at)
    step = math.prod(values.shape[dim + 1 :])
    block = values.shape[dim] * step
    # The positions of a run are relative to one place in values, or to places side by side.
    run, runs_of_block = (step, at.shape[dim]) if step > 1 else (at.shape[dim], 1)
    try:
        thread_pool.run(
            "gather",
            at.size // run,
            large=at.size >= LARGE,
            out=out,
            source=values,
            at=at,
            size=out.itemsize,
            placeSize=at.itemsize,
            run=run,
            runs=runs_of_block,
            block=block,
            step=step,
            base=first,
            places=values.shape[dim],
        )
    except Exception as error:  # Lua's; its class is the engine's matter
        if _OUT_OF_RANGE in str(error):
            raise IndexError(_OUT_OF_RANGE) from None
        raise
    return out


#: Elements of a piece that is computed in several steps.
PIECE = 16_384


def shared_piece(count: int, threads: int) -> int:
    """Return how many elements threads get at once of a function that calls numpy's several times.

    It waits for Python's lock before each: so that is more than fits into a cache. 0 where one
    thread is to do all, in pieces: it is the only one, or there are few elements.
    """
    return 8 * PIECE if threads > 1 and count >= 64 * PIECE else 0


#: Elements of a part that bounds the memory of what cannot go piece by piece.
_BLOCK = 1 << 20


def flatten(arrays: Sequence[Array | float]) -> list[Array | float] | None:
    """Arrays of one shape as flat views that run through memory together; numbers stay.

    None where they do not lie in memory in the same order without gaps.
    """
    if all(a.flags.c_contiguous for a in arrays if isinstance(a, np.ndarray)):
        return [a.reshape(-1) if isinstance(a, np.ndarray) else a for a in arrays]
    first = next(a for a in arrays if isinstance(a, np.ndarray))
    axes = sorted(range(first.ndim), key=lambda axis: -first.strides[axis])
    flat: list[Array | float] = []
    for array in arrays:
        if isinstance(array, np.ndarray):
            array = array.transpose(axes)
            if not array.flags.c_contiguous:
                return None
            array = array.reshape(-1)
        flat.append(array)
    return flat


def pieces(array: Array) -> Iterator[Array]:
    """All elements of an array in one-dimensional pieces that stay in the cache.

    In whatever order is quick; not to be written to.
    """
    flat = flatten([array])
    if flat is not None:
        whole = flat[0]
        assert isinstance(whole, np.ndarray)
        for at in range(0, len(whole), PIECE):
            yield whole[at : at + PIECE]
        return
    flags: Any = ["external_loop", "buffered", "zerosize_ok"]
    with np.nditer(array, flags, ["readonly"], buffersize=PIECE) as chunks:
        yield from chunks


def blocks(shape: Sequence[int], keep: int | None = None) -> Iterator[tuple[slice, ...]]:
    """Indices that cut an array into parts of a few PIECEs along its longest axis.

    keep: an axis that is not cut.
    """
    axes = [axis for axis in range(len(shape)) if axis != keep]
    whole = [slice(None)] * len(shape)
    if not axes:
        yield tuple(whole)
        return
    axis = max(axes, key=lambda a: shape[a])
    count = 1
    for size in shape:
        count *= size
    step = max(1, shape[axis] * _BLOCK // max(count, 1))
    for at in range(0, shape[axis], step):
        whole[axis] = slice(at, at + step)
        yield tuple(whole)
