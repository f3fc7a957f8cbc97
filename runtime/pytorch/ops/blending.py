"""Functions of three operands: clamp, lerp, addcmul. PyTorch's documentation: Pointwise Ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.pytorch import formulas
from runtime.pytorch.dtypes import Category, bool_
from runtime.pytorch.elementwise import FLOATS, NUMBERS, Pointwise
from runtime.pytorch.promotion import array_as, result_type
from runtime.pytorch.table import op
from runtime.pytorch.tensor import Tensor

__all__: list[str] = []

_OUT = "Tensor out = None"


# -- clamp


def _bounded(a: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(a, low), high)


_CLAMPS = {
    (True, True): _bounded,
    (True, False): np.maximum,
    (False, True): np.minimum,
}


def _clamp(input: Tensor, low: Any, high: Any, out: Tensor | None) -> Any:
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    kernel = (
        "clamp_cpu" if isinstance(low, Tensor) or isinstance(high, Tensor) else "clamp_scalar_cpu"
    )
    takes = NUMBERS if kernel == "clamp_scalar_cpu" else NUMBERS
    compute = Pointwise(_CLAMPS[low is not None, high is not None], kernel=kernel, takes=takes)
    bounds = [bound for bound in (low, high) if bound is not None]
    if out is not None:
        _check_result(input, bounds, out)
    return compute.general((input, *bounds), out)


def _check_result(input: Tensor, bounds: list[Any], out: Tensor) -> None:
    result = result_type(input, *bounds)
    if result.category > out.dtype.category:
        raise RuntimeError(
            f"result type {result.scalar} can't be cast to the desired output type {out.dtype.real}"
        )


for _name in ("clamp", "clip"):

    @op(
        f"{_name}(Tensor input, Tensor min = None, Tensor max = None, *, {_OUT})",
        f"{_name}(Tensor input, Number min = None, Number max = None, *, {_OUT})",
        in_place=True,
        numbers=True,
    )
    def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Any:
        """Each element, or the bound that it is beyond; nans stay."""
        return _clamp(input, min, max, out)


@op(
    f"clamp_min(Tensor input, Tensor min, *, {_OUT})",
    f"clamp_min(Tensor input, Number min, *, {_OUT})",
    in_place=True,
)
def clamp_min(input: Tensor, min: Any, *, out: Tensor | None = None) -> Any:
    """Each element, or the bound where that is larger."""
    return Pointwise(np.maximum).general((input, min), out)


@op(
    f"clamp_max(Tensor input, Tensor max, *, {_OUT})",
    f"clamp_max(Tensor input, Number max, *, {_OUT})",
    in_place=True,
)
def clamp_max(input: Tensor, max: Any, *, out: Tensor | None = None) -> Any:
    """Each element, or the bound where that is smaller."""
    return Pointwise(np.minimum).general((input, max), out)


# -- lerp


@op(
    f"lerp(Tensor input, Tensor end, Tensor weight, *, {_OUT})",
    f"lerp(Tensor input, Tensor end, Number weight, *, {_OUT})",
    in_place=True,
)
def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Tensor | None = None) -> Any:
    """``input + weight * (end - input)``. Raises RuntimeError for elements of several types."""
    if input.dtype is not end.dtype:
        raise RuntimeError(
            f"expected dtype {input.dtype.real} for `end` but got dtype {end.dtype.real}"
        )
    if isinstance(weight, Tensor):
        if weight.array.ndim and weight.dtype is not input.dtype:
            raise RuntimeError(
                f"expected dtype {input.dtype.real} for `weight` but got dtype {weight.dtype.real}"
            )
        kernel = "lerp_kernel_tensor"
    else:
        kernel = "lerp_kernel_scalar"
    return Pointwise(formulas.lerp, kernel=kernel, takes=FLOATS).general((input, end, weight), out)


# -- sums with products and quotients


def _add_scaled(name: str, compute: Any, kernel: str) -> None:
    @op(
        f"{name}(Tensor input, Tensor tensor1, Tensor tensor2, *, Number value = 1, {_OUT})",
        in_place=True,
    )
    def add_scaled(
        input: Tensor,
        tensor1: Tensor,
        tensor2: Tensor,
        *,
        value: Any = 1,
        out: Tensor | None = None,
    ) -> Any:
        if name == "addcdiv":
            _check_division(tensor1, tensor2)
        kind = result_type(input, tensor1, tensor2)
        if kind.category is Category.FLOAT or kind is bool_:
            factor = value
        else:
            factor = array_as(value, kind).item()
        scaled = Pointwise(
            lambda a, b, c: compute(a, b, c, a.dtype.type(factor)), kernel=kernel, takes=NUMBERS
        )
        return scaled.general((input, tensor1, tensor2), out)

    add_scaled.__doc__ = f"``input + value * tensor1 {'*' if name == 'addcmul' else '/'} tensor2``."

    @op(
        f"{name}(Tensor input, Number value, Tensor tensor1, Tensor tensor2)",
        in_place=True,
        hidden=True,
    )
    def old_order(
        input: Tensor, value: Any, tensor1: Tensor, tensor2: Tensor, *, out: Tensor | None = None
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


_add_scaled("addcmul", lambda a, b, c, value: a + value * b * c, "addcmul_cpu_out")
_add_scaled("addcdiv", lambda a, b, c, value: a + value * b / c, "addcdiv_cpu_out")
