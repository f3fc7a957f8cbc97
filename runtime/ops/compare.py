"""Manual, Math Functions: logical operations.

A comparison's result is a ByteTensor of 1 for true and 0 for false, or a given destination of any
element type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.calls.table import op
from runtime.core.dtypes import BYTE, Array
from runtime.core.errors import ArgError
from runtime.core.tensor import Tensor
from runtime.ops._operands import Compute
from runtime.ops.pointwise import with_number, with_tensor

_OPERAND_NAMES = ("r_", "ta", "tb")  # in messages about sizes


def _to_numbers(compare: Any) -> Compute:
    """A comparison that sets elements of any type to 1 and 0."""

    def compute(a: Array, b: Array | float, out: Array) -> None:
        if out.dtype == np.uint8:
            compare(a, b, out=out.view(np.bool_))
        else:
            out[...] = compare(a, b)

    return compute


def _add_comparison(name: str, compare: Any, sign: str) -> None:
    compute = _to_numbers(compare)

    def number(r: Tensor, t: Tensor, value: float) -> None:
        with_number(r, compute, t, value)

    def tensor(r: Tensor, a: Tensor, b: Tensor) -> None:
        with_tensor(r, compute, a, b, names=_OPERAND_NAMES)

    for implementation, last, formula in (
        (number, "real", f"t {sign} value and 1 or 0"),
        (tensor, "T", f"a {sign} b and 1 or 0"),
    ):
        implementation.__doc__ = f"r = {formula}, element by element."
        for destination in "[*ByteTensor*]", "*T*":
            form = f"{destination} T {last}"
            op(name, form, form, each=formula)(implementation)


for _name, _compare, _sign in (
    ("lt", np.less, "<"),
    ("gt", np.greater, ">"),
    ("le", np.less_equal, "<="),
    ("ge", np.greater_equal, ">="),
    ("eq", np.equal, "=="),
    ("ne", np.not_equal, "~="),
):
    _add_comparison(_name, _compare, _sign)


@op("equal", "T T", "T T", small="reduce.equal")
def equal(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors have the same sizes and equal elements; nan equals nothing."""
    return a.sizes == b.sizes and bool((a.array == b.array).all())


@op("all", "T", "T", types=(BYTE,), total="t", fold="minimum", holds=True)
def all_(t: Tensor) -> bool:
    """Whether no element is 0. Raises ArgError for an empty tensor."""
    return bool(_not_empty(t).all())


@op("any", "T", "T", types=(BYTE,), total="t", fold="maximum", holds=True)
def any_(t: Tensor) -> bool:
    """Whether some element is not 0. Raises ArgError for an empty tensor."""
    return bool(_not_empty(t).any())


def _not_empty(t: Tensor) -> Array:
    if not t.sizes:
        raise ArgError(1, "empty Tensor")
    return t.array
