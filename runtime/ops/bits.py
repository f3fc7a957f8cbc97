"""Manual, Math Functions: shifts and bit operations, with a number and element by element.

Shifts multiply or divide elements of floating-point types by a power of two; the other
operations raise TorchError for these types.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.calls.table import op
from th_shell.runtime.core.dtypes import Array, DType
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._operands import Compute, compute_each


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


def _for_whole_numbers(name: str, ufunc: Any) -> Any:
    def choose(dtype: DType) -> Compute:
        if dtype.is_float:
            raise TorchError(f"{name} is only supported for integer type tensors")
        return ufunc  # type: ignore[no-any-return]

    return choose


def _add_operation(name: str, choose_with_number: Any, choose_with_tensor: Any) -> None:
    """Add the rows of an operation with a number, and with a tensor under the name c + name.

    Both other parameters give the function that computes the operation for an element type.
    """

    def number(r: Tensor, t: Tensor, value: float) -> None:
        compute_each(r, choose_with_number(t.dtype), t, value)

    def tensor(r: Tensor, t: Tensor, src: Tensor) -> None:
        compute_each(r, choose_with_tensor(t.dtype), t, src)

    number.__doc__ = f"r = {name} of t and a number."
    tensor.__doc__ = f"r = {name} of t and src, element by element."
    op(name, method="*T* [T=1] real", function="[*T*] T real")(number)
    op(f"c{name}", method="*T* [T=1] T", function="[*T*] T T")(tensor)


def _choose_left(dtype: DType) -> Compute:
    return _scale_up if dtype.is_float else _shift_left


def _choose_right(dtype: DType) -> Compute:
    return _scale_down if dtype.is_float else _shift_right


_add_operation("lshift", _choose_left, _choose_left)
_add_operation("rshift", _choose_right, _choose_right)
for _name, _ufunc in (
    ("bitand", np.bitwise_and),
    ("bitor", np.bitwise_or),
    ("bitxor", np.bitwise_xor),
):
    _add_operation(
        _name, _for_whole_numbers(_name, _ufunc), _for_whole_numbers(f"c{_name}", _ufunc)
    )
