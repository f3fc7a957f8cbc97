"""Functions of one element. PyTorch's documentation: torch, Pointwise Ops.

scipy computes lgamma, erf and the like: it is imported when one of them is called first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.torch.base.dtypes import bool_, int64
from th_shell.torch.base.shapes import check_long
from th_shell.torch.calls.schema import OUT, Out
from th_shell.torch.calls.table import op, with_quick_call
from th_shell.torch.compute import formulas
from th_shell.torch.compute.elementwise import ALL, FLOATS, NUMBERS, Pointwise, called
from th_shell.torch.compute.formulas import EXACT
from th_shell.torch.compute.promotion import to_float
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import delivered


def unary(
    names: str, function: Pointwise, doc: str = "", *, out: bool = True, in_place: bool = True
) -> None:
    """Register a function of one element under its names. out: whether it has that parameter."""

    values = called(function)

    def compute(input: Tensor, *, out: Out = None) -> Tensor:
        return values(input, None, out)

    def compute_new(input: Tensor) -> Tensor:
        return values(input)

    with_quick_call(compute, values)
    with_quick_call(compute_new, values)
    compute.__doc__ = compute_new.__doc__ = doc or f"Return {names.split()[0]} of each element."
    op(name=names, in_place=in_place)(compute if out else compute_new)


# -- functions with values that are no whole numbers

#: The functions that numpy has under the same names.
_SAME = "cos cosh exp exp2 expm1 log log10 log1p log2 reciprocal sin sinh sqrt tan tanh"
_FRACTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in _SAME.split()},
    **{f"a{n} arc{n}": getattr(np, f"arc{n}") for n in "cos cosh sin sinh tan tanh".split()},
    "sigmoid": formulas.sigmoid,
    "sinc": formulas.sinc,
}
for _names, _compute in _FRACTIONS.items():
    _many: Any = None
    if isinstance(_compute, np.ufunc) and _compute in EXACT:
        _compute, _many = EXACT[_compute], _compute
    unary(_names, Pointwise(_compute, FLOATS, rule=to_float, many=_many))


_multiply = Pointwise(np.multiply)
for _name, _factor in (("deg2rad", math.pi / 180), ("rad2deg", 180 / math.pi)):

    @op(f"{_name}(Tensor input, *, {OUT})", in_place=True)
    def convert(input: Tensor, *, factor: float = _factor, out: Out = None) -> Tensor:
        """Return an angle in degrees as radians, or the other way round."""
        return _multiply(input, factor, out)


unary("rsqrt", Pointwise(formulas.rsqrt, FLOATS, rule=to_float))


# -- functions with values of the elements' type


for _names, _ufunc in {
    "ceil": np.ceil,
    "floor": np.floor,
    "round": np.rint,
    "trunc fix": np.trunc,
}.items():
    _kernel = f"{_names.split()[0]}_vml_cpu"
    _rounding = Pointwise(_ufunc, FLOATS, kernel=_kernel, takes=NUMBERS, whole=np.array)
    unary(_names, _rounding)


@op(name="round", in_place=True)
def round_to(input: Tensor, *, decimals: int, out: Out = None) -> Tensor:
    """Return elements rounded to decimals behind the point, or before it."""
    kernel = "round_cpu" if decimals else "round_vml_cpu"
    check_long(decimals)
    rounded = Pointwise(lambda a: formulas.round_decimals(a, decimals), FLOATS, kernel=kernel)
    return rounded(input, None, out)


def _reject_bool(message: str) -> Callable[..., None]:
    def check(input: Tensor) -> None:
        if input.dtype is bool_:
            raise NotImplementedError(message)

    return check


absolute = Pointwise(np.absolute, NUMBERS, kernel="abs_cpu")
unary("abs absolute", absolute)
unary("frac", Pointwise(formulas.frac, FLOATS, kernel="frac_cpu"))
for _name in ("sign", "sgn"):
    unary(_name, Pointwise(formulas.sign, kernel="sign_cpu"))
_NEGATIVE = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
    "mask, use the `~` or `logical_not()` operator instead."
)
negative = Pointwise(np.negative, NUMBERS, check=_reject_bool(_NEGATIVE), kernel="neg_cpu")


unary("neg negative", negative)
_no_bools = _reject_bool("Boolean inputs not supported for relu")
unary("relu", Pointwise(formulas.relu, NUMBERS, check=_no_bools), out=False)


_square = Pointwise(np.square, NUMBERS, lambda kind: int64 if kind is bool_ else kind, kernel="pow")
unary("square", _square)
inverse = Pointwise(np.invert, ALL - FLOATS, kernel="bitwise_not_cpu")
unary("bitwise_not", inverse)
unary("logical_not", Pointwise(np.logical_not, result=bool_, kernel="logical_not_cpu"))


@op()
def positive(input: Tensor) -> Tensor:
    """Return the tensor itself. Raises NotImplementedError for bools."""
    if input.dtype is bool_:
        raise NotImplementedError("The `+` operator, on a bool tensor is not supported.")
    return input


# -- what kind of number an element is


def _test(name: str, compute: Callable[..., Any], out: bool = False) -> None:
    doc = f"Whether {name.removeprefix('is')} is true of each element."
    unary(name, Pointwise(compute, result=bool_), doc, out=out, in_place=False)


for _name, _ufunc in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)):
    _test(_name, _ufunc)


_test("isposinf", lambda a: a == np.inf, out=True)
_test("isneginf", lambda a: a == -np.inf, out=True)
_signbit = Pointwise(np.signbit, result=bool_, whole=lambda a: np.less(a, 0))
unary("signbit", _signbit, in_place=False)


# -- functions with more parameters


@op(in_place=True)
def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Out = None,
) -> Tensor:
    """Return the elements with nans and infinities replaced.

    By default by 0 and the type's limits.
    """
    numbers = np.nan_to_num(input.array, nan=nan or 0, posinf=posinf, neginf=neginf)
    return delivered(wrap(numbers), out, input)


def _scipy(name: str) -> Callable[..., Any]:
    """Return a function of scipy.special, which is imported when it is called."""

    def compute(*args: Any) -> Any:
        import scipy.special

        return getattr(scipy.special, name)(*args)

    return compute


def _digamma(a: Any) -> Any:
    # PyTorch: -inf at 0, inf at -0.
    return np.where(a == 0, np.copysign(a.dtype.type(np.inf), -a), _scipy("psi")(a))


def _lgamma(a: Any) -> Any:
    return np.where(a == -np.inf, a.dtype.type(np.inf), _scipy("gammaln")(a))


_SPECIAL: dict[str, Callable[..., Any]] = {
    "lgamma": _lgamma,
    "digamma": _digamma,
    **{name: _scipy(name) for name in ("erf", "erfc", "erfinv")},
}
for _name, _compute in _SPECIAL.items():
    unary(_name, Pointwise(_compute, FLOATS, rule=to_float))
