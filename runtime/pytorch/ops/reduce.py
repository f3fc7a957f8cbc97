"""Sums, averages, counts and variances, of all elements or along dimensions; and softmax.

PyTorch's documentation: torch, Reduction Ops; torch.nn.functional, softmax and log_softmax.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import Category, int64
from th_shell.torch.base.dtypes import dtype as DType
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.shapes import Shape, listed, wrap_dim
from th_shell.torch.base.warn import warn
from th_shell.torch.calls.schema import OUT, IntsOrOne, Kind, Out
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import ALL, FLOATS, check_types
from th_shell.torch.compute.promotion import to_float
from th_shell.torch.compute.reductions import axes_of, give, spread, tidy, total
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast, check_cast

#: Takes an array, axes, whether they are kept, and the type to compute in.
Reduce = Callable[[Array, Shape | None, bool, Any], Any]
_FLOAT16 = np.dtype(np.float16)
_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
_INT64 = np.dtype(np.int64)
#: From so many elements on, float32 whose elements are no neighbours are added as float64.
_LONG = 64


# -- sums


def sum_of(array: Array, axes: Shape | None, keepdim: bool, kind: Any = None) -> Any:
    """Return a sum along axes, with the rounding errors of few additions.

    kind: numpy's type in which it is taken; by default the elements'.
    """
    if kind is None or kind == array.dtype:
        sums = total(array, axes, keepdim)
        if sums is not None:
            return sums
    if array.dtype == _FLOAT16 and kind in (None, _FLOAT16):
        return cast(np.asarray(sum_of(array, axes, keepdim, _FLOAT32)), _FLOAT16)
    is_single = array.dtype == _FLOAT32 and (kind is None or kind is _FLOAT32)
    if axes is not None and is_single:
        if any(array.shape[a] >= _LONG and array.strides[a] != array.itemsize for a in axes):
            return cast(np.asarray(sum_of(array, axes, keepdim, _FLOAT64)), _FLOAT32)
    result = quietly.run(np.add.reduce, array, axes, kind, None, keepdim)
    return result if array.flags.c_contiguous else tidy(result)


def sum_type(array: Array, kind: Kind) -> np.dtype[Any] | None:
    """Return numpy's type of a sum: int64 for whole numbers; None for the elements' type."""
    if kind is not None:
        return kind.numpy
    numpy_type = array.dtype
    return None if numpy_type.kind == "f" or numpy_type == _INT64 else int64.numpy


def reduced(
    reduce: Reduce, input: Tensor, dim: Any, keepdim: bool, dtype: Kind = None, out: Out = None
) -> Tensor:
    """Return a reduction of the elements along dimensions, of whole numbers as int64."""
    array = input.array
    axes = None if dim is None else axes_of(dim, array.ndim)
    if out is not None:
        dtype = dtype or out.dtype
    sum_kind = sum_type(array, dtype)
    if dtype is not None:
        array = cast(array, dtype.numpy)
    result = reduce(array, axes, keepdim, sum_kind)
    return wrap(result) if out is None else give(result, out)


_TYPED = "torch.dtype dtype = None"
_OPTIONS = f"{_TYPED}, {OUT}"
_ALONG = f"dim, bool keepdim = False, *, {_OPTIONS}"


@op(f"sum(Tensor input, *, {_TYPED})", f"sum(Tensor input, tuple of ints[1]? {_ALONG})")
def sum(
    input: Tensor, dim: Any = None, keepdim: bool = False, dtype: Kind = None, out: Out = None
) -> Tensor:
    """Return the sums of all elements, or along dimensions; of whole numbers as int64."""
    return reduced(sum_of, input, dim, keepdim, dtype, out)


@op(more=_OPTIONS)
def nansum(input: Tensor, dim: IntsOrOne = None, keepdim: bool = False, **options: Any) -> Tensor:
    """Return the sums along dimensions, in which a nan counts as 0."""
    return reduced(sum_of, wrap(_without_nan(input.array)), dim, keepdim, **options)


def _without_nan(array: Array) -> Array:
    if array.dtype.kind != "f":
        return array
    return np.where(np.isnan(array), array.dtype.type(0), array)


def _product(array: Array, axes: Shape | None, keepdim: bool, kind: Any) -> Array:
    return tidy(quietly.run(np.multiply.reduce, array, axes, kind, None, keepdim))


@op(f"prod(Tensor input, *, {_TYPED})", f"prod(Tensor input, int {_ALONG})")
def prod(
    input: Tensor, dim: Any = None, keepdim: bool = False, dtype: Kind = None, out: Out = None
) -> Tensor:
    """Return the products of all elements, or along a dimension; of whole numbers as int64."""

    return reduced(_product, input, dim, keepdim, dtype, out)


# -- averages


@op(f"mean(Tensor input, *, {_OPTIONS})", f"mean(Tensor input, tuple of ints[1]? {_ALONG})")
def mean(
    input: Tensor, dim: Any = None, keepdim: bool = False, dtype: Kind = None, out: Out = None
) -> Tensor:
    """Return the averages of all elements, or along dimensions."""
    array = input.array
    result = array.dtype
    is_plain = dtype is None and out is None and result.kind == "f"
    if not is_plain:
        result = _mean_type(input, dtype, out).numpy
    wide = _FLOAT32 if result == _FLOAT16 else result
    if not is_plain:
        array = cast(array, wide)
    axes = axes_of(dim, array.ndim)
    total = sum_of(array, axes, keepdim, wide)
    count = array.size if axes is None else count_along(array, axes)
    average = quietly.run(np.true_divide, total, wide.type(count))
    return give(average if wide is result else cast(np.asarray(average), result), out)


def _mean_type(input: Tensor, kind: Kind, out: Out) -> DType:
    result_type = kind or input.dtype
    if result_type.category < Category.FLOAT:
        what = "Optional dtype" if kind is not None else "Input dtype"
        raise NotImplementedError(
            f"mean(): could not infer output dtype. {what} must be either a floating point or "
            f"complex dtype. Got: {result_type.scalar}"
        )
    if out is None:
        return result_type
    check_cast(result_type, out.dtype)
    return out.dtype


def count_along(array: Array, axes: Iterable[int]) -> int:
    """Return the number of elements that are reduced to one."""
    return math.prod([array.shape[axis] for axis in axes])


# -- counts


@op("count_nonzero(Tensor input, int dim = None)", "count_nonzero(Tensor input, tuple of ints dim)")
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """Return the numbers of elements other than 0."""
    array = input.array
    axes = axes_of(dim, array.ndim)
    check_types("nonzero_count_cpu", ALL, array.dtype)
    if axes is None:
        return wrap(np.asarray(np.count_nonzero(array)))
    return wrap(sum_of(array != 0, axes, False, _INT64))


@op(name="logsumexp")
def logsumexp(input: Tensor, dim: IntsOrOne, keepdim: bool = False, *, out: Out = None) -> Tensor:
    """Return the logarithms of the sums of the exponentials along dimensions."""
    if out is not None and not out.dtype.is_floating_point:
        raise RuntimeError(
            "logsumexp(): Expected floating point type for result tensor, but got: "
            f"{out.dtype.scalar}"
        )
    kind = to_float(input.dtype).numpy
    array = input.array
    axes = axes_of(dim, array.ndim)
    if dim == () and array.ndim and not keepdim:
        raise RuntimeError(
            "output with shape [] doesn't match the broadcast shape " + listed([1] * array.ndim)
        )
    return give(tidy(_log_of_sums(array.astype(kind, copy=False), axes, keepdim)), out)


def _log_of_sums(array: Array, axes: Any, keepdim: bool) -> Array:
    run = quietly.run
    largest = run(np.maximum.reduce, array, axes, None, None, True, -np.inf)
    largest = np.where(np.isinf(largest), array.dtype.type(0), largest)
    powers = run(np.exp, run(np.subtract, array, largest))
    logarithms = run(np.log, sum_of(powers, axes, True)) + largest
    if keepdim:
        return np.asarray(logarithms)
    return np.asarray(logarithms).squeeze(tuple(range(array.ndim)) if axes is None else axes)


def _softmax(name: str, input: Tensor, dim: int, dtype: Kind) -> Tensor:
    """Return the exponentials divided by their sum, or the logarithms of that."""
    array = input.array
    axis = wrap_dim(dim, array.ndim)
    if dtype is not None:
        array = cast(array, dtype.numpy)
    if not array.size:
        return wrap(array.copy())
    where = "_lastdim" if axis == max(array.ndim, 1) - 1 else ""
    check_types(f"{name}{where}_kernel_impl", FLOATS, array.dtype)
    wide = array.astype(np.float32) if array.dtype == np.float16 else array
    wide, run = wide if wide.ndim else wide.reshape(1), quietly.run
    # Less the largest, so that no exponential is too large.
    shifted = run(np.subtract, wide, run(np.maximum.reduce, wide, axis, None, None, True, -np.inf))
    powers = run(np.exp, shifted, shifted if name == "softmax" else None)
    sums = run(np.add.reduce, powers, axis, None, None, True)
    if name == "softmax":
        run(np.true_divide, powers, sums, shifted)
    else:
        run(np.subtract, shifted, run(np.log, sums), shifted)
    return wrap(shifted.reshape(array.shape).astype(array.dtype, copy=False))


@op(more=OUT)
def softmax(input: Tensor, dim: int, dtype: Kind = None) -> Tensor:
    """Return the exponentials, divided by their sum along a dimension."""
    return _softmax("softmax", input, dim, dtype)


@op(more=OUT)
def log_softmax(input: Tensor, dim: int, dtype: Kind = None) -> Tensor:
    """Return the logarithms of the softmax along a dimension."""
    return _softmax("log_softmax", input, dim, dtype)


# -- variances and standard deviations

_FACTOR = "reduction factor (input numel divided by output numel)"
_NO_FREEDOM = "{}(): degrees of freedom is <= 0. Correction should be strictly less than the {}."


def _variance(name: str, array: Array, axes: Any, correction: Any) -> tuple[Array, Array]:
    """Return variances and averages, at least in the precision of float64; the axes are kept."""
    count = array.size if axes is None else count_along(array, axes)
    average, squares = spread(array, axes) or _spread_of_few(array, axes, count)
    free = count - (1 if correction is None else correction)
    if free <= 0 or not array.size:
        warn(_NO_FREEDOM.format(name, _FACTOR))
        free = max(free, 0) if count else 0
    return quietly.run(np.true_divide, squares, float(free)), average


def _spread_of_few(array: Array, axes: Any, count: int) -> tuple[Array, Array]:
    """Return averages and sums of squared distances from them, as float64, with the axes kept."""
    run, add = quietly.run, np.add.reduce
    wide = array.astype(np.float64, copy=False)
    average = run(np.true_divide, run(add, wide, axes, None, None, True), count)
    apart = run(np.subtract, wide, average)
    return average, run(add, run(np.multiply, apart, apart), axes, None, None, True)


def _check_type(name: str, input: Tensor) -> None:
    if input.array.dtype.kind != "f":
        who = name if name.endswith("_mean") else "std and var"
        raise NotImplementedError(f"{who} only support floating point and complex dtypes")


def _spread(
    name: str, input: Tensor, dim: Any, keepdim: bool, correction: Any = None, out: Out = None
) -> Any:
    """Return variances or standard deviations, and averages where the name ends with _mean."""
    _check_type(name, input)
    array = input.array
    kind = array.dtype
    if out is not None:
        check_cast(input.dtype, out.dtype)
        kind = out.array.dtype
    axes = axes_of(dim, array.ndim)
    spreads, average = _variance(name, array, axes, correction)
    if name.startswith("std"):
        spreads = np.sqrt(spreads)
    parts = [spreads, average] if name.endswith("_mean") else [spreads]
    results = [tidy((x if keepdim else x.squeeze(axes)).astype(kind, copy=False)) for x in parts]
    return tuple(map(wrap, results)) if len(results) > 1 else give(results[0], out)


def _register(name: str, what: str, out: str, method: bool | None) -> None:
    """Register a function by each way to say how many degrees of freedom there are."""
    rows = (
        f"tuple of ints[1]? dim, bool unbiased = True, bool keepdim = False{out and ', *'}{out}",
        f"tuple of ints[1] dim = None, *, Number correction = None, bool keepdim = False{out}",
        "bool unbiased = True",
    )

    @op(*[f"{name}(Tensor input, {row})" for row in rows], method=method)
    def compute(
        input: Tensor, dim: Any = None, unbiased: bool = True, keepdim: bool = False, **options: Any
    ) -> Any:
        if isinstance(dim, bool):  # of the row that has no dim
            dim, unbiased = None, dim
        if not unbiased:
            options["correction"] = 0
        return _spread(name, input, dim, keepdim, **options)

    compute.__doc__ = f"Return the {what} along dimensions, or of all elements."


for _name, _what in (("var", "variances"), ("std", "standard deviations")):
    _register(_name, _what, f", {OUT}", method=None)
    _register(f"{_name}_mean", f"{_what} and averages", "", method=False)
