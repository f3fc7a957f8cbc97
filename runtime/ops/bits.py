"""Manual, Math Functions: shifts and bit operations, with a number and element by element.

Floats shift by powers of two; they have no bits to combine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.calls.table import op
from runtime.core.dtypes import Array, DType
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor
from runtime.ops._operands import Compute
from runtime.ops.pointwise import with_number, with_tensor


def _shift_left(t: Array, places: Array | float, out: Array) -> None:
    np.left_shift(t, places, out=out)


def _shift_right(t: Array, places: Array | float, out: Array) -> None:
    # Torch7: shifts the bits of the unsigned number of the same size.
    unsigned = np.dtype(f"u{t.dtype.itemsize}")
    shifted = np.right_shift(t.view(unsigned), np.asarray(places).astype(unsigned))
    out[...] = shifted.view(t.dtype)


def _scale_up(t: Array, places: Array | float, out: Array) -> None:
    np.multiply(t, np.exp2(np.asarray(places, t.dtype)), out=out)


def _scale_down(t: Array, places: Array | float, out: Array) -> None:
    np.divide(t, np.exp2(np.asarray(places, t.dtype)), out=out)


def _combine(name: str, ufunc: Any) -> Any:
    def choose(dtype: DType) -> Compute:
        if dtype.is_float:
            raise TorchError(f"{name} is only supported for integer type tensors")
        return ufunc  # type: ignore[no-any-return]

    return choose


def _add_operation(name: str, choose: Any, each: Any) -> None:
    def number(r: Tensor, t: Tensor, value: float) -> None:
        with_number(r, choose(t.dtype), t, value)

    def tensor(r: Tensor, t: Tensor, src: Tensor) -> None:
        with_tensor(r, each(t.dtype), t, src)

    number.__doc__ = f"r = {name} of t and a number."
    tensor.__doc__ = f"r = {name} of t and src, element by element."
    op(name, method="*T* [T=1] real", function="[*T*] T real")(number)
    op(f"c{name}", method="*T* [T=1] T", function="[*T*] T T")(tensor)


_add_operation(
    "lshift",
    lambda dtype: _scale_up if dtype.is_float else _shift_left,
    lambda dtype: _scale_up if dtype.is_float else _shift_left,
)
_add_operation(
    "rshift",
    lambda dtype: _scale_down if dtype.is_float else _shift_right,
    lambda dtype: _scale_down if dtype.is_float else _shift_right,
)
for _name, _ufunc in (
    ("bitand", np.bitwise_and),
    ("bitor", np.bitwise_or),
    ("bitxor", np.bitwise_xor),
):
    _add_operation(_name, _combine(_name, _ufunc), _combine(f"c{_name}", _ufunc))
