"""The elements of tensors in the order of memory, in parts: what is in a file stays there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.tensor import Tensor
from runtime.t7.sink import parts_of


def elements(tensor: Tensor) -> Iterator[Array]:
    """The elements of a runtime's tensor, in parts; of what is in a file, one at a time is read."""
    storage = tensor.storage
    if storage is None or not tensor.sizes:
        return
    steps = zip(tensor.sizes, tensor.strides, strict=True)
    stop = tensor.offset + 1 + sum((size - 1) * step for size, step in steps)
    if tensor.is_contiguous:
        yield from parts_of(storage, tensor.offset, stop)
        return
    part = storage.part(tensor.offset, stop)
    width = part.itemsize
    strides = tuple([step * width for step in tensor.strides])
    for row in np.ndarray(tensor.sizes, part.dtype, part, 0, strides):
        yield np.asarray(row)
