"""What element-wise operations share: operands of one shape, checks, and the way through them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from runtime.compute.bulk import compute_flat
from runtime.compute.pieces import PIECE, blocks, flatten
from runtime.compute.thread_pool import LARGE, share
from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor, describe

__all__ = [
    "Compute",
    "check_counts",
    "elementwise",
    "like",
    "partly_shared",
    "resize_for",
    "store",
]

#: compute(*inputs, out=array): a numpy ufunc, or a function of several steps.
Compute = Callable[..., Any]


def check_counts(**tensors: Tensor) -> None:
    """Raise the reference's error where tensors differ in their number of elements."""
    counts = [t.nelement for t in tensors.values()]
    if all(count == counts[0] for count in counts):
        return
    named = [f"{name} {describe(t.sizes)}" for name, t in tensors.items()]
    raise TorchError(
        f"inconsistent tensor size, expected {_enumerate(named)} to have the same number of "
        f"elements, but got {_enumerate(list(map(str, counts)))} elements respectively"
    )


def _enumerate(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1]


def like(source: Tensor, target: Tensor) -> Array:
    """The source's elements in the target's shape; both have the same number of elements.

    Shares memory where it can.
    """
    if source.sizes == target.sizes:
        return source.array
    return source.flat.reshape(target.sizes)


def resize_for(r: Tensor, t: Tensor, *others: Tensor) -> None:
    """Give a destination the sizes of a source; not where a source cannot be read."""
    if r.sizes != t.sizes:
        for source in (t, *others):
            _ = source.array  # raises StorageExceeded
        r.resize(t.sizes)


def store(r: Tensor, values: Array) -> None:
    """Resize a tensor to an array's shape and set its elements; they may be views of it."""
    fresh = values.base is None and values.size > 0
    if fresh and r.storage is None and values.dtype == r.dtype.numpy and values.flags.c_contiguous:
        r.take_over(values)
        return
    if not fresh and r.storage is not None and np.may_share_memory(values, r.storage.data):
        values = values.copy()
    r.resize(values.shape)
    if values.size:
        r.array[...] = values


def elementwise(r: Tensor, compute: Compute, *operands: Tensor | float) -> None:
    """r = compute(*operands) for each element; all tensors have r's number of elements.

    r may be among the operands. Large contiguous work is shared out to threads; a compute of
    several steps (not a ufunc) gets pieces that stay in the cache.
    """
    if r.overlaps_itself:
        _ = r.array  # raises StorageExceeded
        _one_visit_at_a_time(r, compute, operands)
        return
    inputs = [like(x, r) if isinstance(x, Tensor) else x for x in operands]
    out = r.array
    if out.size >= LARGE or (out.size > PIECE and not isinstance(compute, np.ufunc)):
        if not partly_shared(out, inputs):
            _compute_large(compute, [out, *inputs])
            return
    compute(*inputs, out=out)


def partly_shared(out: Array, inputs: Sequence[Array | float]) -> bool:
    """Whether an input overlaps the output without being the same elements."""
    return any(
        isinstance(x, np.ndarray)
        and x is not out
        and np.may_share_memory(x, out)
        and x.ctypes.data != out.ctypes.data
        for x in inputs
    )


def _compute_large(compute: Compute, arrays: list[Any]) -> None:
    def part(arrays: list[Any], at: Any) -> None:
        out, *inputs = (x[at] if isinstance(x, np.ndarray) else x for x in arrays)
        compute(*inputs, out=out)

    flat = flatten(arrays)
    steps = not isinstance(compute, np.ufunc)
    if flat is not None:
        if steps:
            share(partial(part, flat), arrays[0].size, piece=PIECE)
        else:
            compute_flat(compute, *flat)  # type: ignore[arg-type]
    elif steps:
        for at in blocks(arrays[0].shape):
            part(arrays, at)
    else:
        compute(*arrays[1:], out=arrays[0])


def _one_visit_at_a_time(r: Tensor, compute: Compute, operands: tuple[Tensor | float, ...]) -> None:
    # Torch7 walks the elements in order, so that one that is met again has changed already.
    # All first visits can be made together, then all second ones, and so on.
    assert r.storage is not None
    memory = r.storage.data
    places = _places(r)
    visits = _visits(places)
    walk = np.lexsort((places, visits))  # the elements by visit
    spots = places[walk]
    read = [_reader(x, r, spots, walk) for x in operands]
    ends = np.cumsum(np.bincount(visits)).tolist()
    if _accumulates(compute, r, operands) and len(places) == len(ends) * ends[0]:
        values = np.empty((len(ends) + 1, ends[0]), memory.dtype)
        values[0], rest = memory[spots[: ends[0]]], read[1](slice(None))
        values[1:] = rest.reshape(len(ends), -1) if isinstance(rest, np.ndarray) else rest
        memory[spots[: ends[0]]] = compute.accumulate(values)[-1]  # type: ignore[attr-defined]
        return
    for start, end in itertools.pairwise([0, *ends]):
        now = slice(start, end)
        result = np.empty(end - start, memory.dtype)
        compute(*[x(now) for x in read], out=result)
        memory[spots[now]] = result


def _places(r: Tensor) -> Array:
    """The positions of a tensor's elements in its storage, in order."""
    offsets = np.full(r.sizes, r.offset)
    for d, (size, stride) in enumerate(zip(r.sizes, r.strides, strict=True)):
        shape = [1] * r.ndim
        shape[d] = size
        offsets += (np.arange(size) * stride).reshape(shape)
    return offsets.reshape(-1)


def _visits(places: Array) -> Array:
    """For each position how often it stands further to the left."""
    order = np.argsort(places, kind="stable")
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    visits: Array = np.empty(len(places), np.int64)
    counts = np.diff(starts, append=len(places))
    visits[order] = np.arange(len(places)) - np.repeat(starts, counts)
    return visits


def _reader(x: Tensor | float, r: Tensor, spots: Array, walk: Array) -> Callable[[slice], Any]:
    """What gives an operand's values for a part of the walk over r, as they then are."""
    if not isinstance(x, Tensor):
        return lambda now: x
    if x.is_set_to(r):
        return lambda now: r.storage.data[spots[now]]  # type: ignore[union-attr]
    if x.storage is r.storage:
        return lambda now: x.flat[walk[now]]
    values = x.flat[walk]
    return lambda now: values[now]


def _accumulates(compute: Compute, r: Tensor, operands: tuple[Tensor | float, ...]) -> bool:
    """Whether numpy can make all visits of a place one after the other: r = r op something."""
    if not isinstance(compute, np.ufunc) or len(operands) != 2:
        return False
    first, second = operands
    return (
        isinstance(first, Tensor)
        and first.is_set_to(r)
        and not (isinstance(second, Tensor) and second.storage is r.storage)
    )
