"""Functions of one element. PyTorch's documentation: torch, Pointwise Ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.pytorch import formulas
from runtime.pytorch.dtypes import NUMPY_DTYPES, bool_, dtype, int64
from runtime.pytorch.elementwise import ALL, FLOATS, NUMBERS, Pointwise, to_float
from runtime.pytorch.return_types import RESULTS
from runtime.pytorch.table import op
from runtime.pytorch.tensor import Tensor, wrap

__all__ = ["unary"]

_OUT = "Tensor out = None"
_STORED = frozenset(kind.num for kind in NUMPY_DTYPES)
_NOT_BOOL = _STORED - {np.dtype(np.bool_).num}
_BITS = frozenset(kind.num for kind in NUMPY_DTYPES if kind.kind != "f")


def unary(
    names: str,
    function: Pointwise,
    doc: str = "",
    *,
    out: bool = True,
    in_place: bool = True,
    method: bool | None = None,
) -> None:
    """Register a function of one element under its names. out: whether it has that parameter."""

    def compute(input: Tensor, *, out: Tensor | None = None) -> Any:
        return function(input, None, out)

    def compute_new(input: Tensor) -> Any:
        return function(input)

    chosen: Callable[..., Any] = compute if out else compute_new
    chosen.__doc__ = doc or f"The function {names.split()[0]} of each element."
    for name in names.split():
        end = f", *, {_OUT})" if out else ")"
        op(f"{name}(Tensor input{end}", in_place=in_place, method=method)(chosen)


# -- functions with values that are no whole numbers

for _names, _ufunc in {
    "acos arccos": np.arccos,
    "acosh arccosh": np.arccosh,
    "asin arcsin": np.arcsin,
    "asinh arcsinh": np.arcsinh,
    "atan arctan": np.arctan,
    "atanh arctanh": np.arctanh,
    "cos": np.cos,
    "cosh": np.cosh,
    "deg2rad": np.deg2rad,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "rad2deg": np.rad2deg,
    "reciprocal": np.reciprocal,
    "rsqrt": formulas.rsqrt,
    "sigmoid": formulas.sigmoid,
    "sin": np.sin,
    "sinc": formulas.sinc,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}.items():
    unary(_names, Pointwise(_ufunc, FLOATS, rule=to_float))


def _angle(a: Any) -> Any:
    return np.where(np.isnan(a), a, np.where(a < 0, a.dtype.type(np.pi), a.dtype.type(0)))


unary("angle", Pointwise(_angle, FLOATS, rule=to_float), in_place=False)


# -- functions with values of the elements' type


def _of_floats(ufunc: np.ufunc) -> Callable[..., Any]:
    """A function that leaves whole numbers as they are."""
    return lambda a: ufunc(a) if a.dtype.kind == "f" else np.array(a)


_WHOLE_NUMBERS = {"ceil": np.ceil, "floor": np.floor, "round": np.rint, "trunc fix": np.trunc}
for _names, _ufunc in _WHOLE_NUMBERS.items():
    _kernel = f"{_names.split()[0]}_vml_cpu"
    _quick = Pointwise(_ufunc, FLOATS)
    _general = Pointwise(_of_floats(_ufunc), kernel=_kernel, takes=_NOT_BOOL)

    def _either(
        input: Any,
        b: Any = None,
        out: Tensor | None = None,
        quick: Pointwise = _quick,
        general: Pointwise = _general,
    ) -> Any:
        is_float = input.array.dtype.kind == "f"
        return (quick if is_float else general)(input, None, out)

    unary(_names, _either)  # type: ignore[arg-type]


@op(f"round(Tensor input, *, int decimals, {_OUT})", in_place=True)
def round_to(input: Tensor, *, decimals: int, out: Tensor | None = None) -> Any:
    """Each element rounded to so many digits behind the point; before it if there are fewer."""
    kernel = "round_cpu" if decimals else "round_vml_cpu"
    rounded = Pointwise(lambda a: formulas.round_decimals(a, decimals), kernel=kernel, takes=FLOATS)
    return rounded(input, None, out)


def _reject_bool(message: str) -> Callable[..., None]:
    def check(input: Tensor) -> None:
        if input.dtype is bool_:
            raise NotImplementedError(message)

    return check


unary("abs absolute", Pointwise(np.absolute, NUMBERS, kernel="abs_cpu", takes=NUMBERS))
unary("frac", Pointwise(formulas.frac, FLOATS, kernel="frac_cpu", takes=FLOATS))
unary("sign", Pointwise(formulas.sign, kernel="sign_cpu", takes=ALL))
unary("sgn", Pointwise(formulas.sgn, kernel="sign_cpu", takes=ALL))
_NEGATIVE = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
    "mask, use the `~` or `logical_not()` operator instead."
)
unary(
    "neg negative",
    Pointwise(np.negative, NUMBERS, check=_reject_bool(_NEGATIVE), kernel="neg_cpu", takes=NUMBERS),
)
unary(
    "relu",
    Pointwise(formulas.relu, check=_reject_bool("Boolean inputs not supported for relu")),
    out=False,
)


def _square_type(kind: dtype) -> dtype:
    return int64 if kind is bool_ else kind


unary("square", Pointwise(np.square, NUMBERS, _square_type, kernel="pow", takes=NUMBERS))
unary(
    "bitwise_not",
    Pointwise(np.invert, ALL - FLOATS, kernel="bitwise_not_cpu", takes=ALL - FLOATS),
)
unary(
    "logical_not",
    Pointwise(np.logical_not, result=bool_, kernel="logical_not_cpu", takes=ALL),
)


@op("positive(Tensor input)")
def positive(input: Tensor) -> Tensor:
    """The tensor itself. Raises NotImplementedError for bools."""
    if input.dtype is bool_:
        raise NotImplementedError("The `+` operator, on a bool tensor is not supported.")
    return input


@op("conj(Tensor input)", "resolve_conj(Tensor input)", "resolve_neg(Tensor input)")
def conj(input: Tensor) -> Tensor:
    """The tensor itself, since its elements are real numbers."""
    return input


@op(f"conj_physical(Tensor input, *, {_OUT})", in_place=True)
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Any:
    """The tensor itself, since its elements are real numbers."""
    return input if out is None else Pointwise(np.positive)(input, None, out)


@op("real(Tensor input)", method=False)
def real(input: Tensor) -> Tensor:
    """The tensor itself, since its elements are real numbers."""
    return input


@op("imag(Tensor input)", method=False)
def imag(input: Tensor) -> Tensor:
    """Raise TypeError, since no elements are complex numbers."""
    raise TypeError("imag is not implemented for tensors with non-complex dtypes.")


# -- what kind of number an element is


def _test(name: str, compute: Callable[..., Any], out: bool = False) -> None:
    unary(
        name,
        Pointwise(compute, result=bool_),
        f"Whether {name.removeprefix('is')} is true of each element.",
        out=out,
        in_place=False,
    )


_test("isnan", np.isnan)
_test("isinf", np.isinf)
_test("isfinite", np.isfinite)
_test("isreal", lambda a: np.ones(np.shape(a), np.bool_))
_test("isposinf", lambda a: a == np.inf, out=True)
_test("isneginf", lambda a: a == -np.inf, out=True)


def _signbit(a: Any) -> Any:
    return np.signbit(a) if a.dtype.kind == "f" else np.less(a, 0)


unary("signbit", Pointwise(_signbit, result=bool_), in_place=False)


# -- functions with more parameters


@op(f"logit(Tensor input, float eps = None, *, {_OUT})", in_place=True)
def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Any:
    """``log(input / (1 - input))``, where input is kept between eps and 1 - eps."""
    return Pointwise(lambda a: formulas.logit(a, eps), rule=to_float)(input, None, out)


@op(
    "nan_to_num(Tensor input, float nan = None, float posinf = None, float neginf = None, *, "
    f"{_OUT})",
    in_place=True,
)
def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Tensor | None = None,
) -> Any:
    """The elements, with numbers for nans and infinities; by default 0 and the type's limits."""
    compute = Pointwise(lambda a: formulas.nan_to_num(a, nan, posinf, neginf))
    return compute(input, None, out)


@op(f"frexp(Tensor input, *, tuple of Tensors {_OUT.removeprefix('Tensor ')})")
def frexp(input: Tensor) -> Any:
    """Mantissas between 0.5 and 1, and exponents, with input = mantissa * 2 ** exponent."""
    if not input.dtype.is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(input.array)
    return RESULTS["frexp"]([wrap(mantissa), wrap(np.asarray(exponent, np.int32))])
