"""Attributes of tensors that cannot be set: the errors, in PyTorch's words, of setting them."""

from __future__ import annotations

from typing import Any

from runtime.pytorch.tensors.tensor import Tensor


def refuse_writes() -> None:
    """Give all properties of tensors that have no setter one that raises AttributeError."""
    for name, member in list(vars(Tensor).items()):
        if isinstance(member, property) and member.fset is None and not name.startswith("_"):
            refuse = _refusal(name)
            setattr(Tensor, name, property(member.fget, refuse, refuse, member.__doc__))


def _refusal(name: str) -> Any:
    def refuse(self: Tensor, *_: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return refuse
