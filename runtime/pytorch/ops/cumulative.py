"""Sums and extreme values so far, differences of neighbours, gradients, and integrals.

PyTorch's documentation: torch, Other Operations and Pointwise Ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import bool_
from th_shell.torch.base.quiet import calmly, quietly
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, check_long, wrap_dim, wrap_dims
from th_shell.torch.calls.schema import OUT, OUTS, Kind, Out
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import (
    ALL,
    FLOATS,
    NUMBERS,
    Pointwise,
    check_types,
)
from th_shell.torch.compute.promotion import array_as, result_type, to_float
from th_shell.torch.compute.reductions import along, pair, sums_so_far, tidy
from th_shell.torch.ops.reduce import reduced, sum_of, sum_type
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast, check_out, check_single

_multiply, _subtract = Pointwise(np.multiply), Pointwise(np.subtract)
#: The type in which sums so far are computed, by the character of the elements' type.
_WIDER: dict[str, np.dtype[Any]] = {"e": np.dtype(np.float32), "f": np.dtype(np.float64)}


def _accumulate(ufunc: np.ufunc, array: Array, dim: int) -> Array:
    """Return a ufunc's values so far, computed in the next larger type, as PyTorch does."""
    row, axis = along(array, dim)
    kind = row.dtype
    if ufunc is np.add and axis == row.ndim - 1 and row.size >= LARGE:
        sums = np.empty(row.shape, kind)
        if sums_so_far(row, sums):
            return sums
    wide: np.dtype[Any] = _WIDER.get(kind.char, kind)
    if ufunc is np.multiply or kind.kind != "f":
        row = row.astype(wide, copy=False)
    else:  # PyTorch: sums begin with 0, which makes 0 of -0
        row = quietly.run(np.add, row, wide.type(0))
    result: Array = quietly.run(ufunc.accumulate, row, axis, wide)
    if result.dtype != kind:
        result = quietly.run(result.astype, kind)
    return tidy(result) if array.ndim else result.reshape(())


def _register_cumulative(name: str, ufunc: np.ufunc) -> None:
    def values(array: Array, axes: Shape | None, _: bool, sum_kind: Any) -> Array:
        if sum_kind is not None:
            array = cast(array, sum_kind)
        check_types(f"{name}_out_cpu", NUMBERS, array.dtype)
        return _accumulate(ufunc, array, axes[0] if axes else 0)

    @op(name=name, in_place=True)
    def compute(input: Tensor, dim: int, *, dtype: Kind = None, out: Out = None) -> Tensor:
        if out is input:
            kinds = "input tensor dtype {1.real} and output tensor dtype {0.real}"
            check_out(
                out, dtype or out.dtype, messages=[f"Bad in-place call: {kinds} should match"]
            )
            check_single(out.array)
        return reduced(values, input, dim, False, dtype, out)

    compute.__doc__ = f"The {name[3:]}s of the elements up to each one, along a dimension."


_register_cumulative("cumsum", np.add)
_register_cumulative("cumprod", np.multiply)


_OTHER_TYPE = ("expected scalar_type {0.scalar} but found {1.scalar}",)


@op(more=OUT, other_type=_OTHER_TYPE)
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Return the logarithms of running sums of exponentials along a dimension."""
    axis = wrap_dim(dim, input.array.ndim)
    check_types("logcumsumexp_out_cpu", FLOATS, input.array.dtype)
    return wrap(_accumulate(np.logaddexp, input.array, axis))


def _register_running(name: str, ufunc: np.ufunc) -> None:
    @op(name=name, more=OUTS, other_type=_OTHER_TYPE)
    def compute(input: Tensor, dim: int) -> Any:
        if not input.array.ndim and dim not in (0, -1):
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        array, axis = along(input.array, dim)
        check_types(f"{name}_cpu", ALL, array.dtype)
        values = quietly.run(ufunc.accumulate, array, axis)
        # The last place up to each one at which the value so far stood, or a nan.
        shape = [1] * array.ndim
        shape[axis] = -1
        places = np.arange(array.shape[axis]).reshape(shape)
        stands = (array == values) | np.not_equal(array, array)
        at = np.maximum.accumulate(np.where(stands, places, 0), axis)
        full = input.array.shape
        return pair(name, tidy(values.reshape(full)), tidy(at.reshape(full)))

    compute.__doc__ = f"The {name[3:]}ima of the elements up to each one, and their positions."


_register_running("cummax", np.maximum)
_register_running("cummin", np.minimum)


# -- differences


_MORE = "int n = 1, int dim = -1, Tensor prepend = None, Tensor append = None"


@op(f"diff(Tensor input, {_MORE}, *, {OUT})", casts=True)
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Any = None,
    append: Any = None,
) -> Tensor:
    """Return the differences of neighbours along a dimension, taken n times.

    prepend, append: what is put before and behind the elements first.
    """
    check_long(n)
    array = input.array
    require(array.ndim, "diff expects input to be at least one-dimensional")
    axis = wrap_dim(dim, array.ndim)
    for more in (prepend, append):
        if more is not None:
            _check_more(array, more.array, axis)
    require(n >= 0, "order must be non-negative but got {}", n)
    if n == 0:
        return wrap(array.copy("K"))
    parts = [x for x in (prepend, input, append) if x is not None]
    if len(parts) > 1:
        kind = result_type(*parts)
        array = np.concatenate([array_as(x, kind) for x in parts], axis)
    return wrap(_differences(array, n, axis))


def _check_more(array: Array, more: Array, axis: int) -> None:
    if array.ndim != more.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for at in range(array.ndim):
        if at != axis and array.shape[at] != more.shape[at]:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({at}) = {array.shape[at]}, "
                f"but got tensor.size({at}) = {more.shape[at]}"
            )


def _neighbours(array: Array, axis: int) -> tuple[Array, Array]:
    """Return the elements behind the first one along an axis, and those before the last one."""
    before = (slice(None),) * axis
    return array[(*before, slice(1, None))], array[(*before, slice(None, -1))]


def _differences(array: Array, n: int, axis: int) -> Array:
    ufunc = np.logical_xor if array.dtype == np.bool_ else np.subtract
    for _ in range(min(n, array.shape[axis])):
        array = quietly.run(ufunc, *_neighbours(array, axis))
    return array


# -- integrals


def _areas(name: str, y: Tensor, dim: int, x: Tensor | None, dx: Any) -> tuple[Array, int]:
    """Return twice the areas of the trapezoids between neighbours, and the axis where they lie.

    x: the sample points; None where neighbours are dx apart.
    """
    array = y.array
    text = "Dimension specified as {} but tensor has no dimensions"
    require(array.ndim, text, dim, error=IndexError)
    axis = wrap_dim(dim, array.ndim)
    if bool_ in (y.dtype, y.dtype if x is None else x.dtype):
        raise NotImplementedError(f"{name}: received a bool input, but bool is not supported")
    width = dx
    if x is not None:
        points = x.array
        if points.ndim == 1:
            no_pairs = "{}: There must be one `x` value for each sample point"
            require(len(points) == array.shape[axis], no_pairs, name)
            points = points.reshape(-1, *[1] * (array.ndim - 1 - axis))
        points = points.reshape([1] * (array.ndim - points.ndim) + list(points.shape))
        width = wrap(_differences(points, 1, axis))
    sides = quietly.run(np.add, *_neighbours(array, axis))
    return _multiply(wrap(sides), width).array, axis


def _integral(y: Tensor, dim: int, x: Tensor | None, dx: Any) -> Tensor:
    areas, axis = _areas("trapezoid", y, dim, x, dx)
    total = sum_of(areas, (axis,), False, sum_type(areas, None))
    return _multiply(wrap(total), 0.5)


def _cumulative(y: Tensor, dim: int, x: Tensor | None, dx: Any) -> Tensor:
    areas, axis = _areas("cumulative_trapezoid", y, dim, x, dx)
    kind = sum_type(areas, None)
    sums = areas if kind is None else cast(areas, kind)
    return _multiply(wrap(_accumulate(np.add, sums, axis)), 0.5)


def _register_integral(name: str, integral: Callable[..., Tensor], what: str, *forms: str) -> None:
    @op(*[f"{name}(Tensor y, {form}, int dim = -1)" for form in forms])
    def compute(y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
        return integral(y, dim, x, dx)

    compute.__doc__ = f"The integrals {what} by trapezoids, of samples at x or dx apart."


_AT, _APART = "Tensor x, *", "*, Number dx = 1"
_register_integral("trapz", _integral, "along a dimension", "*, float dx = 1", _AT)
_register_integral("trapezoid", _integral, "along a dimension", _AT, _APART)
_register_integral("cumulative_trapezoid", _cumulative, "up to each sample", _AT, _APART)


@op(
    "gradient(Tensor input, *, tuple of ints dim, int edge_order = 1)",
    "gradient(Tensor input, *, Number spacing, tuple of ints dim, int edge_order = 1)",
    "gradient(Tensor input, *, Number spacing = None, int dim = None, int edge_order = 1)",
    "gradient(Tensor input, *, tuple of Scalars spacing, int dim = None, int edge_order = 1)",
    "gradient(Tensor input, *, tuple of Scalars spacing, tuple of ints dim, int edge_order = 1)",
    "gradient(Tensor input, *, tuple of Tensors spacing, int dim = None, int edge_order = 1)",
    "gradient(Tensor input, *, tuple of Tensors spacing, tuple of ints dim, int edge_order = 1)",
    method=False,
)
def gradient(
    input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Return the derivatives along dimensions: central differences, one-sided at the ends.

    spacing: the distance of neighbours, or the coordinates, one for all dimensions or one for each.
    """
    array = input.array
    if dim is None:
        dims: Shape = tuple(range(array.ndim))
    else:
        dims = wrap_dims((dim,) if isinstance(dim, int) else dim, array.ndim)
    require(array.ndim or not dims, "torch.gradient: tensor has no dimensions", error=IndexError)
    spacings = spacing if isinstance(spacing, tuple) else [spacing] * len(dims)
    require(edge_order in (1, 2), "torch.gradient only supports edge_order=1 and edge_order=2.")
    one_each = "torch.gradient expected spacing to be a number, or a list of length {}"
    require(len(spacings) == len(dims), one_each, len(dims))
    for axis in dims:
        if array.shape[axis] < edge_order + 1:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )
    wide = array.astype(to_float(input.dtype).numpy)
    pairs = zip(spacings, dims, strict=True)
    return tuple([wrap(calmly(_derivative, wide, step, axis, edge_order)) for step, axis in pairs])


def _derivative(array: Array, spacing: Any, axis: int, edge_order: int) -> Any:
    if isinstance(spacing, Tensor):
        step: Any = spacing.array.astype(array.dtype)
        text = "torch.gradient: dimension {} needs {} coordinates"
        require(step.shape == (array.shape[axis],), text, axis, array.shape[axis])
    else:
        step = np.float64(1 if spacing is None else spacing)  # by which 0 may be divided
    compute: Any = np.gradient
    return compute(array, step, axis=axis, edge_order=edge_order).astype(array.dtype)
