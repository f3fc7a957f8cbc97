"""``torch.Size``: the sizes of a tensor, a tuple that prints as PyTorch's."""

from __future__ import annotations

__all__ = ["Size"]


class Size(tuple[int, ...]):
    """The number of elements in each dimension."""

    __slots__ = ()
    __module__ = "torch"

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"
