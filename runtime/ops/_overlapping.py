"""Calls that write where they read: one element after the other, as the reference does it.

Torch7: a destination may share elements with the indices, the mask or the source; the loops then
read what they have written before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import StorageExceeded, TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, contiguous_strides
from th_shell.runtime.ops._operands import may_share


def resized(t: Tensor, sizes: Sizes) -> Tensor:
    """The view that a tensor becomes where it gets other sizes; its storage may be too small."""
    return t if t.sizes == sizes else t.view(t.offset, sizes, contiguous_strides(sizes))


def share_elements(r: Tensor, *tensors: Tensor) -> bool:
    """Tell whether a tensor has an element in memory in common with one of others."""
    with_storage = [t for t in tensors if t.storage is not None]
    if r.storage is None or not with_storage:
        return False
    try:
        return any(may_share(r.array, t.array) for t in with_storage)
    except StorageExceeded:  # where the storage will be enlarged
        return any(t.storage is r.storage for t in with_storage)


def check_apart(indices: Tensor, sizes: Sizes, *tensors: Tensor) -> None:
    """Raise TorchError where the indices, in their sizes, share elements with other tensors.

    Torch7: each result is written over the other, or over what is still to be read.
    """
    if share_elements(resized(indices, sizes), *tensors):
        raise TorchError("the tensor of indices shares elements with another one of the call")


@contextmanager
def unchanged_by_errors(r: Tensor, sizes: Sizes) -> Iterator[None]:
    """Give a destination its sizes; if the block then fails, restore what it was.

    Elements that its storage gets by that are 0.
    Raises StorageExceeded where the storage has been made smaller than what it has elements of.
    """
    storage, before = r.storage, r.alias()
    assert storage is not None
    size = storage.size
    r.resize(sizes)
    storage.data[size:] = 0
    elements = r.array.copy()
    try:
        yield
    except BaseException:
        r.array[...] = elements
        r.set(storage, before.offset, before.sizes, before.strides)
        if storage.size != size:
            storage.resize(size)
        raise


def contiguous(t: Tensor) -> Array:
    """Return the elements of a tensor in order; copies where there are gaps between them."""
    return t.flat if t.is_contiguous else t.flat.copy()


def move(
    indices: Array,
    to: Array,
    source: Array,
    error: TorchError,
    *,
    into: bool = False,
    add: bool = False,
) -> None:
    """Copy rows, of which the first axis is, one for each index, or add them.

    An index says which row of the source is copied, or, with into, to which one. Raises the error
    where there is no such row.
    """
    for k in range(len(indices)):
        i = int(indices[k]) - 1
        if not 0 <= i < len(to if into else source):
            raise error
        row, origin = (i, k) if into else (k, i)
        values = np.reshape(source[origin], to[row].shape)
        to[row] = to[row] + values if add else values


def move_lines(
    indices: Array, to: Array, source: Array, dim: int, error: TorchError, *, into: bool = False
) -> None:
    """Copy single elements along a dimension, as `move` copies rows, from line to line.

    Torch7: of the other dimensions, the first varies fastest.
    """
    places, targets, values = (np.moveaxis(x, dim, 0).T for x in (indices, to, source))
    for line in np.ndindex(places.shape[:-1]):
        move(places[line], targets[line], values[line], error, into=into)


def ones(mask: Array) -> Iterator[int]:
    """The positions, from 0, of a mask's ones; each element is read when it is needed."""
    for at in range(mask.size):
        flag = mask.flat[at]
        if flag > 1:
            raise TorchError("Mask tensor can take 0 and 1 values only")
        if flag:
            yield at
