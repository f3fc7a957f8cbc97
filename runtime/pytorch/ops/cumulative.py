"""Sums, products and extreme values of the elements up to each one.

PyTorch's documentation: torch, Other Operations and Pointwise Ops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.shapes import Shape
from th_shell.torch.calls.schema import OUTS, Kind, Out
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import ALL, NUMBERS, check_types
from th_shell.torch.compute.reductions import along, pair, sums_so_far, tidy
from th_shell.torch.ops.reduce import reduced
from th_shell.torch.tensors.tensor import Tensor
from th_shell.torch.tensors.writing import cast, check_single

#: The type in which sums so far are computed, by the character of the elements' type.
_WIDER: dict[str, np.dtype[Any]] = {"e": np.dtype(np.float32), "f": np.dtype(np.float64)}


def _accumulate(ufunc: np.ufunc, array: Array, dim: int) -> Array:
    """Return a ufunc's values so far, computed in the next larger type, as PyTorch does."""
    row, axis = along(array, dim)
    kind = row.dtype
    if ufunc is np.add and axis == row.ndim - 1 and row.size >= LARGE:
        sums = np.empty(row.shape, kind)
        if sums_so_far(row, sums):
            return sums
    wide: np.dtype[Any] = _WIDER.get(kind.char, kind)
    if ufunc is np.multiply or kind.kind != "f":
        row = row.astype(wide, copy=False)
    else:  # PyTorch: sums begin with 0, which makes 0 of -0
        row = quietly.run(np.add, row, wide.type(0))
    result: Array = quietly.run(ufunc.accumulate, row, axis, wide)
    if result.dtype != kind:
        result = quietly.run(result.astype, kind)
    return tidy(result) if array.ndim else result.reshape(())


def _register_cumulative(name: str, ufunc: np.ufunc) -> None:
    def values(array: Array, axes: Shape | None, _: bool, sum_kind: Any) -> Array:
        if sum_kind is not None:
            array = cast(array, sum_kind)
        check_types(f"{name}_out_cpu", NUMBERS, array.dtype)
        return _accumulate(ufunc, array, axes[0] if axes else 0)

    @op(name=name, in_place=True)
    def compute(input: Tensor, dim: int, *, dtype: Kind = None, out: Out = None) -> Tensor:
        if out is input:
            check_single(out.array)
        return reduced(values, input, dim, False, dtype, out)

    compute.__doc__ = f"Return the {name[3:]}s of the elements up to each one, along a dimension."


_register_cumulative("cumsum", np.add)
_register_cumulative("cumprod", np.multiply)


def _register_running(name: str, ufunc: np.ufunc) -> None:
    @op(name=name, more=OUTS)
    def compute(input: Tensor, dim: int) -> Any:
        if not input.array.ndim and dim not in (0, -1):
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        array, axis = along(input.array, dim)
        check_types(f"{name}_cpu", ALL, array.dtype)
        values = quietly.run(ufunc.accumulate, array, axis)
        # The last place up to each one at which the value so far stood, or a nan.
        shape = [1] * array.ndim
        shape[axis] = -1
        places = np.arange(array.shape[axis]).reshape(shape)
        stands = (array == values) | np.not_equal(array, array)
        at = np.maximum.accumulate(np.where(stands, places, 0), axis)
        full = input.array.shape
        return pair(name, tidy(values.reshape(full)), tidy(at.reshape(full)))

    compute.__doc__ = (
        f"Return the {name[3:]}ima of the elements up to each one, and their positions."
    )


_register_running("cummax", np.maximum)
_register_running("cummin", np.minimum)
