"""Special functions, which scipy computes. PyTorch's documentation: torch.special.

scipy is imported when one of them is called first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.pytorch.calls.schema import Out
from runtime.pytorch.calls.table import op
from runtime.pytorch.compute import formulas
from runtime.pytorch.compute.elementwise import FLOATS, Pointwise
from runtime.pytorch.compute.promotion import to_float
from runtime.pytorch.ops.pairs import NUMBER, OF_NUMBER, TENSORS, binary
from runtime.pytorch.ops.pointwise import unary
from runtime.pytorch.tensors.tensor import Tensor


def _scipy(name: str) -> Callable[..., Any]:
    """A function of scipy.special, which is imported when it is called."""

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
    unary(_names, Pointwise(_compute, FLOATS, rule=to_float))

for _name, _names in (("gammainc", "igamma"), ("gammaincc", "igammac")):
    binary(
        f"{_names} special_{_name}",
        Pointwise(_scipy(_name), FLOATS, kernel=f"{_names}_cpu", takes=FLOATS),
        doc="The regularized incomplete gamma function of two elements.",
    )


def _xlog1py(a: Any, b: Any) -> Any:
    return np.where(np.isnan(b), b, np.where(a == 0, a.dtype.type(0), a * np.log1p(b)))


for _names, _compute in (
    ("xlogy special_xlogy", formulas.xlogy),
    ("special_xlog1py", _xlog1py),
    ("special_zeta", _scipy("zeta")),
):
    _function = Pointwise(_compute, FLOATS, rule=to_float, keeps_half="log" in _names)
    binary(_names, _function, TENSORS, OF_NUMBER, NUMBER)


@op(name="polygamma special_polygamma")
def polygamma(n: int, input: Tensor, *, out: Out = None) -> Any:
    """The n-th derivative of the digamma function."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if not n:
        compute: Callable[..., Any] = _digamma
    else:
        sign = (-1) ** (n + 1) * math.factorial(n)

        def compute(a: Any) -> Any:
            return sign * _scipy("zeta")(a.dtype.type(n + 1), a)

    return Pointwise(compute, FLOATS, rule=to_float)(input, None, out)


@op("polygamma(Tensor input, int n)", function=False, in_place=True)
def polygamma_method(input: Tensor, n: int, *, out: Out = None) -> Any:
    """The n-th derivative of the digamma function."""
    return polygamma(n, input, out=out)


@op(name="mvlgamma special_multigammaln", in_place=True)
def mvlgamma(input: Tensor, p: int, *, out: Out = None) -> Any:
    """The logarithm of the multivariate gamma function of dimension p."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")

    def compute(a: Any) -> Any:
        steps = -0.5 * np.arange(p, dtype=a.dtype)
        total = _scipy("gammaln")(np.asarray(a)[..., None] + steps).sum(-1)
        return total + a.dtype.type(p * (p - 1) / 4 * math.log(math.pi))

    return Pointwise(compute, FLOATS, rule=to_float)(input, None, out)
