"""Sums, products, averages and extreme values, of all elements or along dimensions.

PyTorch's documentation: torch, Reduction Ops. Where elements are equal the index of the first one
is given, and a nan is above and below all numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch import return_types
from runtime.pytorch.dtypes import Category, bool_, int64
from runtime.pytorch.dtypes import dtype as DType
from runtime.pytorch.elementwise import Pointwise
from runtime.pytorch.quiet import quietly
from runtime.pytorch.shapes import Shape, wrap_dim, wrap_dims
from runtime.pytorch.table import op
from runtime.pytorch.tensor import Tensor, wrap
from runtime.pytorch.writing import cast

__all__ = ["axes_of", "check_not_empty", "named", "sum_of"]

_DTYPE = "torch.dtype dtype = None"
_OUT = "Tensor out = None"
_OUTS = "tuple of Tensors out = None"
_FLOAT16 = np.dtype(np.float16)
#: From this many numbers on a sum along an axis that is not the last one is taken in parts, so
#: that its rounding errors stay those of few additions.
_MANY, _PART = 1024, 128


def axes_of(dim: Any, ndim: int) -> Shape | None:
    """numpy's axes for a dimension, or several; None for all. Raises IndexError, RuntimeError."""
    if dim is None or dim == ():
        return None
    axes = wrap_dims((dim,) if isinstance(dim, int) else dim, ndim)
    return axes if ndim else None


def named(name: str, *parts: Any) -> Any:
    """An operation's results as its named tuple."""
    return tuple.__new__(return_types.RESULTS[name], parts)


# -- sums


def sum_of(array: Array, axes: Shape | None, keepdim: bool, kind: Any = None) -> Any:
    """A sum along axes, with the rounding errors of few additions.

    kind: numpy's type in which it is taken; by default the elements'.
    """
    if array.dtype == _FLOAT16 and kind in (None, _FLOAT16):
        return cast(np.asarray(sum_of(array, axes, keepdim, np.dtype(np.float32))), _FLOAT16)
    if axes is not None and len(axes) == 1 and _is_rough(array, axes[0]):
        axis = axes[0]
        rest = array.shape[axis] % _PART
        head, tail = np.split(array, [array.shape[axis] - rest], axis)
        parts = head.reshape(*array.shape[:axis], -1, _PART, *array.shape[axis + 1 :])
        sums = np.add.reduce(parts, axis + 1, kind)
        sums = np.concatenate([sums, np.add.reduce(tail, axis, kind, keepdims=True)], axis)
        return sum_of(sums, axes, keepdim, kind)
    return quietly.run(np.add.reduce, array, axes, kind, None, keepdim)


def _is_rough(array: Array, axis: int) -> bool:
    """Whether numpy would add one element after the other, and there are many."""
    return axis != array.ndim - 1 and array.shape[axis] >= _MANY and array.dtype.kind == "f"


def _sum_type(array: Array, kind: DType | None) -> Any:
    """numpy's type in which a sum is taken: int64 for whole numbers."""
    if kind is not None:
        return kind.numpy
    return None if array.dtype.kind == "f" or array.dtype == int64.storable else int64.numpy


def _total(input: Tensor, axes: Shape | None, keepdim: bool, kind: DType | None) -> Tensor:
    array = input.array
    wanted = _sum_type(array, kind)
    if kind is not None and array.dtype.kind == "f" and wanted.kind != "f":
        array = cast(array, wanted)
    return wrap(sum_of(array, axes, keepdim, wanted))


@op(f"sum(Tensor input, *, {_DTYPE})")
def sum_all(input: Tensor, *, dtype: DType | None = None) -> Tensor:
    """The sum of all elements; of whole numbers as int64."""
    return _total(input, None, False, dtype)


@op(f"sum(Tensor input, tuple of ints[1]? dim, bool keepdim = False, *, {_DTYPE}, {_OUT})")
def sum(input: Tensor, dim: Any, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The sums along dimensions; of whole numbers as int64."""
    return _total(input, axes_of(dim, input.array.ndim), keepdim, dtype)


@op(f"nansum(Tensor input, tuple of ints[1] dim = None, bool keepdim = False, *, {_DTYPE}, {_OUT})")
def nansum(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """The sums along dimensions, in which a nan counts as 0."""
    array = input.array
    if array.dtype.kind == "f":
        input = wrap(np.where(np.isnan(array), array.dtype.type(0), array))
    return _total(input, axes_of(dim, array.ndim), keepdim, dtype)


@op(f"prod(Tensor input, *, {_DTYPE})")
def prod_all(input: Tensor, *, dtype: DType | None = None) -> Tensor:
    """The product of all elements; of whole numbers as int64."""
    return _product(input.array, None, False, dtype)


@op(f"prod(Tensor input, int dim, bool keepdim = False, *, {_DTYPE}, {_OUT})")
def prod(input: Tensor, dim: int, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The products along a dimension; of whole numbers as int64."""
    return _product(input.array, axes_of(dim, input.array.ndim), keepdim, dtype)


def _product(array: Array, axes: Shape | None, keepdim: bool, kind: DType | None) -> Tensor:
    wanted = _sum_type(array, kind)
    if wanted is not None:
        array = cast(array, wanted)
    return wrap(quietly.run(np.multiply.reduce, array, axes, wanted, None, keepdim))


# -- averages


def _average_type(name: str, input: Tensor, kind: DType | None) -> DType:
    found = kind or input.dtype
    if found.category < Category.FLOAT:
        what = "Optional dtype" if kind is not None else "Input dtype"
        how = "could not infer output dtype. " if kind is None else ""
        raise NotImplementedError(
            f"{name}(): {how}{what} must be either a floating point or complex dtype. "
            f"Got: {found.scalar}"
        )
    return found


@op(f"mean(Tensor input, *, {_DTYPE}, {_OUT})")
def mean_all(input: Tensor, *, dtype: DType | None = None) -> Tensor:
    """The average of all elements."""
    return _mean(input, None, False, dtype)


@op(f"mean(Tensor input, tuple of ints[1]? dim, bool keepdim = False, *, {_DTYPE}, {_OUT})")
def mean(input: Tensor, dim: Any, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
    """The averages along dimensions."""
    return _mean(input, axes_of(dim, input.array.ndim), keepdim, dtype)


def _mean(input: Tensor, axes: Shape | None, keepdim: bool, kind: DType | None) -> Tensor:
    found = _average_type("mean", input, kind)
    array = cast(input.array, found.numpy)
    wide = np.dtype(np.float32) if array.dtype == _FLOAT16 else array.dtype
    count = array.size if axes is None else _count(array, axes)
    total = sum_of(array, axes, keepdim, wide)
    average = quietly.run(np.true_divide, total, wide.type(count))
    return wrap(cast(np.asarray(average), array.dtype))


def _count(array: Array, axes: Shape) -> int:
    count = 1
    for axis in axes:
        count *= array.shape[axis]
    return count


@op(
    f"nanmean(Tensor input, tuple of ints[1] dim = None, bool keepdim = False, *, {_DTYPE}, {_OUT})"
)
def nanmean(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """The averages along dimensions of what is no nan."""
    found = _average_type("nanmean", input, dtype)
    array = cast(input.array, found.numpy)
    axes = axes_of(dim, array.ndim)
    known = np.asarray(sum_of(~np.isnan(array), axes, keepdim, np.dtype(np.int64)))
    total = nansum(wrap(array), dim, keepdim).array
    return wrap(quietly.run(np.true_divide, total, known.astype(total.dtype)))


def _variance(input: Tensor, dim: Any, correction: Any, keepdim: bool) -> tuple[Array, Array]:
    """Variances and averages, in the precision of float64 for the smaller types."""
    array = input.array
    if array.dtype.kind != "f":
        raise NotImplementedError("std and var only support floating point and complex dtypes")
    axes = axes_of(dim, array.ndim)
    wide = array.astype(np.float64, copy=False)
    count = array.size if axes is None else _count(array, axes)
    with np.errstate(all="ignore"):
        average = np.asarray(sum_of(wide, axes, True)) / np.float64(count)
        squares = np.asarray(sum_of(np.square(wide - average), axes, keepdim))
        free = max(count - (1 if correction is None else correction), 0)
        variance = np.asarray(squares / np.float64(free))
    return variance, average if keepdim else np.asarray(average.reshape(variance.shape))


def _register_variance(name: str, is_root: bool, with_mean: bool) -> None:
    keep = "" if with_mean else f", {_OUT}"

    def compute(
        input: Tensor, dim: Any = None, unbiased: bool = True, keepdim: bool = False
    ) -> Any:
        return finish(input, dim, 1 if unbiased else 0, keepdim)

    def compute_corrected(
        input: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False
    ) -> Any:
        return finish(input, dim, correction, keepdim)

    def compute_all(input: Tensor, unbiased: bool = True) -> Any:
        return finish(input, None, 1 if unbiased else 0, False)

    def finish(input: Tensor, dim: Any, correction: Any, keepdim: bool) -> Any:
        variance, average = _variance(input, dim, correction, keepdim)
        kind = input.array.dtype
        found = wrap(cast(np.sqrt(variance) if is_root else variance, kind))
        return (found, wrap(cast(average, kind))) if with_mean else found

    what = "The standard deviations" if is_root else "The variances"
    for function in (compute, compute_corrected, compute_all):
        more = ", and the averages" if with_mean else ""
        function.__doc__ = f"{what} along dimensions, or of all elements{more}."
    method = not with_mean
    kept = "*, " + keep[2:] if keep else ""
    first = (
        f"{name}(Tensor input, tuple of ints[1]? dim, bool unbiased = True, bool keepdim = False"
    )
    op(f"{first}, {kept})" if kept else f"{first})", method=method)(compute)
    op(
        f"{name}(Tensor input, tuple of ints[1] dim = None, *, Number correction = None, "
        f"bool keepdim = False{keep})",
        method=method,
    )(compute_corrected)
    op(f"{name}(Tensor input, bool unbiased = True)", method=method)(compute_all)


_register_variance("var", is_root=False, with_mean=False)
_register_variance("std", is_root=True, with_mean=False)
_register_variance("var_mean", is_root=False, with_mean=True)
_register_variance("std_mean", is_root=True, with_mean=True)


# -- extreme values


def check_not_empty(name: str, array: Array, axes: Shape | None, error: type[Exception]) -> None:
    """Raise an error where no element is left to choose from."""
    if axes is None:
        if not array.size:
            tail = " Specify the reduction dim with the 'dim' argument."
            raise error(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
                f"{tail if error is RuntimeError else ''}"
            )
        return
    for axis in axes:
        if not array.shape[axis]:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")


def _positions(array: Array, axis: int, find: Any) -> Array:
    """Where along an axis the extreme value is, with the axis kept: the first, or the first nan."""
    found: Array = np.expand_dims(find(array, axis), axis)
    return found


def _register_extreme(name: str, ufunc: np.ufunc, find: Any) -> None:
    both = Pointwise(ufunc)

    @op(f"{name}(Tensor input, *, {_OUT})")
    def of_all(input: Tensor) -> Tensor:
        array = input.array
        check_not_empty(name, array, None, RuntimeError)
        return wrap(quietly.run(ufunc.reduce, array, None))

    @op(f"{name}(Tensor input, Tensor other, *, {_OUT})")
    def of_two(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Any:
        return both(input, other, out)

    @op(f"{name}(Tensor input, int dim, bool keepdim = False, *, {_OUTS})")
    def along(input: Tensor, dim: int, keepdim: bool = False) -> Any:
        array = input.array
        axis = wrap_dim(dim, array.ndim)
        if not array.ndim:
            return named(name, wrap(array.copy()), wrap(np.zeros((), np.int64)))
        check_not_empty(name, array, (axis,), IndexError)
        at = _positions(array, axis, find)
        values = np.take_along_axis(array, at, axis)
        if not keepdim:
            values, at = np.squeeze(values, axis), np.squeeze(at, axis)
        return named(name, wrap(values), wrap(at))

    @op(f"a{name}(Tensor input, tuple of ints[1] dim = (), bool keepdim = False, *, {_OUT})")
    def values(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
        array = input.array
        axes = axes_of(dim, array.ndim)
        check_not_empty(f"a{name}", array, axes, RuntimeError)
        return wrap(quietly.run(ufunc.reduce, array, axes, None, None, keepdim))

    @op(f"arg{name}(Tensor input, int dim = None, bool keepdim = False, *, {_OUT})")
    def position(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        array = input.array
        axis = None if dim is None else wrap_dim(dim, array.ndim)
        if input.dtype is bool_:
            raise NotImplementedError(f"arg{name}(): does not support bool input")
        if axis is None or not array.ndim:
            check_not_empty(f"arg{name}", array, None, IndexError)
            at = np.asarray(find(array))
            return wrap(at.reshape((1,) * array.ndim) if keepdim else at)
        check_not_empty(f"arg{name}", array, (axis,), IndexError)
        return wrap(find(array, axis, keepdims=keepdim))

    which = "largest" if name == "max" else "smallest"
    for function in (of_all, of_two, along, values, position):
        function.__doc__ = f"The {which} elements, or where they are."


_register_extreme("max", np.maximum, np.argmax)
_register_extreme("min", np.minimum, np.argmin)


@op(f"aminmax(Tensor input, *, int dim = None, bool keepdim = False, {_OUTS})")
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest elements."""
    array = input.array
    axes = axes_of(dim, array.ndim)
    check_not_empty("aminmax", array, axes, RuntimeError)
    parts = [
        wrap(quietly.run(u.reduce, array, axes, None, None, keepdim))
        for u in (np.minimum, np.maximum)
    ]
    return named("aminmax", *parts)


# -- truth, and counts


def _register_truth(name: str, ufunc: np.ufunc) -> None:
    def finish(input: Tensor, axes: Shape | None, keepdim: bool) -> Tensor:
        found = np.asarray(quietly.run(ufunc.reduce, input.array, axes, np.bool_, None, keepdim))
        return wrap(found.view(np.uint8) if input.array.dtype == np.uint8 else found)

    @op(f"{name}(Tensor input, *, {_OUT})")
    def of_all(input: Tensor) -> Tensor:
        return finish(input, None, False)

    @op(f"{name}(Tensor input, tuple of ints dim = None, bool keepdim = False, *, {_OUT})")
    @op(f"{name}(Tensor input, int dim, bool keepdim = False, *, {_OUT})")
    def along(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        axes = axes_of(dim, input.array.ndim) if dim != () else ()
        return finish(input, axes, keepdim)

    for function in (of_all, along):
        function.__doc__ = f"Whether {name} of the elements are other than 0."


_register_truth("all", np.logical_and)
_register_truth("any", np.logical_or)


@op("count_nonzero(Tensor input, int dim = None)", "count_nonzero(Tensor input, tuple of ints dim)")
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements are other than 0."""
    array = input.array
    return wrap(sum_of(array != 0, axes_of(dim, array.ndim), False, np.dtype(np.int64)))


# -- sums and extreme values so far


def _register_cumulative(name: str, ufunc: np.ufunc) -> None:
    @op(f"{name}(Tensor input, int dim, *, {_DTYPE}, {_OUT})", in_place=True)
    def compute(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
        array = input.array
        axis = wrap_dim(dim, array.ndim)
        wanted = _sum_type(array, dtype)
        array = array if wanted is None else cast(array, wanted)
        if not array.ndim:
            return wrap(array.copy())
        return wrap(quietly.run(ufunc.accumulate, array, axis, wanted))

    compute.__doc__ = f"The {name[3:]}s of the elements up to each one, along a dimension."


_register_cumulative("cumsum", np.add)
_register_cumulative("cumprod", np.multiply)


def _register_running(name: str, ufunc: np.ufunc) -> None:
    @op(f"{name}(Tensor input, int dim, *, {_OUTS})")
    def compute(input: Tensor, dim: int) -> Any:
        array = input.array
        axis = wrap_dim(dim, array.ndim)
        if not array.ndim:
            return named(name, wrap(array.copy()), wrap(np.zeros((), np.int64)))
        values = ufunc.accumulate(array, axis)
        # The last place up to each one at which the value so far stood, or a nan.
        shape = [1] * array.ndim
        shape[axis] = -1
        places = np.arange(array.shape[axis]).reshape(shape)
        stands = (array == values) | np.not_equal(array, array)
        at = np.maximum.accumulate(np.where(stands, places, 0), axis)
        return named(name, wrap(values), wrap(at))

    compute.__doc__ = f"The {name[3:]}ima of the elements up to each one, and their positions."


_register_running("cummax", np.maximum)
_register_running("cummin", np.minimum)
