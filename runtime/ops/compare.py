"""Manual, Math Functions: logical operations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from runtime.dispatch import op
from runtime.dtypes import BYTE, Array
from runtime.ops._operands import check_counts, like
from runtime.tensor import TENSOR_CLASSES, Tensor

_BYTE_TENSOR = TENSOR_CLASSES[BYTE.index]


def _add_comparison(name: str, compare: Callable[..., Array]) -> None:
    def with_number(r: Tensor, t: Tensor, value: float) -> None:
        r.resize(t.sizes)
        r.array[...] = compare(t.array, value)

    def with_tensor(r: Tensor, a: Tensor, b: Tensor) -> None:
        check_counts(ta=a, tb=b)
        result = compare(a.array, like(b, a))
        r.resize(a.sizes)
        r.array[...] = result

    for implementation, last, symbol in (with_number, "real", "value"), (with_tensor, "T", "b"):
        implementation.__doc__ = f"r = 1 where a {name} {symbol}, else 0."
        for destination in "[*ByteTensor*]", "*T*":
            form = f"{destination} T {last}"
            op(name, method=form, function=form)(implementation)


for _name, _compare in (
    ("lt", np.less),
    ("gt", np.greater),
    ("le", np.less_equal),
    ("ge", np.greater_equal),
    ("eq", np.equal),
    ("ne", np.not_equal),
):
    _add_comparison(_name, _compare)


@op("equal", method="T T", function="T T")
def equal(a: Tensor, b: Tensor) -> bool:
    """Whether sizes and all elements are the same."""
    return a.sizes == b.sizes and bool((a.array == b.array).all())
