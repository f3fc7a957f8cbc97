"""Views by sizes and strides, and the strides that PyTorch gives a view.

Strides are kept exactly, also in dimensions of size 1 and in tensors without elements, where they
lead nowhere and numpy has others: programs print them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from runtime.core.tensor import contiguous_strides
from runtime.pytorch.base.shapes import Shape
from runtime.pytorch.tensors.tensor import Tensor, view_of


def strided(tensor: Tensor, sizes: Shape, strides: Shape, shift: int = 0) -> Tensor:
    """A view of a tensor's storage. strides and shift count elements, shift from its first one.

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
    """The strides of a view with other sizes; None where there is none without copying.

    Dimensions whose elements follow each other in memory make a chunk; each dimension of the
    target must lie within a chunk. target has as many elements as sizes.
    """
    if not sizes:
        return (1,) * len(target)
    if 0 in sizes:
        return strides if sizes == target else contiguous_strides(target)
    found = [0] * len(target)
    at = len(target) - 1
    base, chunk, done = strides[-1], 1, 1
    for dim in range(len(sizes) - 1, -1, -1):
        chunk *= sizes[dim]
        if dim and (sizes[dim - 1] == 1 or strides[dim - 1] == chunk * base):
            continue
        while at >= 0 and (done < chunk or target[at] == 1):
            found[at] = done * base
            done *= target[at]
            at -= 1
        if done != chunk:
            return None
        if dim:
            base, chunk, done = strides[dim - 1], 1, 1
    return tuple(found) if at < 0 else None
