"""Functions of one element. PyTorch's documentation: torch, Pointwise Ops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.pytorch.base.dtypes import bool_, dtype, int64
from runtime.pytorch.base.results import RESULTS
from runtime.pytorch.calls.schema import OUT, OUTS, Out
from runtime.pytorch.calls.table import op
from runtime.pytorch.compute import formulas
from runtime.pytorch.compute.elementwise import ALL, FLOATS, NOT_BOOL, NUMBERS, Pointwise
from runtime.pytorch.compute.formulas import EXACT
from runtime.pytorch.compute.promotion import to_float
from runtime.pytorch.ops.creation import ones_like
from runtime.pytorch.tensors.layouts import empty_like_array
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import check_out


def unary(
    names: str,
    function: Pointwise,
    doc: str = "",
    *,
    out: bool = True,
    in_place: bool = True,
    check: Callable[[str, Tensor, Out], None] | None = None,
) -> None:
    """Register a function of one element under its names. out: whether it has that parameter.

    check: raises an error for a tensor of `out=` that is none for the function and its input.
    """

    def compute(input: Tensor, *, out: Out = None) -> Any:
        if out is not None and check is not None:
            check(names, input, out)
        return function(input, None, out)

    def compute_new(input: Tensor) -> Any:
        return function(input)

    compute.__doc__ = compute_new.__doc__ = (
        doc or f"The function {names.split()[0].removeprefix('special_')} of each element."
    )
    op(name=names, in_place=in_place)(compute if out else compute_new)


def _same_type(_: str, input: Tensor, out: Out) -> None:
    check_out(out, input.dtype, message="Found dtype {1.scalar} but expected {0.scalar}")


def _truth(name: str, _: Tensor, out: Out) -> None:
    check_out(out, bool_, message=f"{name} does not support non-boolean outputs.")


# -- functions with values that are no whole numbers

#: The functions that numpy has under the same names.
_SAME = "cos cosh exp log log10 log2 reciprocal sin sinh sqrt tan tanh"
_FRACTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in _SAME.split()},
    **{f"{name} special_{name}": getattr(np, name) for name in ("exp2", "expm1", "log1p")},
    **{f"a{n} arc{n}": getattr(np, f"arc{n}") for n in "cos cosh sin sinh tan tanh".split()},
    "sigmoid special_expit": formulas.sigmoid,
    "sinc special_sinc": formulas.sinc,
}
for _names, _compute in _FRACTIONS.items():
    _many: Any = None
    if isinstance(_compute, np.ufunc) and _compute in EXACT:
        _compute, _many = EXACT[_compute], _compute
    unary(_names, Pointwise(_compute, FLOATS, rule=to_float, many=_many))


_multiply = Pointwise(np.multiply, wide=True)
for _name, _factor in (("deg2rad", math.pi / 180), ("rad2deg", 180 / math.pi)):

    @op(f"{_name}(Tensor input, *, {OUT})", in_place=True)
    def convert(input: Tensor, *, factor: float = _factor, out: Out = None) -> Any:
        """An angle in degrees as radians, or the other way round."""
        return _multiply(input, factor, out)


unary("rsqrt", Pointwise(formulas.rsqrt, FLOATS, rule=to_float, keeps_half=True))


def _angle(a: Any) -> Any:
    return np.where(np.isnan(a), a, np.where(a < 0, a.dtype.type(np.pi), a.dtype.type(0)))


unary("angle", Pointwise(_angle, FLOATS, rule=to_float), in_place=False)


# -- functions with values of the elements' type


def _copy(a: Any) -> Any:
    return np.array(a)


for _names, _ufunc in {
    "ceil": np.ceil,
    "floor": np.floor,
    "round special_round": np.rint,
    "trunc fix": np.trunc,
}.items():
    _kernel = f"{_names.split()[0]}_vml_cpu"
    _rounding = Pointwise(_ufunc, FLOATS, kernel=_kernel, takes=NOT_BOOL, whole=_copy)
    unary(_names, _rounding, check=_same_type)


@op(name="round special_round", in_place=True)
def round_to(input: Tensor, *, decimals: int, out: Out = None) -> Any:
    """Each element rounded to so many digits behind the point; before it if there are fewer."""
    kernel = "round_cpu" if decimals else "round_vml_cpu"
    rounded = Pointwise(
        lambda a: formulas.round_decimals(a, decimals), FLOATS, kernel=kernel, takes=FLOATS
    )
    return rounded(input, None, out)


def _reject_bool(message: str) -> Callable[..., None]:
    def check(input: Tensor) -> None:
        if input.dtype is bool_:
            raise NotImplementedError(message)

    return check


absolute = Pointwise(np.absolute, NUMBERS, kernel="abs_cpu", takes=NUMBERS)
unary("abs absolute", absolute, check=_same_type)
_fraction = Pointwise(formulas.frac, FLOATS, kernel="frac_cpu", takes=FLOATS)
unary("frac", _fraction, check=_same_type)
unary("sign", Pointwise(formulas.sign, kernel="sign_cpu", takes=ALL), check=_same_type)
unary("sgn", Pointwise(formulas.sgn, kernel="sign_cpu", takes=ALL), check=_same_type)
_NEGATIVE = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
    "mask, use the `~` or `logical_not()` operator instead."
)
negative = Pointwise(
    np.negative, NUMBERS, check=_reject_bool(_NEGATIVE), kernel="neg_cpu", takes=NUMBERS
)


def _negative_type(name: str, input: Tensor, out: Out) -> None:
    if input.dtype is not bool_:
        _same_type(name, input, out)


unary("neg negative", negative, check=_negative_type)
unary(
    "relu",
    Pointwise(formulas.relu, NUMBERS, check=_reject_bool("Boolean inputs not supported for relu")),
    out=False,
)


def _square_type(kind: dtype) -> dtype:
    return int64 if kind is bool_ else kind


unary("square", Pointwise(np.square, NUMBERS, _square_type, kernel="pow", takes=NUMBERS))
inverse = Pointwise(np.invert, ALL - FLOATS, kernel="bitwise_not_cpu", takes=ALL - FLOATS)
unary("bitwise_not", inverse, check=_same_type)
unary("logical_not", Pointwise(np.logical_not, result=bool_, kernel="logical_not_cpu", takes=ALL))


@op()
def positive(input: Tensor) -> Tensor:
    """The tensor itself. Raises NotImplementedError for bools."""
    if input.dtype is bool_:
        raise NotImplementedError("The `+` operator, on a bool tensor is not supported.")
    return input


@op(name="conj resolve_conj resolve_neg")
def conj(input: Tensor) -> Tensor:
    """The tensor itself, since its elements are real numbers."""
    return input


@op(in_place=True)
def conj_physical(input: Tensor, *, out: Out = None) -> Any:
    """The tensor itself, since its elements are real numbers."""
    return input if out is None else Pointwise(np.positive)(input, None, out)


# -- what kind of number an element is


def laid_like(input: Tensor, values: Tensor) -> Tensor:
    """Values of a tensor's sizes, in the tensor's own layout."""
    if values.strides == input.strides:
        return values
    found = empty_like_array(input, values.array.dtype)
    np.copyto(found, values.array)
    return wrap(found)


def _test(name: str, compute: Callable[..., Any], out: bool = False) -> None:
    unary(
        name,
        Pointwise(compute, result=bool_),
        f"Whether {name.removeprefix('is')} is true of each element.",
        out=out,
        in_place=False,
        check=_truth,
    )


for _name, _ufunc in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)):
    _test(_name, _ufunc)


@op()
def isreal(input: Tensor) -> Tensor:
    """Whether each element is a real number, which all are."""
    return ones_like(input, dtype=bool_)


_test("isposinf", lambda a: a == np.inf, out=True)
_test("isneginf", lambda a: a == -np.inf, out=True)


def _signbit(a: Any) -> Any:
    return np.signbit(a) if a.dtype.kind == "f" else np.less(a, 0)


unary("signbit", Pointwise(_signbit, result=bool_), in_place=False, check=_truth)


# -- functions with more parameters


def _logit(eps: float | None) -> Pointwise:
    return Pointwise(lambda a: formulas.logit(a, eps), FLOATS, rule=to_float, keeps_half=True)


@op(name="logit special_logit", in_place=True)
def logit(input: Tensor, eps: float | None = None, *, out: Out = None) -> Any:
    """``log(input / (1 - input))``, where input is kept between eps and 1 - eps."""
    return _logit(eps)(input, None, out)


@op(in_place=True)
def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Out = None,
) -> Any:
    """The elements, with numbers for nans and infinities; by default 0 and the type's limits."""
    message = "nan_to_num: dtype of out: {1.scalar} should be same as input: {0.scalar}"
    check_out(out, input.dtype, message=message)
    compute = Pointwise(lambda a: formulas.nan_to_num(a, nan, posinf, neginf), keeps_half=True)
    found = compute(input, None, out)
    return found if out is not None else laid_like(input, found)


@op(more=OUTS)
def frexp(input: Tensor) -> Any:
    """Mantissas between 0.5 and 1, and exponents, with input = mantissa * 2 ** exponent."""
    if not input.dtype.is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(input.array)
    parts = (wrap(mantissa), wrap(np.asarray(exponent, np.int32)))
    return RESULTS["frexp"]([laid_like(input, part) for part in parts])
