"""Functions of two or three operands, element by element; and how they are registered.

PyTorch's documentation: torch, Pointwise Ops and Comparison Ops.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.torch.base.dtypes import Category, bool_, dtype
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import broadcast
from th_shell.torch.calls.schema import OUT, Number, Out, TensorOrNumber
from th_shell.torch.calls.table import op, with_quick_call
from th_shell.torch.compute import formulas
from th_shell.torch.compute.elementwise import (
    ALL,
    BITWISE,
    FLOATS,
    NUMBERS,
    WHOLE,
    Pointwise,
    called,
    check_types,
)
from th_shell.torch.compute.promotion import result_type, to_float
from th_shell.torch.ops.creation import check_factor, fill_number
from th_shell.torch.tensors.layouts import canonical
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast

#: The forms that functions of two operands have; their own names stand before.
TENSORS = f"(Tensor input, Tensor other, *, {OUT})"
NUMBER = f"(Tensor input, Number other, *, {OUT})"
NUMBER_ALONE = "(Tensor input, Number other)"
OF_NUMBER = f"(Number self, Tensor other, *, {OUT})"
OF_NUMBER_ALONE = "(Number self, Tensor other)"


def binary(
    names: str,
    function: Callable[..., Tensor],
    *forms: str,
    doc: str = "",
    in_place: bool = True,
    numbers: bool = False,
) -> None:
    """Register a function of two operands under its names, by default for two tensors."""
    values = called(function)

    def compute(first: Any, second: Any, *, out: Out = None) -> Tensor:
        return values(first, second, out)

    name = names.split()[0]
    with_quick_call(compute, values)
    compute.__doc__ = doc or f"Compute {name} of two elements."
    for name in names.split():
        for form in forms or (TENSORS,):
            changes = in_place and form.startswith("(Tensor")
            op(name + form, in_place=changes, numbers=numbers)(compute)


for _name, _what, _compute in (
    ("maximum", "maximum of two elements; nan where one is.", np.maximum),
    ("minimum", "minimum of two elements; nan where one is.", np.minimum),
    ("fmax", "maximum of two elements; the other one where one is nan.", np.fmax),
    ("fmin", "minimum of two elements; the other one where one is nan.", np.fmin),
):
    binary(_name, Pointwise(_compute), in_place=False, doc=f"Return the {_what}")
binary("atan2 arctan2", Pointwise(np.arctan2, FLOATS, rule=to_float))
binary("copysign", Pointwise(np.copysign, FLOATS, rule=to_float), TENSORS, NUMBER)
binary("hypot", Pointwise(np.hypot, FLOATS, kernel="hypot_cpu"))
binary("gcd", Pointwise(np.gcd, WHOLE, kernel="gcd_cpu"))
binary("lcm", Pointwise(formulas.lcm, WHOLE, kernel="lcm_cpu"))


# -- comparisons


_UFUNCS = {
    "eq": ("equal", np.equal),
    "ne": ("not_equal", np.not_equal),
    "lt": ("less", np.less),
    "le": ("less_equal", np.less_equal),
    "gt": ("greater", np.greater),
    "ge": ("greater_equal", np.greater_equal),
}
#: The comparisons by the names of their operators.
COMPARISONS = {
    name: Pointwise(ufunc, result=bool_, kernel=f"{name}_cpu", takes=ALL)
    for name, (_, ufunc) in _UFUNCS.items()
}
for _short, (_long, _) in _UFUNCS.items():
    _doc = f"Whether {_long.replace('_', ' ')} is true of each pair of elements."
    _names = _short if _short == "eq" else f"{_short} {_long}"
    binary(_names, COMPARISONS[_short], TENSORS, NUMBER, doc=_doc)


@op()
def equal(input: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors have the same sizes and equal elements."""
    a, b = input.array, other.array
    return a.shape == b.shape and bool((a == b).all())


# -- nearly the same


def _check_tolerances(input: Tensor, reference: Tensor, rtol: float, atol: float) -> None:
    if input.dtype is not reference.dtype:
        raise RuntimeError(f"{input.dtype.scalar} did not match {reference.dtype.scalar}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        require(value >= 0, "{} must be greater than or equal to zero, but got {:g}", name, value)


@op()
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Tell whether elements differ by no more than atol + rtol * abs(other)."""
    _check_tolerances(input, other, rtol, atol)
    close = Pointwise(lambda a, b: formulas.isclose(a, b, rtol, atol, equal_nan), result=bool_)
    is_close: Tensor = close(input, other)
    return is_close


@op()
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Tell whether all elements differ by no more than atol + rtol * abs(other)."""
    return bool(isclose(input, other, rtol, atol, equal_nan).array.all())


# -- logic

for _name in ("logical_and", "logical_or", "logical_xor"):
    _doc = f"The {_name.replace('_', ' ')} of two elements, of which 0 is false."
    _function = Pointwise(getattr(np, _name), result=bool_, kernel=f"{_name}_cpu")
    binary(_name, _function, doc=_doc)


# -- bits of whole numbers, and of bools


#: The functions of bits by the names of their operators.
BITS = {
    "and": Pointwise(np.bitwise_and, BITWISE, kernel="bitwise_and_cpu"),
    "or": Pointwise(np.bitwise_or, BITWISE, kernel="bitwise_or_cpu"),
    "xor": Pointwise(np.bitwise_xor, BITWISE, kernel="bitwise_xor_cpu"),
    "lshift": Pointwise(formulas.left_shift, WHOLE, kernel="lshift_cpu"),
    "rshift": Pointwise(formulas.right_shift, WHOLE, kernel="rshift_cpu"),
}
_NAMES = {"lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}
for _name, _function in BITS.items():
    _name = _NAMES.get(_name, f"bitwise_{_name}")
    _doc = f"The function {_name} of the bits of two whole numbers, or of bools."
    binary(_name, _function, TENSORS, OF_NUMBER_ALONE, NUMBER, doc=_doc)


# -- clamp


#: Bounds up to this one are numbers of each type that has 32 bits or more.
_FITS = 2.0**53


_BETWEEN = {
    (True, True): Pointwise(formulas.clip, kernel="clamp_cpu"),
    (True, False): Pointwise(np.maximum, kernel="clamp_cpu"),
    (False, True): Pointwise(np.minimum, kernel="clamp_cpu"),
}


def _clamp_to_numbers(kernel: str, input: Tensor, low: Any, high: Any, out: Out) -> Tensor:
    kind, array = input.dtype, input.array
    if array.dtype.kind != "f":
        kind = result_type(input, *[bound for bound in (low, high) if bound is not None])
        check_types(kernel, NUMBERS, kind.numpy)
    low, high = _bound("min", low, kind), _bound("max", high, kind)
    tensor = input if array.dtype is kind.numpy else wrap(cast(array, kind.numpy))
    return _BETWEEN[True, True].general((tensor, low, high), out)


def _bound(name: str, bound: Any, kind: dtype) -> Any:
    """Return a bound as a number of the type: its least or largest one, where none is given."""
    is_low = name == "min"
    if kind.category is not Category.INTEGER:
        none = -math.inf if is_low else math.inf
        return none if bound is None else fill_number(bound, kind).item()
    limits = np.iinfo(kind.numpy)
    if bound is None:
        return limits.min if is_low else limits.max
    if bound > limits.max if is_low else bound < limits.min:
        raise RuntimeError(
            f"Clamp {name} value {bound} is outside the representable range of {kind.scalar}"
        )
    return min(max(int(bound), limits.min), limits.max)


@op(name="clamp clip", in_place=True)
def clamp(
    input: Tensor, min: TensorOrNumber = None, max: TensorOrNumber = None, *, out: Out = None
) -> Tensor:
    """Return each element, or the bound that it is beyond; nans stay."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if out is None and min.__class__ is max.__class__ is float:
        x = input.array
        is_plain = -_FITS < min < _FITS and -_FITS < max < _FITS
        if is_plain and x.dtype.char in "fd" and 0 < x.size < LARGE and x.ndim:
            return wrap(canonical(quietly.run(formulas.clip, x, min, max)))
    bounds = [bound for bound in (min, max) if bound is not None]
    if isinstance(bounds[0], Tensor):
        return _BETWEEN[min is not None, max is not None].general((input, *bounds), out)
    which = "_max" if min is None else "_min" if max is None else ""
    return _clamp_to_numbers(f"clamp{which}_scalar_cpu", input, min, max, out)


@op(in_place=True)
def clamp_min(input: Tensor, min: TensorOrNumber, *, out: Out = None) -> Tensor:
    """Return each element, or the bound where that is larger."""
    return clamp(input, min, None, out=out)


@op(in_place=True)
def clamp_max(input: Tensor, max: TensorOrNumber, *, out: Out = None) -> Tensor:
    """Return each element, or the bound where that is smaller."""
    return clamp(input, None, max, out=out)


# -- lerp


@op(in_place=True)
def lerp(input: Tensor, end: Tensor, weight: TensorOrNumber, *, out: Out = None) -> Tensor:
    """Return ``input + weight * (end - input)``. Raises RuntimeError for several types."""
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
    if which == "scalar":
        check_factor(weight, input.dtype)
    return _LERP.general((input, end, weight), out)


_LERP = Pointwise(formulas.lerp)


# -- sums with products and quotients


def _add_scaled(name: str, sign: str, scaled: Callable[..., Any]) -> None:
    @op(name=name, in_place=True)
    def add_scaled(
        input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Out = None
    ) -> Tensor:
        if name == "addcdiv":
            _check_division(tensor1, tensor2)
        reduce(broadcast, [x.sizes for x in (input, tensor1, tensor2)])
        kind = result_type(input, tensor1, tensor2)
        factor = check_factor(value, kind)
        compute = Pointwise(
            lambda a, b, c: scaled(a, b, c, a.dtype.type(factor)),
            kernel=f"{name}_cpu_out",
            takes=NUMBERS,
        )
        return compute.general((input, tensor1, tensor2), out)

    add_scaled.__doc__ = f"``input + value * tensor1 {sign} tensor2``."


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
