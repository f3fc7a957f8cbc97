"""Tensors that share memory: which of them a result may be written to.

PyTorch looks at tensors alone that lie densely in memory; for others it does not know.
"""

from __future__ import annotations

from typing import Any

from runtime.pytorch.tensors.layouts import is_dense
from runtime.pytorch.tensors.memory import address_of
from runtime.pytorch.tensors.tensor import Tensor


def check_apart(target: Tensor, operands: tuple[Any, ...]) -> None:
    """Raise RuntimeError where a target shares memory with an operand, which is not the same view.

    A result could otherwise be read as an operand's element.
    """
    storage = target._storage
    for operand in operands:
        if operand is target or not isinstance(operand, Tensor) or operand._storage is None:
            continue
        if operand._storage is storage and _meet(target, operand):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to "
                "tensor refer to a single memory location. Please clone() the tensor before "
                "performing the operation."
            )


def _meet(a: Tensor, b: Tensor) -> bool:
    first, second = a.array, b.array
    if not (first.size and second.size):
        return False
    if not (is_dense(a.sizes, a.strides) and is_dense(b.sizes, b.strides)):
        return False
    begins = address_of(first), address_of(second)
    if begins[0] == begins[1] and first.nbytes == second.nbytes:
        return first.strides != second.strides
    return begins[0] < begins[1] + second.nbytes and begins[1] < begins[0] + first.nbytes
