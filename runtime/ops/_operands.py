"""What element-wise operations share: operands of one shape, checks, and the way through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from runtime.arrays import compute_flat
from runtime.dtypes import Array
from runtime.errors import TorchError
from runtime.tensor import Tensor, describe
from runtime.threads import LARGE, PIECE, blocks, flatten, in_parts

__all__ = ["Compute", "check_counts", "elementwise", "like", "partly_shared", "store"]

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
            in_parts(partial(part, flat), arrays[0].size, piece=PIECE)
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
    offsets = np.full(r.sizes, r.offset)
    for d, (size, stride) in enumerate(zip(r.sizes, r.strides, strict=True)):
        shape = [1] * r.ndim
        shape[d] = size
        offsets += (np.arange(size) * stride).reshape(shape)
    places = offsets.reshape(-1)
    order = np.argsort(places, kind="stable")
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    visits = np.empty(len(places), np.int64)
    visits[order] = np.arange(len(places)) - np.repeat(starts, np.diff(starts, append=len(places)))
    for visit in range(int(visits.max()) + 1):
        now = visits == visit
        inputs = [x.flat[now] if isinstance(x, Tensor) else x for x in operands]
        result = np.empty(int(now.sum()), memory.dtype)
        compute(*inputs, out=result)
        memory[places[now]] = result
