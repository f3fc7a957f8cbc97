"""What element-wise operations share: operands of one shape, and checks of their counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.dtypes import Array
from runtime.errors import TorchError
from runtime.tensor import Tensor, describe

__all__ = ["check_counts", "elementwise", "like"]


def check_counts(**tensors: Tensor) -> None:
    """Raise the reference's error where tensors differ in their number of elements."""
    counts = [t.nelement for t in tensors.values()]
    if all(count == counts[0] for count in counts):
        return
    named = [f"{name.rstrip('0123456789')} {describe(t.sizes)}" for name, t in tensors.items()]
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


def elementwise(r: Tensor, compute: Callable[..., Any], *operands: Tensor | float) -> None:
    """r = compute(*operands) for each element; all tensors have r's number of elements.

    compute: a numpy ufunc. r may be among the operands.
    """
    if r.overlaps_itself:
        _one_visit_at_a_time(r, compute, operands)
        return
    compute(*[like(x, r) if isinstance(x, Tensor) else x for x in operands], out=r.array)


def _one_visit_at_a_time(
    r: Tensor, compute: Callable[..., Any], operands: tuple[Tensor | float, ...]
) -> None:
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
        memory[places[now]] = compute(*inputs)
