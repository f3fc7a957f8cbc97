"""Manual, Math Functions: logical operations.

A comparison's result is a ByteTensor of 1 for true and 0 for false, or a given destination of any
element type.
"""

from __future__ import annotations

from th_shell.runtime.calls.table import op
from th_shell.runtime.core.dtypes import BYTE, Array
from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._by_formula import Forms, each

_SIGNS = {"lt": "<", "gt": ">", "le": "<=", "ge": ">=", "eq": "==", "ne": "~="}
for _name, _sign in _SIGNS.items():
    for _names, _kinds in ("t value", "T real"), ("a b", "T T"):
        _formula = f" {_sign} ".join(_names.split()) + " and 1 or 0"
        for _destination in "[*ByteTensor*]", "*T*":
            _form = f"{_destination} {_kinds}"
            _forms = Forms(_form, _form, _names, told="r_ ta tb")
            each(_name, _forms, _formula)


@op("equal", "T T", "T T", small="reduce.equal")
def equal(a: Tensor, b: Tensor) -> bool:
    """Tell whether two tensors have the same sizes and equal elements; nan equals nothing."""
    return a.sizes == b.sizes and bool((a.array == b.array).all())


@op("all", "T", "T", types=(BYTE,), total="t", fold="minimum", holds=True)
def all_(t: Tensor) -> bool:
    """Tell whether no element is 0. Raises ArgError for an empty tensor."""
    return bool(_not_empty(t).all())


@op("any", "T", "T", types=(BYTE,), total="t", fold="maximum", holds=True)
def any_(t: Tensor) -> bool:
    """Tell whether some element is not 0. Raises ArgError for an empty tensor."""
    return bool(_not_empty(t).any())


def _not_empty(t: Tensor) -> Array:
    if not t.sizes:
        raise ArgError(1, "empty Tensor")
    return t.array
