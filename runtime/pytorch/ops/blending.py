"""Functions of three operands: clamp, lerp, addcmul. PyTorch's documentation: Pointwise Ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from runtime.pytorch.base.dtypes import Category, dtype
from runtime.pytorch.base.quiet import quietly
from runtime.pytorch.base.shapes import broadcast
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import Number, Out, TensorOrNumber
from runtime.pytorch.compute import formulas
from runtime.pytorch.compute.elementwise import ALL, FLOATS, NUMBERS, Pointwise, check_types
from runtime.pytorch.compute.promotion import result_type
from runtime.pytorch.ops.creation import fill_number
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import cast, check_single

# -- clamp


def _bounded(a: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(a, low), high)


_BOUNDS: dict[tuple[bool, bool], Callable[..., Any]] = {
    (True, True): _bounded,
    (True, False): np.maximum,
    (False, True): np.minimum,
}
_BETWEEN = {
    which: Pointwise(compute, kernel="clamp_cpu", takes=ALL) for which, compute in _BOUNDS.items()
}


def _clamp_to_numbers(kernel: str, input: Tensor, low: Any, high: Any, out: Out) -> Any:
    kind = result_type(input, *[bound for bound in (low, high) if bound is not None])
    if out is not None:
        _check_result(input, kind, out)
    check_types(kernel, NUMBERS, kind.numpy)
    low, high = _bound("min", low, kind), _bound("max", high, kind)
    array = input.array
    found = input if array.dtype is kind.numpy else wrap(cast(array, kind.numpy))
    bounded = Pointwise(lambda a: _between(a, low, high), keeps_half=True)
    return bounded.general((found,), out)


def _between(array: Any, low: Any, high: Any) -> Any:
    if low is None:
        return np.array(array) if high is None else np.minimum(array, high)
    found = np.maximum(array, low)
    if high is None:
        return found
    return np.minimum(found, high, out=found) if found.ndim else np.minimum(found, high)


_LARGER, _SMALLER = Pointwise(np.maximum), Pointwise(np.minimum)


def _bound(name: str, bound: Any, kind: dtype) -> Any:
    """A bound as a number of the type; None where no element is beyond it."""
    if bound is None:
        return None
    if kind.category is not Category.INTEGER:
        found = quietly.run(kind.numpy.type, bound)
        return fill_number(bound, kind) if found in _INFINITIES else found
    limits = np.iinfo(kind.numpy)
    is_low = name == "min"
    if bound > limits.max if is_low else bound < limits.min:
        raise RuntimeError(
            f"Clamp {name} value {bound} is outside the representable range of {kind.scalar}"
        )
    is_idle = bound < limits.min if is_low else bound > limits.max
    return None if is_idle else kind.numpy.type(bound)


_INFINITIES = (np.inf, -np.inf)


def _check_result(input: Tensor, kind: dtype, out: Tensor) -> None:
    if out is not input:
        if out.dtype is not kind:
            raise RuntimeError(f"Found dtype {out.dtype.scalar} but expected {kind.scalar}")
        return
    check_single(out.array)
    if kind.category > out.dtype.category:
        raise RuntimeError(
            f"result type {kind.scalar} can't be cast to the desired output type {out.dtype.real}"
        )


@op(name="clamp clip", in_place=True)
def clamp(
    input: Tensor, min: TensorOrNumber = None, max: TensorOrNumber = None, *, out: Out = None
) -> Any:
    """Each element, or the bound that it is beyond; nans stay."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    bounds = [bound for bound in (min, max) if bound is not None]
    if isinstance(bounds[0], Tensor):
        return _BETWEEN[min is not None, max is not None].general((input, *bounds), out)
    which = "_max" if min is None else "_min" if max is None else ""
    return _clamp_to_numbers(f"clamp{which}_scalar_cpu", input, min, max, out)


@op(in_place=True)
def clamp_min(input: Tensor, min: TensorOrNumber, *, out: Out = None) -> Any:
    """Each element, or the bound where that is larger."""
    if isinstance(min, Tensor):
        return _LARGER(input, min, out)
    return _clamp_to_numbers("clamp_min_scalar_cpu", input, min, None, out)


@op(in_place=True)
def clamp_max(input: Tensor, max: TensorOrNumber, *, out: Out = None) -> Any:
    """Each element, or the bound where that is smaller."""
    if isinstance(max, Tensor):
        return _SMALLER(input, max, out)
    return _clamp_to_numbers("clamp_max_scalar_cpu", input, None, max, out)


# -- lerp


@op(in_place=True)
def lerp(input: Tensor, end: Tensor, weight: TensorOrNumber, *, out: Out = None) -> Any:
    """``input + weight * (end - input)``. Raises RuntimeError for elements of several types."""
    if input.dtype is not end.dtype:
        raise RuntimeError(
            f"expected dtype {input.dtype.real} for `end` but got dtype {end.dtype.real}"
        )
    sizes = [input.sizes, end.sizes]
    if isinstance(weight, Tensor):
        if weight.array.ndim and weight.dtype is not input.dtype:
            raise RuntimeError(
                f"expected dtype {input.dtype.real} for `weight` but got dtype {weight.dtype.real}"
            )
        sizes.append(weight.sizes)
    reduce(broadcast, sizes)
    which = "tensor" if isinstance(weight, Tensor) else "scalar"
    check_types(f"lerp_kernel_{which}", FLOATS, input.dtype.numpy)
    return _LERP.general((input, end, weight), out)


_LERP = Pointwise(formulas.lerp, wide=True)


# -- sums with products and quotients


_OLD = "(Tensor input, Number value, Tensor tensor1, Tensor tensor2)"


def _add_scaled(name: str, sign: str, scaled: Callable[..., Any]) -> None:
    @op(name=name, in_place=True)
    def add_scaled(
        input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Out = None
    ) -> Any:
        if name == "addcdiv":
            _check_division(tensor1, tensor2)
        reduce(broadcast, [x.sizes for x in (input, tensor1, tensor2)])
        kind = result_type(input, tensor1, tensor2)
        factor = fill_number(value, kind).item() if kind.category is Category.INTEGER else value
        compute = Pointwise(
            lambda a, b, c: scaled(a, b, c, a.dtype.type(factor)),
            kernel=f"{name}_cpu_out",
            takes=NUMBERS,
        )
        return compute.general((input, tensor1, tensor2), out)

    add_scaled.__doc__ = f"``input + value * tensor1 {sign} tensor2``."

    @op(name + _OLD, in_place=True, hidden=True)
    def old_order(
        input: Tensor, value: Any, tensor1: Tensor, tensor2: Tensor, *, out: Out = None
    ) -> Any:
        return add_scaled(input, tensor1, tensor2, value=value, out=out)

    old_order.__doc__ = f"`{name}` with its arguments in the order of old programs."


def _check_division(a: Tensor, b: Tensor) -> None:
    if result_type(a, b).category < Category.FLOAT:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2)).to("
            "input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for float "
            "inputs. The future addcdiv behavior is just the latter implementation: (input + value "
            "* tensor1 / tensor2), for all dtypes."
        )


_add_scaled("addcmul", "*", lambda a, b, c, value: a + value * b * c)
_add_scaled("addcdiv", "/", lambda a, b, c, value: a + value * b / c)
