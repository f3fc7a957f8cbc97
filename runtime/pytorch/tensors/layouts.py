"""Layouts of tensors in memory: of new ones, of views by sizes and strides, and overlaps.

A result lies as its operands do where that is possible, so that its strides are PyTorch's. Strides
are kept exactly, also in dimensions of size 1 and in tensors without elements, where they lead
nowhere and numpy has others: programs print them. They count elements here.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def empty_array(shape: Shape, strides: Shape, kind: np.dtype[Any]) -> Array:
    """Return a new array with strides that reach each of its elements once."""
    if strides == contiguous_strides(shape):
        return np.empty(shape, kind)
    count = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    memory = np.empty(0 if 0 in shape else count, kind)
    width = kind.itemsize
    return np.ndarray(shape, kind, memory, 0, tuple([step * width for step in strides]))


def is_dense(shape: Shape, strides: Shape) -> bool:
    """Tell whether each place between the first element and the last one is one element's."""
    needed = 1
    for step, size in sorted(zip(strides, shape, strict=True)):
        if size > 1:
            if step != needed:
                return False
            needed *= size
    return True


def dense_strides(shape: Shape, operands: Sequence[Shape]) -> Shape:
    """Return the strides of a result: its dimensions stand in the order in which the operands' do.

    operands: their strides for the result's shape, 0 where they are broadcast. The first one that
    tells two dimensions apart decides.
    """
    order = list(range(len(shape) - 1, -1, -1))
    for last in range(1, len(order)):
        at = last
        for before in range(last - 1, -1, -1):
            comparison = _compare(order[before], order[at], shape, operands)
            if comparison > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif comparison < 0:
                break
    strides, step = [0] * len(shape), 1
    for dim in order:
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def _compare(a: int, b: int, shape: Shape, operands: Sequence[Shape]) -> int:
    """Return 1 where dimension b is to lie inside of a, -1 where not, 0 where either may be."""
    for strides in operands:
        if not (strides[a] and strides[b]):
            continue
        if strides[a] != strides[b]:
            return 1 if strides[a] > strides[b] else -1
        if shape[a] > shape[b]:
            return 1
    return 0


def empty_like_array(tensor: Tensor, kind: np.dtype[Any]) -> Array:
    """Return a new array of a tensor's sizes and layout."""
    array = tensor.array
    shape = array.shape
    if _is_plain(array):
        return np.empty(shape, kind)
    strides = tensor.strides
    if not is_dense(shape, strides):
        strides = dense_strides(shape, [strides])
    return empty_array(shape, strides, kind)


def _is_plain(array: Array) -> bool:
    """Tell whether an array lies as numpy's new ones of its sizes do."""
    return array.ndim < 2 or bool(array.flags.c_contiguous and array.size and 1 not in array.shape)


def copy_of(tensor: Tensor, kind: dtype) -> Array:
    """Return a new array of a tensor's elements as a type, in its layout."""
    array = tensor.array
    if _is_plain(array):
        values = cast(array, kind.numpy)
        return array.copy() if values is array else values
    copy = empty_like_array(tensor, kind.numpy)
    np.copyto(copy, cast(array, kind.numpy))
    return copy


def laid_out(values: Array, operands: Sequence[Any]) -> Array:
    """Return a function's values in the layout that PyTorch gives them for these operands."""
    key = tuple([(x.shape, x.strides, x.itemsize) for x in operands])
    shape = values.shape
    strides = _strides_for(shape, key)
    width = values.itemsize
    if tuple([step * width for step in strides]) == values.strides:
        return values
    copy = empty_array(shape, strides, values.dtype)
    np.copyto(copy, values)
    return copy


_Geometry = tuple[Shape, Shape, int]  # sizes, strides in bytes, bytes of an element


@lru_cache(maxsize=4096)
def _strides_for(shape: Shape, operands: tuple[_Geometry, ...]) -> Shape:
    """Return the strides of a function's values for operands of these geometries."""
    if all(sizes == shape for sizes, _, _ in operands):
        strides = [tuple([step // width for step in steps]) for _, steps, width in operands]
        if all(_is_contiguous(shape, x) for x in strides):
            return contiguous_strides(shape)
        if is_dense(shape, strides[0]) and all(x == strides[0] for x in strides):
            return strides[0]
    return dense_strides(shape, [_expanded(x, shape) for x in operands if x[0]])


def _is_contiguous(shape: Shape, strides: Shape) -> bool:
    expected = contiguous_strides(shape)
    return all(n == 1 or a == b for n, a, b in zip(shape, strides, expected, strict=True))


def _expanded(geometry: _Geometry, shape: Shape) -> Shape:
    """Return an operand's strides for a larger shape: 0 where it is broadcast."""
    sizes, strides, _ = geometry
    missing = len(shape) - len(sizes)
    pairs = zip(strides, sizes, shape[missing:], strict=True)
    return (0,) * missing + tuple([0 if n == 1 != size else step for step, n, size in pairs])


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
