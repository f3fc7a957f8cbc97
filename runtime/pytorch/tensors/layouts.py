"""Layouts of tensors in memory: of new ones, of views by sizes and strides, and overlaps.

Strides of views are kept exactly, also in dimensions of size 1 and in tensors without elements,
where they lead nowhere and numpy has others: programs print them. They count elements here. New
tensors lie as numpy has them, in the order of their operands' dimensions where these agree.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.memory import address_of
from th_shell.runtime.core.tensor import contiguous_strides
from th_shell.torch.base.dtypes import dtype
from th_shell.torch.base.shapes import Shape
from th_shell.torch.tensors.tensor import Tensor, view_of
from th_shell.torch.tensors.writing import cast


def canonical(array: Array) -> Array:
    """Return contiguous elements with a contiguous tensor's strides; others as they lie.

    numpy has other strides in dimensions of size 1, where they lead nowhere; programs print them.
    """
    if not array.flags.c_contiguous or (1 not in array.shape and array.size):
        return array
    return array.reshape(-1).reshape(array.shape)


def is_dense(shape: Shape, strides: Shape) -> bool:
    """Tell whether each place between the first element and the last one is one element's."""
    needed = 1
    for step, size in sorted(zip(strides, shape, strict=True)):
        if size > 1:
            if step != needed:
                return False
            needed *= size
    return True


def empty_like_array(tensor: Tensor, kind: np.dtype[Any]) -> Array:
    """Return a new array of a tensor's sizes and layout."""
    return canonical(np.empty_like(tensor.array, kind))


def copy_of(tensor: Tensor, kind: dtype) -> Array:
    """Return a new array of a tensor's elements as a type, in its layout."""
    values = cast(tensor.array, kind.numpy)
    return canonical(values.copy("K") if values is tensor.array else values)


def strided(tensor: Tensor, sizes: Shape, strides: Shape, shift: int = 0) -> Tensor:
    """Return a view of a tensor's storage. strides and shift count elements, from its first.

    The view's elements must lie within the storage.
    """
    array = tensor.array
    width = array.itemsize
    steps = [step * width for step in strides]
    if not shift and array.flags.c_contiguous and array.size and 0 not in sizes:
        return view_of(tensor, np.ndarray(sizes, array.dtype, array, 0, steps))
    memory = tensor.storage_object.data
    place = min(tensor.place + shift * width, memory.nbytes)
    return view_of(tensor, np.ndarray(sizes, array.dtype, memory, place, steps))


@lru_cache(maxsize=4096)
def view_strides(sizes: Shape, strides: Shape, target: Shape) -> Shape | None:
    """Return the strides of a view with other sizes; None where there is none without copying.

    Dimensions whose elements follow each other in memory make a chunk; each dimension of the
    target must lie within a chunk. target has as many elements as sizes.
    """
    if not sizes:
        return (1,) * len(target)
    if 0 in sizes:
        return strides if sizes == target else contiguous_strides(target)
    view_steps = [0] * len(target)
    at = len(target) - 1
    base, chunk, done = strides[-1], 1, 1
    for dim in range(len(sizes) - 1, -1, -1):
        chunk *= sizes[dim]
        if dim and (sizes[dim - 1] == 1 or strides[dim - 1] == chunk * base):
            continue
        while at >= 0 and (done < chunk or target[at] == 1):
            view_steps[at] = done * base
            done *= target[at]
            at -= 1
        if done != chunk:
            return None
        if dim:
            base, chunk, done = strides[dim - 1], 1, 1
    return tuple(view_steps) if at < 0 else None


def check_apart(target: Tensor, operands: tuple[Any, ...], takes_same: bool = True) -> None:
    """Raise RuntimeError where a target shares memory with an operand.

    A result could otherwise be read as an operand's element. takes_same: not where
    it is the same view.
    """
    storage = target._storage
    for operand in operands:
        if not isinstance(operand, Tensor) or (operand is target and takes_same):
            continue
        is_shared = operand._storage is storage is not None or operand is target
        if is_shared and _meet(target, operand, takes_same):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to "
                "tensor refer to a single memory location. Please clone() the tensor before "
                "performing the operation."
            )


def _meet(a: Tensor, b: Tensor, takes_same: bool) -> bool:
    first, second = a.array, b.array
    if not (first.size and second.size):
        return False
    if not (is_dense(a.sizes, a.strides) and is_dense(b.sizes, b.strides)):
        return False
    begins = address_of(first), address_of(second)
    if begins[0] == begins[1] and first.nbytes == second.nbytes:
        return first.strides != second.strides or not takes_same
    return begins[0] < begins[1] + second.nbytes and begins[1] < begins[0] + first.nbytes
