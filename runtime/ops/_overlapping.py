"""Calls that write where they read: one element after the other, as the reference does it.

Torch7: a destination may share elements with the indices, the mask or the source; the loops then
read what they have written before. Here they run on a record of what they write, so that a call
that fails has changed nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import StorageExceeded, TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, contiguous_strides
from th_shell.runtime.ops._operands import may_share, storage_positions


def resized(t: Tensor, sizes: Sizes) -> Tensor:
    """The view that a tensor becomes where it gets other sizes; its storage may be too small."""
    if t.sizes == sizes:
        return t
    return t.view(t.offset, sizes, contiguous_strides(sizes))


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


class Record:
    """The elements that a call reads and writes, by their addresses.

    r: the destination. sizes: those that it gets; a source that is the same tensor gets them, too.
    """

    def __init__(self, r: Tensor, sizes: Sizes, *sources: Tensor) -> None:
        self._r, self._sizes = r, sizes
        self._blocks: list[tuple[int, Array]] = []
        self._written: dict[int, Any] = {}
        for t in (r, *sources):
            if t.storage is not None:
                self._add(t.storage.data)

    def _add(self, data: Array) -> int:
        self._blocks.append((data.ctypes.data, data))
        return data.ctypes.data

    def __getitem__(self, address: int) -> Any:
        if address in self._written:
            return self._written[address]
        for start, data in self._blocks:
            if start <= address < start + data.nbytes:
                return data[(address - start) // data.itemsize]
        return 0  # of memory that the destination will get

    def __setitem__(self, address: int, value: Any) -> None:
        self._written[address] = value

    def tensor(self, t: Tensor) -> Tensor:
        """A tensor of the call as it is when the destination has its sizes."""
        return resized(t, self._sizes) if t is self._r else t

    def addresses(self, t: Tensor) -> Array:
        """Return the positions of a tensor's elements as an array of its shape."""
        t = self.tensor(t)
        if t.storage is None:
            return np.empty(0, np.int64)
        return t.storage.data.ctypes.data + t.dtype.size * storage_positions(t).reshape(t.sizes)

    def contiguous(self, t: Tensor) -> Array:
        """Return the positions of a tensor's elements in order; of copies where there are gaps."""
        if self.tensor(t).is_contiguous:
            return self.addresses(t).reshape(-1)
        copy = t.array.flatten()
        return self._add(copy) + copy.itemsize * np.arange(copy.size)

    def number(self, value: float) -> int:
        """Return the position of a number, which counts as an element."""
        return self._add(np.array([value], self._r.dtype.numpy))

    def ones(self, mask: Tensor) -> Iterator[int]:
        """The positions, from 0, of a mask's ones; each element is read when it is needed."""
        for at, address in enumerate(self.addresses(mask).reshape(-1).tolist()):
            flag = self[address]
            if flag > 1:
                raise TorchError("Mask tensor can take 0 and 1 values only")
            if flag:
                yield at

    def keep(self) -> None:
        """Give the destination its sizes, and write what was recorded.

        Raises StorageExceeded where the storage has been made smaller than what it has elements of.
        """
        self._r.resize(self._sizes)
        if not self._r.array.size:
            return
        assert self._r.storage is not None
        start, data = self._blocks[0][0], self._r.storage.data
        for address, value in self._written.items():
            data[(address - start) // data.itemsize] = value


def slices(at: Array, dim: int) -> Array:
    """Addresses as one block: a row for each position of a dimension."""
    return np.moveaxis(at, dim, 0).reshape(1, at.shape[dim], -1)


def lines(at: Array, dim: int) -> Array:
    """Addresses as blocks that run along a dimension: a row of one for each position.

    Torch7: of the other dimensions, the first varies fastest.
    """
    return np.moveaxis(at, dim, 0).T.reshape(-1, at.shape[dim], 1)


def move(
    record: Record,
    indices: Array,
    to: Array,
    source: Array,
    error: TorchError,
    *,
    into: bool = False,
    add: bool = False,
) -> None:
    """Copy rows of elements, in each block one for each index, and keep the result.

    All are addresses; indices are blocks without rows. An index says which row of the source is
    copied, or, with into, to which one. Raises the error where there is no such row.
    """
    blocks = zip(indices.tolist(), to.tolist(), source.tolist(), strict=True)
    for places, targets, values in blocks:
        for k, place in enumerate(places):
            i = int(record[place]) - 1
            if not 0 <= i < len(targets if into else values):
                raise error
            row, origin = targets[i if into else k], values[k if into else i]
            new = [record[at] for at in origin]
            if add:
                new = [x + record[at] for x, at in zip(new, row, strict=True)]
            for at, x in zip(row, new, strict=True):
                record[at] = x
    record.keep()
