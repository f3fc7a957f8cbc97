"""Orthogonal polynomials. PyTorch's documentation: torch.special.

All are computed by their recurrences from the values of degree 0, which is 1, and of degree 1;
Chebyshev's, as in PyTorch, of higher degrees by angles within (-1, 1), and exactly at -1 and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.pytorch.calls.schema import OUT
from runtime.pytorch.compute.elementwise import FLOATS, Pointwise
from runtime.pytorch.compute.promotion import to_float
from runtime.pytorch.ops.pairs import binary
from runtime.pytorch.ops.pointwise import without_half

#: The value of degree k + 1, by those of degrees k and k - 1.
Step = Callable[[Any, Any, Any, int], Any]
_MOST = 100_000  # degrees, each of which takes a step
_KINDS = (("Tensor", "Tensor"), ("Number", "Tensor"), ("Tensor", "Number"))
_FORMS = [f"({x} x, {n} n, *, {OUT})" for x, n in _KINDS]


def _by_recurrence(x: Any, n: Any, first: Any, step: Step) -> Any:
    """The values of degrees n, whole numbers in the shape of x; 0 for negative ones."""
    highest = int(n.max(initial=0))
    if highest > _MOST:
        raise NotImplementedError(f"polynomials of degrees above {_MOST} are not provided here")
    found = np.where(n == 0, 1, 0).astype(x.dtype)
    last, now = np.ones_like(x), first
    for degree in range(1, highest + 1):
        found = np.where(n == degree, now, found)
        last, now = now, step(x, now, last, degree)
    return found


def _polynomial(first: Callable[[Any], Any], step: Step) -> Callable[[Any, Any], Any]:
    def compute(x: Any, n: Any) -> Any:
        x, degrees = np.broadcast_arrays(x, np.trunc(n).astype(np.int64))
        return _by_recurrence(x, degrees, first(x), step)

    return compute


def _chebyshev(first: Callable[[Any], Any], most: int, at: str) -> Callable[[Any, Any], Any]:
    """A polynomial of Chebyshev's. most: the last degree that is computed by the recurrence."""

    def compute(x: Any, n: Any) -> Any:
        x, degrees = np.broadcast_arrays(x, np.trunc(n).astype(np.int64))
        size, sign = np.abs(x), np.where((x < 0) & (degrees % 2 != 0), -1, 1)
        near = (degrees > most) & (size < 1)
        few = np.where(near | (size == 1), 0, degrees)
        found = _by_recurrence(x, few, first(x), lambda x, now, last, _: (x + x) * now - last)
        ends, between = _ANGLES[at]
        found = np.where(near, between(np.arccos(x), degrees.astype(x.dtype)), found)
        found = np.where(size == 1, ends(x, degrees, sign), found)
        return np.where(degrees < 0, 0, found).astype(x.dtype)

    return compute


#: The values at -1 and 1, and within: by the angle whose cosine x is, the degree, and the sign.
_ANGLES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "t": (lambda x, n, sign: sign, lambda a, n: np.cos(n * a)),
    "u": (lambda x, n, sign: sign * (n + 1), lambda a, n: np.sin((n + 1) * a) / np.sin(a)),
    "v": (
        lambda x, n, sign: np.where(x > 0, 1, sign * (n + n + 1)),
        lambda a, n: np.cos((n + 0.5) * a) / np.cos(a / 2),
    ),
    "w": (
        lambda x, n, sign: np.where(x > 0, n + n + 1, sign),
        lambda a, n: np.sin((n + 0.5) * a) / np.sin(a / 2),
    ),
}


def _shifted(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, n: compute(x + x - 1, n)


_CHEBYSHEV = {
    "t": _chebyshev(lambda x: x, 6, "t"),
    "u": _chebyshev(lambda x: x + x, 8, "u"),
    "v": _chebyshev(lambda x: x + x - 1, 8, "v"),
    "w": _chebyshev(lambda x: x + x + 1, 8, "w"),
}
_POLYNOMIALS = {
    **{f"chebyshev_polynomial_{name}": compute for name, compute in _CHEBYSHEV.items()},
    **{f"shifted_chebyshev_polynomial_{n}": _shifted(c) for n, c in _CHEBYSHEV.items()},
    "hermite_polynomial_h": _polynomial(
        lambda x: x + x, lambda x, now, last, k: (x + x) * now - 2 * k * last
    ),
    "hermite_polynomial_he": _polynomial(lambda x: x, lambda x, now, last, k: x * now - k * last),
    "laguerre_polynomial_l": _polynomial(
        lambda x: 1 - x, lambda x, now, last, k: ((k + k + 1 - x) * now - k * last) / (k + 1)
    ),
    "legendre_polynomial_p": _polynomial(
        lambda x: x, lambda x, now, last, k: ((k + k + 1) * x * now - k * last) / (k + 1)
    ),
}
for _name, _compute in _POLYNOMIALS.items():
    _doc = f"The {_name.replace('_', ' ')} of degree n at x."
    _function = Pointwise(_compute, FLOATS, rule=to_float, **without_half(_name))
    binary(f"special_{_name}", _function, *_FORMS, doc=_doc, in_place=False)
