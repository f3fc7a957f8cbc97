"""What element-wise operations share: operands of one shape, and checks of their counts."""

from __future__ import annotations

from runtime.dtypes import Array
from runtime.errors import TorchError
from runtime.tensor import Tensor, describe

__all__ = ["check_counts", "like"]


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
