"""Functions of one element. PyTorch's documentation: torch, Pointwise Ops; torch.special.

scipy computes special functions: it is imported when one of them is called first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.torch.base.dtypes import bool_, dtype, int64
from th_shell.torch.base.require import require
from th_shell.torch.base.results import RESULTS
from th_shell.torch.base.shapes import check_long
from th_shell.torch.calls.schema import OUT, OUTS, Out
from th_shell.torch.calls.table import op, with_quick_call
from th_shell.torch.compute import formulas
from th_shell.torch.compute.elementwise import (
    ALL,
    FLOATS,
    NOT_BOOL,
    NUMBERS,
    WIDE_FLOATS,
    Pointwise,
    called,
)
from th_shell.torch.compute.formulas import EXACT
from th_shell.torch.compute.promotion import to_float
from th_shell.torch.ops.binary import NUMBER, OF_NUMBER, TENSORS, binary
from th_shell.torch.ops.creation import fill_number, ones_like
from th_shell.torch.tensors.layouts import empty_like_array
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import check_out


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

    values = called(function)

    def compute(input: Tensor, *, out: Out = None) -> Tensor:
        if out is not None and check is not None:
            check(names, input, out)
        return values(input, None, out)

    def compute_new(input: Tensor) -> Tensor:
        return values(input)

    with_quick_call(compute, values)
    with_quick_call(compute_new, values)
    compute.__doc__ = compute_new.__doc__ = (
        doc or f"The function {names.split()[0].removeprefix('special_')} of each element."
    )
    op(name=names, in_place=in_place)(compute if out else compute_new)


def _same_type(_: str, input: Tensor, out: Out) -> None:
    check_out(out, input.dtype, messages=["Found dtype {1.scalar} but expected {0.scalar}"])


def _truth(name: str, _: Tensor, out: Out) -> None:
    check_out(out, bool_, messages=[f"{name} does not support non-boolean outputs."])


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
    def convert(input: Tensor, *, factor: float = _factor, out: Out = None) -> Tensor:
        """Return an angle in degrees as radians, or the other way round."""
        return _multiply(input, factor, out)


unary("rsqrt", Pointwise(formulas.rsqrt, FLOATS, rule=to_float, keeps_half=True))


def _angle(a: Any) -> Any:
    return np.where(np.isnan(a), a, np.where(a < 0, a.dtype.type(np.pi), a.dtype.type(0)))


unary("angle", Pointwise(_angle, FLOATS, rule=to_float), in_place=False)


# -- functions with values of the elements' type


for _names, _ufunc in {
    "ceil": np.ceil,
    "floor": np.floor,
    "round": np.rint,
    "trunc fix": np.trunc,
}.items():
    _kernel = f"{_names.split()[0]}_vml_cpu"
    _rounding = Pointwise(_ufunc, FLOATS, kernel=_kernel, takes=NOT_BOOL, whole=np.array)
    unary(_names, _rounding, check=_same_type)

unary("special_round", Pointwise(np.rint, FLOATS, kernel="round_vml_cpu"), check=_same_type)


@op(name="round special_round", in_place=True)
def round_to(input: Tensor, *, decimals: int, out: Out = None) -> Tensor:
    """Return elements rounded to decimals behind the point, or before it."""
    kernel = "round_cpu" if decimals else "round_vml_cpu"
    check_long(decimals)
    _same_type("", input, input if out is None else out)
    rounded = Pointwise(lambda a: formulas.round_decimals(a, decimals), FLOATS, kernel=kernel)
    return rounded(input, None, out)


def _reject_bool(message: str) -> Callable[..., None]:
    def check(input: Tensor) -> None:
        if input.dtype is bool_:
            raise NotImplementedError(message)

    return check


absolute = Pointwise(np.absolute, NUMBERS, kernel="abs_cpu")
unary("abs absolute", absolute, check=_same_type)
_fraction = Pointwise(formulas.frac, FLOATS, kernel="frac_cpu")
unary("frac", _fraction, check=_same_type)
for _name in ("sign", "sgn"):
    unary(_name, Pointwise(formulas.sign, kernel="sign_cpu"), check=_same_type)
_NEGATIVE = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
    "mask, use the `~` or `logical_not()` operator instead."
)
negative = Pointwise(np.negative, NUMBERS, check=_reject_bool(_NEGATIVE), kernel="neg_cpu")


def _negative_type(name: str, input: Tensor, out: Out) -> None:
    if input.dtype is not bool_:
        _same_type(name, input, out)


unary("neg negative", negative, check=_negative_type)
_no_bools = _reject_bool("Boolean inputs not supported for relu")
unary("relu", Pointwise(formulas.relu, NUMBERS, check=_no_bools), out=False)


def _square_type(kind: dtype) -> dtype:
    return int64 if kind is bool_ else kind


unary("square", Pointwise(np.square, NUMBERS, _square_type, kernel="pow"))
inverse = Pointwise(np.invert, ALL - FLOATS, kernel="bitwise_not_cpu")
unary("bitwise_not", inverse, check=_same_type)
unary("logical_not", Pointwise(np.logical_not, result=bool_, kernel="logical_not_cpu"))


@op()
def positive(input: Tensor) -> Tensor:
    """Return the tensor itself. Raises NotImplementedError for bools."""
    if input.dtype is bool_:
        raise NotImplementedError("The `+` operator, on a bool tensor is not supported.")
    return input


@op(name="conj resolve_conj resolve_neg")
def conj(input: Tensor) -> Tensor:
    """Return the tensor itself, since its elements are real numbers."""
    return input


@op(in_place=True)
def conj_physical(input: Tensor, *, out: Out = None) -> Tensor:
    """Return the tensor itself, since its elements are real numbers."""
    if out is not None:
        _same_type("", input, out)
    return input if out is None or out is input else Pointwise(np.copy)(input, None, out)


# -- what kind of number an element is


def laid_like(input: Tensor, values: Tensor) -> Tensor:
    """Return values of a tensor's sizes, in the tensor's own layout."""
    if values.strides == input.strides:
        return values
    result = empty_like_array(input, values.array.dtype)
    np.copyto(result, values.array)
    return wrap(result)


def _test(name: str, compute: Callable[..., Any], out: bool = False) -> None:
    doc = f"Whether {name.removeprefix('is')} is true of each element."
    unary(name, Pointwise(compute, result=bool_), doc, out=out, in_place=False, check=_truth)


for _name, _ufunc in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)):
    _test(_name, _ufunc)


@op()
def isreal(input: Tensor) -> Tensor:
    """Tell whether each element is a real number, which all are."""
    return ones_like(input, dtype=bool_)


_test("isposinf", lambda a: a == np.inf, out=True)
_test("isneginf", lambda a: a == -np.inf, out=True)


def _signbit(a: Any) -> Any:
    return np.signbit(a) if a.dtype.kind == "f" else np.less(a, 0)


unary("signbit", Pointwise(_signbit, result=bool_), in_place=False, check=_truth)


# -- functions with more parameters


@op(name="logit special_logit", in_place=True)
def logit(input: Tensor, eps: float | None = None, *, out: Out = None) -> Tensor:
    """Return ``log(input / (1 - input))``, where input is kept between eps and 1 - eps."""
    if eps is not None:
        fill_number(eps, to_float(input.dtype))
    compute = Pointwise(lambda a: formulas.logit(a, eps), FLOATS, rule=to_float, keeps_half=True)
    return compute(input, None, out)


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
    message = "nan_to_num: dtype of out: {1.scalar} should be same as input: {0.scalar}"
    check_out(out, input.dtype, messages=[message])
    compute = Pointwise(lambda a: formulas.nan_to_num(a, nan, posinf, neginf), keeps_half=True)
    numbers = compute(input, None, out)
    return numbers if out is not None else laid_like(input, numbers)


@op(more=OUTS)
def frexp(input: Tensor) -> Any:
    """Return mantissas between 0.5 and 1, and exponents, with input = mantissa * 2 ** exponent."""
    require(input.dtype.is_floating_point, "torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(input.array)
    parts = (wrap(mantissa), wrap(np.asarray(exponent, np.int32)))
    return RESULTS["frexp"]([laid_like(input, part) for part in parts])


_WIDE = "airy_ai erfcx log_ndtr ndtri zeta".split()


def without_half(names: str) -> dict[str, Any]:
    """Return options of `Pointwise` for special functions that PyTorch lacks for 16 bits."""
    name = names.removeprefix("special_")
    is_wide = name in _WIDE or "bessel" in name
    return {"kernel": f"{name}_cpu", "takes": WIDE_FLOATS} if is_wide else {}


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


#: The functions that scipy has under the same names, but for what stands before.
_OF_SCIPY = {
    "special_": "i0e i1 i1e erfcx ndtr ndtri log_ndtr entr",
    "special_bessel_": "j0 j1 y0 y1",
    "special_modified_bessel_": "i0 i1 k0 k1",
}
_UNARY: dict[str, Callable[..., Any]] = {
    "lgamma special_gammaln": _lgamma,
    "digamma special_digamma special_psi": _digamma,
    "special_scaled_modified_bessel_k0": _scipy("k0e"),
    "special_scaled_modified_bessel_k1": _scipy("k1e"),
    "special_spherical_bessel_j0": lambda a: _scipy("spherical_jn")(0, a),
    "special_airy_ai": lambda a: _scipy("airy")(a)[0],
    **{f"{name} special_{name}": _scipy(name) for name in ("erf", "erfc", "erfinv", "i0")},
}
for _before, _names in _OF_SCIPY.items():
    _UNARY |= {_before + name: _scipy(name) for name in _names.split()}
for _names, _compute in _UNARY.items():
    unary(_names, Pointwise(_compute, FLOATS, rule=to_float, **without_half(_names)))

for _name, _names in (("gammainc", "igamma"), ("gammaincc", "igammac")):
    binary(
        f"{_names} special_{_name}",
        Pointwise(_scipy(_name), FLOATS, kernel=f"{_names}_cpu"),
        doc="The regularized incomplete gamma function of two elements.",
    )


def _xlog1py(a: Any, b: Any) -> Any:
    return np.where(np.isnan(b), b, np.where(a == 0, a.dtype.type(0), a * np.log1p(b)))


for _names, _compute in (
    ("xlogy special_xlogy", formulas.xlogy),
    ("special_xlog1py", _xlog1py),
    ("special_zeta", _scipy("zeta")),
):
    _function = Pointwise(
        _compute, FLOATS, rule=to_float, keeps_half="log" in _names, **without_half(_names)
    )
    binary(_names, _function, TENSORS, OF_NUMBER, NUMBER)


@op(name="polygamma special_polygamma")
def polygamma(n: int, input: Tensor, *, out: Out = None) -> Tensor:
    """Return the n-th derivative of the digamma function."""
    check_long(n)
    require(n >= 0, "polygamma(n, x) does not support negative n.")
    if not n:
        compute: Callable[..., Any] = _digamma
    else:

        def compute(a: Any) -> Any:
            # PyTorch: the factorial is rounded as the elements' type
            factorial = np.exp(_scipy("gammaln")(a.dtype.type(n + 1)))
            return (factorial if n % 2 else -factorial) * _scipy("zeta")(a.dtype.type(n + 1), a)

    return Pointwise(compute, FLOATS, rule=to_float)(input, None, out)


@op("polygamma(Tensor input, int n)", function=False, in_place=True)
def polygamma_method(input: Tensor, n: int, *, out: Out = None) -> Tensor:
    """Return the n-th derivative of the digamma function."""
    return polygamma(n, input, out=out)
