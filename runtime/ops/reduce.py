"""Manual, Math Functions: reductions over all elements, or along one dimension.

The dimension that an operation goes along remains with size 1. Floating-point numbers are added
up in double precision, except where the reference does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.calls.table import FLOATS, op
from th_shell.runtime.compute.bulk import PIECE, blocks, pieces
from th_shell.runtime.compute.libm import function
from th_shell.runtime.compute.lua_kernels import cumsum_rows
from th_shell.runtime.core.dtypes import DOUBLE, Array, DType, cast
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor, describe
from th_shell.runtime.ops._operands import check_counts, copy_if_shared, resize_for, store

_ALL = "T", "T"
_ALONG = "[*T*] T index", "[*T*] T index"


def accumulator(dtype: DType) -> Any:
    """The numpy type in which elements of a type are added up."""
    return np.float64 if dtype.is_float else np.int64


def check_dim(
    t: Tensor, dim: int, message: str = "dimension {} out of range", arg: int = 2
) -> None:
    """Raise ArgError where a tensor has no such dimension; {} in the message is its number."""
    if not 0 <= dim < t.ndim:
        raise ArgError(arg, message.format(dim + 1))


def _along_accumulator(t: Tensor, dim: int) -> Any:
    # Torch7: adds up and multiplies in the element type, unless the elements along the dimension
    # are neighbours in memory.
    return accumulator(t.dtype) if t.strides[dim] == 1 else t.dtype.numpy


def _store_as(r: Tensor, values: Array) -> None:
    store(r, cast(values, r.dtype))


def find_extremum(reduce: Any, elements: Array) -> float:
    """Return the extremum of all elements; of several zeros, which may have signs, the first."""
    extremum = reduce(elements, axis=None)
    if extremum == 0:
        extremum = elements[np.unravel_index(np.argmax(elements == 0), elements.shape)]
    return extremum.item()  # type: ignore[no-any-return]


# -- sums and products


def _add_reduction(name: str, reduce: Any, word: str, fold: str) -> None:
    def over_all(t: Tensor) -> float:
        return reduce(t.array, dtype=accumulator(t.dtype)).item()  # type: ignore[no-any-return]

    def along(r: Tensor, t: Tensor, dim: int) -> None:
        check_dim(t, dim)
        kind = _along_accumulator(t, dim)
        _store_as(r, reduce(t.array, axis=dim, dtype=kind, keepdims=True))

    over_all.__doc__ = f"The {word} of all elements."
    along.__doc__ = f"r = the {word}s along one dimension."
    op(name, *_ALL, total="t", fold=fold)(over_all)
    op(name, *_ALONG, total="t", fold=fold, in_double=False)(along)


_add_reduction("sum", np.sum, "sum", "add")
_add_reduction("prod", np.prod, "product", "multiply")


def _is_long_row(t: Tensor, dim: int) -> bool:
    # For these, numpy's cumsum takes three times as long as a loop in Lua.
    return t.dtype is DOUBLE and dim == t.ndim - 1 and t.is_contiguous and t.sizes[dim] > 1000


def _add_running(name: str, accumulate: Any, word: str, fold: str) -> None:
    def running(r: Tensor, t: Tensor, dim: int) -> None:
        check_dim(t, dim)
        if name == "cumsum" and _is_long_row(t, dim):
            resize_for(r, t)
            if r.is_contiguous:
                cumsum_rows(copy_if_shared(t.array, r.array), r.array)
                return
        _store_as(r, accumulate(t.array, axis=dim, dtype=accumulator(t.dtype)))

    running.__doc__ = f"r = the running {word}s along one dimension."
    form = "[*T*] T [index=1]"
    op(name, form, form, total="t", fold=fold, running=True)(running)


_add_running("cumsum", np.cumsum, "sum", "add")
_add_running("cumprod", np.cumprod, "product", "multiply")


# -- mean and deviation


def _check_not_empty(t: Tensor) -> None:
    if not t.sizes:
        raise ArgError(1, "empty Tensor")


@op("mean", *_ALL, types=FLOATS, total="t", then="total / n")
def mean_all(t: Tensor) -> float:
    """The mean of all elements. Raises ArgError for an empty tensor."""
    _check_not_empty(t)
    return float(t.array.sum(dtype=np.float64)) / t.nelement


@op("mean", *_ALONG, types=FLOATS, total="t", then="cast(total) / n", in_double=False)
def mean(r: Tensor, t: Tensor, dim: int) -> None:
    """r = the means along one dimension."""
    check_dim(t, dim, "invalid dimension {}")
    total = t.array.sum(axis=dim, dtype=_along_accumulator(t, dim), keepdims=True)
    store(r, cast(total, t.dtype) / t.dtype.numpy.type(t.sizes[dim]))


@op("var", "T [boolean=false]", "T [boolean=false]", types=FLOATS, small="reduce.var_all")
def var_all(t: Tensor, biased: bool) -> float:
    """The variance of all elements; biased: divided by n, not by n - 1."""
    mean = mean_all(t)
    total = 0.0
    for piece in pieces(t.array):
        difference = piece - np.float64(mean)
        total += float(np.dot(difference, difference))
    return float(np.float64(total) / (t.nelement - (0 if biased else 1)))


@op("std", "T [boolean=false]", "T [boolean=false]", types=FLOATS, small="reduce.std_all")
def std_all(t: Tensor, biased: bool) -> float:
    """The standard deviation of all elements; biased: divided by n, not by n - 1."""
    return float(np.sqrt(np.float64(var_all(t, biased))))


def _along(t: Tensor, dim: int, reduce: Callable[[Array], Array]) -> Array:
    """Reduce a tensor along a dimension to doubles, block by block, to bound memory."""
    result = np.empty((*t.sizes[:dim], 1, *t.sizes[dim + 1 :]))
    for at in blocks(t.sizes, keep=dim):
        result[at] = reduce(t.array[at])
    return result


def _variances(t: Tensor, dim: int, biased: bool) -> Array:
    check_dim(t, dim, "invalid dimension {}", 3)
    variances = _along(t, dim, lambda part: np.var(part, dim, np.float64, keepdims=True))
    if not biased:
        variances *= np.float64(t.sizes[dim]) / (t.sizes[dim] - 1) if t.sizes[dim] > 1 else np.nan
    return variances


_DEVIATION = "[*T*] T index [boolean=false]", "[*T*] T index [boolean=false]"


@op("var", *_DEVIATION, types=FLOATS, small="reduce.var")
def var(r: Tensor, t: Tensor, dim: int, biased: bool) -> None:
    """r = the variances along one dimension; biased: divided by n, not by n - 1."""
    _store_as(r, _variances(t, dim, biased))


@op("std", *_DEVIATION, types=FLOATS, small="reduce.std")
def std(r: Tensor, t: Tensor, dim: int, biased: bool) -> None:
    """r = the standard deviations along one dimension; biased: divided by n, not by n - 1."""
    _store_as(r, np.sqrt(_variances(t, dim, biased)))


# -- norms


def _powers(values: Array, p: float) -> Array:
    """The terms of a p-norm: |x|^p of each value; for p 0, 1 for a value that is not 0."""
    if p == 0:
        return np.asarray(values != 0, np.float64)
    if p == 1:
        return np.abs(values)
    powers: Array = values * values if p == 2 else _raise(np.abs(values), p)
    return powers


def _raise(values: Any, p: float) -> Any:
    return function("power")(values, values.dtype.type(p))


def _sum_powers(values: Array, p: float, axis: int | None = None) -> Any:
    """Add up the terms as doubles; Torch7: of floats these are floats, but for squares."""
    terms = _powers(values.astype(np.float64, copy=False) if p == 2 else values, p)
    return terms.sum(axis=axis, dtype=np.float64, keepdims=axis is not None)


def _root(total: Any, p: float, dtype: Any) -> Any:
    """The p-norm of elements of a type, from the sum of its terms."""
    if p in (0, 1):
        return total
    return np.sqrt(total) if p == 2 else _raise(np.asarray(total, dtype), 1 / p)


def _norm(values: Array, p: float) -> float:
    total = np.float64(sum(float(_sum_powers(part, p)) for part in pieces(values)))
    return float(_root(total, p, values.dtype))


def _norms(t: Tensor, p: float, dim: int) -> Array:
    totals = _along(t, dim, lambda part: _sum_powers(part, p, dim))
    return np.asarray(_root(totals, p, t.dtype.numpy))


_TERMS = "double(t) * double(t) if p == 2 else absolute(double(t)) if p == 1 else None"
_ROOT = "sqrt(total) if p == 2 else total"


@op("norm", "T [real=2]", "T [real=2]", types=FLOATS, total=_TERMS, then=_ROOT)
def norm_all(t: Tensor, p: float) -> float:
    """The p-norm of all elements; for p 0 the number of elements that are not 0."""
    return _norm(t.array, p)


_NORMS = "[*T*] T real index"


@op("norm", _NORMS, _NORMS, types=FLOATS, total=_TERMS, then=_ROOT)
def norm(r: Tensor, t: Tensor, p: float, dim: int) -> None:
    """r = the p-norms along one dimension."""
    check_dim(t, dim, "invalid dimension {}", 3)
    _store_as(r, _norms(t, p, dim))


@op("dist", "T T [real=2]", "T T [real=2]", types=FLOATS, small="reduce.dist")
def dist(a: Tensor, b: Tensor, p: float) -> float:
    """The p-norm of the difference of two tensors with as many elements."""
    check_counts(tensor=a, src=b)
    if p == 0:
        # Torch7: adds up the differences to the power of 0, and raises the sum to the power of 1/0.
        return float(np.float64(a.nelement) ** np.inf)
    # Torch7: adds up in the element type.
    x, y = a.flat, b.flat
    total = x.dtype.type(0)
    for at in range(0, len(x), PIECE):
        terms = _powers(x[at : at + PIECE] - y[at : at + PIECE], p)
        terms[0] += total
        total = np.add.accumulate(terms)[-1]
    return float(_raise(total, 1 / p))


_RENORM = "*T* [T=1] real index real", "[*T*] T real index real"


@op("renorm", *_RENORM, types=FLOATS, small="reduce.renorm")
def renorm(r: Tensor, t: Tensor, p: float, dim: int, limit: float) -> None:
    """r = t with each slice along a dimension scaled down to a p-norm of at most ``limit``."""
    check_dim(t, dim, "invalid dimension {}", 3)
    if not p > 0:
        raise ArgError(2, "non-positive-norm not supported")
    if t.ndim < 2:
        raise ArgError(1, f"need at least 2 dimensions, got {t.ndim} dimensions")
    slices = np.moveaxis(t.array, dim, 0)
    norms = np.array([_norm(part, p) for part in slices])
    factors = np.where(norms > limit, limit / (norms + 1e-7), 1.0)
    shape = [1] * t.ndim
    shape[dim] = t.sizes[dim]
    scale = factors.reshape(shape).astype(t.array.dtype)
    r.resize(t.sizes)
    np.multiply(t.array, scale, out=r.array)


# -- products of vectors


@op("cross", "[*T*] T T [index=0]", "[*T*] T T [index=0]")
def cross(r: Tensor, a: Tensor, b: Tensor, dim: int) -> None:
    """r = the cross products along a dimension of size 3 (by default the first such).

    Both tensors have the same sizes.
    """
    if a.ndim != b.ndim:
        raise TorchError(f"inconsistent tensor dimension {a.ndim}D, {b.ndim}D")
    if a.sizes != b.sizes:
        raise TorchError(f"inconsistent tensor sizes {describe(a.sizes)}, {describe(b.sizes)}")
    if dim < 0:
        if 3 not in a.sizes:
            raise TorchError(f"no dimension of size 3 in a: {describe(a.sizes)}")
        dim = a.sizes.index(3)
    check_dim(a, dim, arg=3)
    if a.sizes[dim] != 3:
        raise ArgError(3, f"dimension {dim + 1} does not have size 3")
    x, y = np.moveaxis(a.array, dim, 0), np.moveaxis(b.array, dim, 0)
    parts = [x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3] for i in range(3)]
    store(r, np.stack(parts, dim))
