"""Manual, Math Functions: construction or extraction functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.calls.table import FLOATS, op, with_destination
from th_shell.runtime.compute.libm import function
from th_shell.runtime.core.dtypes import FLOAT, HALF, LONG, Array, cast, cast_scalar
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, check_dimensions
from th_shell.runtime.ops._operands import check_counts, store

_SIZES = "(LongStorage | dim1 [dim2...])"


@op("zeros", *with_destination(f"*T* {_SIZES}"), small="construct.zeros")
def zeros(r: Tensor, sizes: Sizes) -> None:
    """r = a tensor of zeros, of the given sizes."""
    r.resize(sizes)
    r.array.fill(0)


@op("ones", *with_destination(f"*T* {_SIZES}"), small="construct.ones")
def ones(r: Tensor, sizes: Sizes) -> None:
    """r = a tensor of ones, of the given sizes."""
    r.resize(sizes)
    r.array.fill(1)


@op("eye", *with_destination("*T* long [long=0]"))
def eye(r: Tensor, n: int, m: int) -> None:
    """r = the n x m matrix with ones on its diagonal and zeros elsewhere; n x n without m."""
    if n <= 0:
        raise ArgError(1, "invalid argument")
    r.resize((n, m if m > 0 else n))
    r.array.fill(0)
    np.fill_diagonal(r.array, 1)


@op("range", *with_destination("*T* accreal accreal [accreal=1]"), small="construct.range")
def range_(r: Tensor, first: float, last: float, step: float) -> None:
    """r = the numbers first, first + step, ... up to last.

    A destination that has as many elements already keeps its sizes. Raises ArgError where step is
    0 or leads away from last.
    """
    if not (step > 0 or step < 0):
        raise ArgError(3, "step must be a non-null number")
    if not ((step > 0 and last >= first) or (step < 0 and last <= first)):
        raise ArgError(2, "upper bound and larger bound incoherent with step sign")
    # Torch7: 1 is added before the number is cut. Where a long has no room for it, or for the
    # distance of whole numbers, there are none.
    far = last - first
    steps = far / step if r.dtype.is_float else cast_scalar(far, LONG) // step
    count = max(int(cast_scalar(steps + 1, LONG)), 0)
    if r.nelement != count:
        r.resize((count,))
    if not count:
        return
    at: Array = np.arange(count, dtype=np.float64 if r.dtype.is_float else np.int64)
    if r.dtype is FLOAT:
        at = np.minimum(at, 2**24)  # Torch7: counts in floats, which have no larger odd number
    r.array[...] = cast(first + at * step, r.dtype).reshape(r.sizes)


def _points(r: Tensor, first: float, last: float, count: int) -> Array:
    """Resize r unless it has as many elements already, and return the points as a vector."""
    if not (count > 1 or (count == 1 and first == last)):
        raise ArgError(3, "invalid number of points")
    if r.nelement != count:
        r.resize((count,))
    if count == 1 and r.ndim != 1:
        raise ArgError(1, "tensor must have one dimension")
    real = r.dtype.numpy.type
    steps: Array = np.arange(count, dtype=r.dtype.numpy)
    if count > 1:
        steps = steps * (real(last) - real(first)) / real(count - 1)
    return real(first) + steps  # type: ignore[no-any-return]


_SPACED = "*T* real real [long=100]", "[*T*] real real [long=100]"


@op("linspace", *_SPACED, types=FLOATS, small="construct.linspace")
def linspace(r: Tensor, first: float, last: float, count: int) -> None:
    """r = count numbers, equally spaced from first to last.

    A destination that has as many elements already keeps its sizes.
    """
    r.array[...] = _points(r, first, last, count).reshape(r.sizes)


@op("logspace", *_SPACED, types=FLOATS)
def logspace(r: Tensor, first: float, last: float, count: int) -> None:
    """r = count numbers, logarithmically spaced from 10^first to 10^last.

    A destination that has as many elements already keeps its sizes.
    """
    with np.errstate(over="ignore"):
        points = _points(r, first, last, count)
        r.array[...] = function("power")(points.dtype.type(10), points).reshape(r.sizes)


@op("reshape", f"<*T*> T {_SIZES}", types=(HALF,))
@op("reshape", f"[*T*] T {_SIZES}", f"[*T*] T {_SIZES}")
def reshape(r: Tensor, t: Tensor, sizes: Sizes) -> None:
    """r = a copy of t with the given sizes, which have the same number of elements."""
    result = type(t)()
    result.resize(sizes)
    check_counts(tensor=result, src=t)
    values = t.flat
    if r.storage is t.storage:
        values = values.copy()
    r.resize(sizes)
    r.array[...] = values.reshape(r.sizes or (0,))


@op("diag", method="[*T*] T [long=0]", function="[*T*] T [long=0]")
def diag(r: Tensor, t: Tensor, k: int) -> None:
    """r = the k-th diagonal of a matrix, or a matrix with a vector on that diagonal.

    k counts upwards from the main diagonal, 0; it is negative below it.
    """
    if t.ndim not in (1, 2):
        raise ArgError(1, "matrix or a vector expected")
    k = (k + 2**31) % 2**32 - 2**31  # Torch7: k wraps to 32 bits
    if t.ndim == 1:
        side = t.sizes[0] + abs(k)
        matrix = type(t).new((side, side))
        matrix.array.fill(0)
        start = k if k > 0 else -k * side
        matrix.flat[start :: side + 1][: t.sizes[0]] = t.array
        store(r, matrix.array)
        return
    if not -t.sizes[0] < k < t.sizes[1]:
        # Torch7: the message is that of reading a stride of the result, which is empty.
        raise ArgError(2, "dimension 1 out of range of 0D tensor")
    store(r, np.diagonal(t.array, k))


@op("tril", method="[*T*] T [int=0]", function="[*T*] T [int=0]", small="construct.tril")
def tril(r: Tensor, t: Tensor, k: int) -> None:
    """r = the elements of a matrix on and below its k-th diagonal, 0 elsewhere."""
    _triangle(r, t, np.tril, k)


@op("triu", method="[*T*] T [int=0]", function="[*T*] T [int=0]", small="construct.triu")
def triu(r: Tensor, t: Tensor, k: int) -> None:
    """r = the elements of a matrix on and above its k-th diagonal, 0 elsewhere."""
    _triangle(r, t, np.triu, k)


def _triangle(r: Tensor, t: Tensor, cut: object, k: int) -> None:
    if t.ndim != 2:
        raise ArgError(1, "expected a matrix")
    store(r, cut(t.array, k))  # type: ignore[operator]


@op("cat", "[*T*] T T [index=-1]", "[*T*] T T [index=-1]", small="construct.cat")
def cat(r: Tensor, a: Tensor, b: Tensor, dim: int) -> None:
    """r = two tensors joined along a dimension (-1: their last)."""
    cat_list(r, [a, b], dim)


@op("cat", "[*T*] {T+} [index=-1]", "[*T*] {T+} [index=-1]", small="construct.cat_list")
def cat_list(r: Tensor, parts: list[Tensor], dim: int) -> None:
    """r = a table's tensors joined along a dimension (-1: their last).

    Tensors of fewer dimensions count as having further ones of size 1; empty tensors are left
    out. If all are empty, r is unchanged. In the other dimensions the sizes must be equal.
    """
    ndim = max(dim + 1, *(t.ndim for t in parts), 0)
    axis = dim
    if dim == -2:  # the -1 of the call, counted from 0
        axis = max(ndim - 1, 0)
    if axis < 0:
        raise ArgError(4, f"invalid dimension {dim + 1}")
    check_dimensions(ndim)
    arrays = [t.array.reshape(t.sizes + (1,) * (ndim - t.ndim)) for t in parts if t.sizes]
    if not arrays:
        return
    first = arrays[0].shape
    for values in arrays[1:]:
        if values.shape[:axis] != first[:axis] or values.shape[axis + 1 :] != first[axis + 1 :]:
            raise TorchError("inconsistent tensor sizes")
    if r.storage is not None and any(np.may_share_memory(x, r.storage.data) for x in arrays):
        store(r, np.concatenate(arrays, axis=axis))
        return
    r.resize((*first[:axis], sum(x.shape[axis] for x in arrays), *first[axis + 1 :]))
    np.concatenate(arrays, axis=axis, out=r.array)


# -- histograms

_HISTOGRAM = "[*T*] T [long=100] [double=0] [double=0]"


def _bounds(t: Tensor, low: float, high: float) -> tuple[Any, Any]:
    """The bounds as elements of the type; if they are equal, the least and the greatest element."""
    least, greatest = np.array((low, high), t.dtype.numpy)
    if least == greatest:
        if not t.sizes:
            raise ArgError(1, "tensor must have one dimension")
        least, greatest = t.array.min(), t.array.max()
    if least == greatest:
        least, greatest = least - 1, greatest + 1
    return least, greatest


def _count(rows: Array, bins: int, low: Any, high: Any) -> Array:
    """A histogram for each row."""
    inside = (rows >= low) & (rows <= high)
    scaled = (rows[inside] - low) / (high - low) * rows.dtype.type(bins)
    if not np.isfinite(scaled).all():
        apart = "close together" if low == high else "far apart"
        raise TorchError(f"histogram from {low:g} to {high:g}: the bounds are too {apart}")
    bin_of = np.minimum(scaled.astype(np.int64), bins - 1)
    room = np.empty((len(rows), bins), np.int64)  # an error where there is no memory for counts
    if len(rows) > 1:
        bin_of += bins * np.nonzero(inside)[0]
    return np.bincount(bin_of, minlength=room.size).reshape(room.shape)


@op("histc", _HISTOGRAM, _HISTOGRAM, types=FLOATS)
def histc(r: Tensor, t: Tensor, bins: int, low: float, high: float) -> None:
    """r = how many elements fall into each of ``bins`` equal parts of low to high.

    Equal bounds stand for the least and the greatest element.
    """
    if bins <= 0:
        raise ArgError(2, "invalid number of bins")
    store(r, _count(t.array.reshape(1, -1), bins, *_bounds(t, low, high))[0])


@op("bhistc", _HISTOGRAM, _HISTOGRAM, types=FLOATS)
def bhistc(r: Tensor, t: Tensor, bins: int, low: float, high: float) -> None:
    """r = the histograms of a matrix's rows, as rows; see histc."""
    if t.ndim >= 3:
        raise ArgError(2, f"invalid dimension {t.ndim}, the input must be a 2d tensor")
    if t.ndim < 2:
        raise ArgError(2, "invalid dimension 2")
    if bins <= 0:
        raise ArgError(2, "invalid number of bins")
    store(r, _count(t.array, bins, *_bounds(t, low, high)))
