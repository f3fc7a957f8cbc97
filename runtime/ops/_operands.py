"""Element-wise operations: checks of operands, and the loop over the elements."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.compute.bulk import PIECE, blocks, compute_large, flatten, shared_piece
from th_shell.runtime.compute.thread_pool import LARGE, ThreadPool, share
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.state import current
from th_shell.runtime.core.tensor import Tensor, describe

#: compute(*inputs, out=array): a numpy ufunc, or a function that calls several of them.
Compute = Callable[..., Any]


def check_counts(**tensors: Tensor) -> None:
    """Raise the reference's error where tensors differ in their number of elements."""
    counts = [t.nelement for t in tensors.values()]
    if all(count == counts[0] for count in counts):
        return
    named = [f"{name} {describe(t.sizes)}" for name, t in tensors.items()]
    raise TorchError(
        f"inconsistent tensor size, expected {enumerate_words(named)} to have the same number of "
        f"elements, but got {enumerate_words(list(map(str, counts)))} elements respectively"
    )


def enumerate_words(words: list[str]) -> str:
    """Return words as the reference's messages list them: 'a, b and c'."""
    return ", ".join(words[:-1]) + " and " + words[-1]


def shaped_as(source: Tensor, target: Tensor) -> Array:
    """Return the source's elements in the target's shape; both had the same number of elements.

    The array shares the source's memory if the shapes are equal or the source is contiguous.
    Raises TorchError where a finalizer of the program, which runs while memory is allocated for the
    target, has resized one of them.
    """
    if source.sizes == target.sizes:
        return source.array
    values = source.flat
    if values.size != target.nelement:
        raise TorchError("a finalizer has resized a tensor in use")
    return values.reshape(target.sizes)


def resize_for(r: Tensor, t: Tensor, *tensors: Tensor) -> None:
    """Give the destination r the sizes of t.

    Raises StorageExceeded, with r unchanged, where a source reaches past the end of its storage.
    """
    if r.sizes != t.sizes:
        for source in (t, *tensors):
            _ = source.array  # raises StorageExceeded
        r.resize(t.sizes)


def store(r: Tensor, values: Array) -> None:
    """Resize a tensor to an array's shape and set its elements; the array may be a view of it."""
    fresh = values.base is None and values.size > 0
    if fresh and r.storage is None and values.dtype == r.dtype.numpy and values.flags.c_contiguous:
        r.take_over(values)
        return
    if not fresh and r.storage is not None and np.may_share_memory(values, r.storage.data):
        values = values.copy()
    r.resize(values.shape)
    if values.size:
        r.array[...] = values


def compute_each(
    r: Tensor, compute: Compute, *operands: Tensor | float, told: str = "r_ t src"
) -> None:
    """r = compute(*operands), element by element; r gets the sizes of the first tensor.

    told: what the error about different numbers of elements calls r and the tensors; of the first
    tensor r's name stands alone where there are as many names as tensors.
    """
    first, *further = sources = [x for x in operands if isinstance(x, Tensor)]
    if further and any(x.sizes != first.sizes and x.nelement != first.nelement for x in further):
        words = told.split()
        named = sources if len(words) == len(sources) else [first, *sources]
        check_counts(**dict(zip(words, named, strict=True)))
    resize_for(r, *sources)
    elementwise(r, compute, *operands)


def elementwise(r: Tensor, compute: Compute, *operands: Tensor | float) -> None:
    """Compute r = compute(*operands) for each element; all tensors have r's number of elements.

    r may be among the operands; others that share memory with it are read as if they had been
    copied before. The work on large contiguous tensors is divided among threads; a compute that is
    no ufunc gets pieces small enough for its intermediate results to stay in the processor's cache.
    """
    if r.overlaps_itself:
        _ = r.array  # raises StorageExceeded
        _compute_overlapping(r, compute, operands)
        return
    out = r.array
    inputs = [
        copy_if_shared(shaped_as(x, r), out) if isinstance(x, Tensor) else x for x in operands
    ]
    if out.size >= LARGE or (out.size > PIECE and not isinstance(compute, np.ufunc)):
        _compute_large(compute, [out, *inputs])
    else:
        compute(*inputs, out=out)


def copy_if_shared(source: Array, out: Array) -> Array:
    """Return a source, or a copy of it where writing to an array may change it.

    A source that lies in memory exactly as the array does is read element by element before it is
    written: it needs no copy.
    """
    same = source.ctypes.data == out.ctypes.data and source.strides == out.strides
    return source if same or not may_share(source, out) else source.copy()


def may_share(a: Array, b: Array) -> bool:
    """Return whether arrays have elements in common; True, too, where that takes long to find."""
    return np.may_share_memory(a, b, max_work=1000)  # type: ignore[arg-type] # a narrow stub


def _compute_large(compute: Compute, arrays: list[Any]) -> None:
    def part(arrays: list[Any], at: Any) -> None:
        out, *inputs = (x[at] if isinstance(x, np.ndarray) else x for x in arrays)
        compute(*inputs, out=out)

    flat = flatten(arrays)
    if isinstance(compute, np.ufunc):
        compute_large(compute, *(flat or arrays))
    elif flat is not None:
        count = arrays[0].size
        piece = shared_piece(count, current(ThreadPool).count)
        share(partial(part, flat), count, piece=piece or PIECE, large=0 if piece else count + 1)
    else:
        for at in blocks(arrays[0].shape):
            part(arrays, at)


def _compute_overlapping(r: Tensor, compute: Compute, operands: tuple[Tensor | float, ...]) -> None:
    """Compute r where several elements of it are one element of its storage.

    Torch7: computes one element after the other, so that an element of the storage that is met
    again has changed already. Here all first visits of elements of the storage are computed
    together, then all second visits, and so on; that gives the same values.
    """
    assert r.storage is not None
    memory = r.storage.data
    positions = storage_positions(r)
    visits = _count_earlier(positions)
    order = np.lexsort((positions, visits))  # r's elements by the number of the visit
    positions = positions[order]
    readers = [_reader(x, r, positions, order) for x in operands]
    ends = np.cumsum(np.bincount(visits)).tolist()
    if _accumulates(compute, r, operands) and len(positions) == len(ends) * ends[0]:
        values = np.empty((len(ends) + 1, ends[0]), memory.dtype)
        values[0], later_visits = memory[positions[: ends[0]]], readers[1](slice(None))
        values[1:] = (
            later_visits.reshape(len(ends), -1)
            if isinstance(later_visits, np.ndarray)
            else later_visits
        )
        memory[positions[: ends[0]]] = compute.accumulate(values)[-1]  # type: ignore[attr-defined]
        return
    for start, end in itertools.pairwise([0, *ends]):
        part = slice(start, end)
        result = np.empty(end - start, memory.dtype)
        compute(*[read(part) for read in readers], out=result)
        memory[positions[part]] = result


def storage_positions(r: Tensor) -> Array:
    """The positions of a tensor's elements in its storage, in the order of the elements."""
    offsets = np.full(r.sizes, r.offset)
    for d, (size, stride) in enumerate(zip(r.sizes, r.strides, strict=True)):
        shape = [1] * r.ndim
        shape[d] = size
        offsets += (np.arange(size) * stride).reshape(shape)
    return offsets.reshape(-1)


def _count_earlier(positions: Array) -> Array:
    """For each entry how many of the entries before it are equal to it."""
    order = np.argsort(positions, kind="stable")
    starts = np.flatnonzero(np.diff(positions[order], prepend=-1))
    earlier: Array = np.empty(len(positions), np.int64)
    counts = np.diff(starts, append=len(positions))
    earlier[order] = np.arange(len(positions)) - np.repeat(starts, counts)
    return earlier


def _reader(x: Tensor | float, r: Tensor, positions: Array, order: Array) -> Callable[[slice], Any]:
    """A function that gives an operand's current values for a part of r's elements.

    order: r's elements in the order in which they are computed. positions: where they are in the
    storage.
    """
    if not isinstance(x, Tensor):
        return lambda part: x
    if x.is_set_to(r):
        return lambda part: r.storage.data[positions[part]]  # type: ignore[union-attr]
    values = x.flat[order]
    return lambda part: values[part]


def _accumulates(compute: Compute, r: Tensor, operands: tuple[Tensor | float, ...]) -> bool:
    """Tell whether the ufunc's accumulate can compute all visits: r = ufunc(r, another operand)."""
    if not isinstance(compute, np.ufunc) or len(operands) != 2:
        return False
    first, second = operands
    in_place = [isinstance(x, Tensor) and x.is_set_to(r) for x in (first, second)]
    return in_place == [True, False]


def usage_error(call: Call, text: str) -> TorchError:
    """The error about a wrong number of arguments; T in the text stands for the class."""
    return TorchError(
        text.replace("T,", f"{call.dtype.tensor_name},").replace(
            "T expected", f"{call.dtype.tensor_name} expected"
        )
    )
