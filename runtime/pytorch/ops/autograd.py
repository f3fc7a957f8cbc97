"""What tensors answer about gradients: that they have none.

PyTorch's documentation: torch.autograd. Autograd is not provided, so that whatever would begin to
record operations is an error, and what ends it does nothing.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from typing import Any

from runtime.pytorch.calls.options import NO_AUTOGRAD
from runtime.pytorch.calls.table import op
from runtime.pytorch.tensors.tensor import Tensor

__all__ = ["enable_grad", "inference_mode", "is_grad_enabled", "no_grad", "set_grad_enabled"]


@contextmanager
def _nothing() -> Any:
    yield


def no_grad(function: Any = None) -> Any:
    """A `with` block, or a decorator, without gradients: all code is so."""
    return _nothing() if function is None else function


def inference_mode(mode: Any = True) -> Any:
    """A `with` block, or a decorator, without gradients: all code is so."""
    return mode if callable(mode) else _nothing()


def enable_grad(function: Any = None) -> Any:
    """Raise NotImplementedError: there are no gradients."""
    raise NotImplementedError(NO_AUTOGRAD)


def set_grad_enabled(mode: bool) -> AbstractContextManager[None]:
    """Leave gradients off. Raises NotImplementedError where they are wanted."""
    if mode:
        raise NotImplementedError(NO_AUTOGRAD)
    found: AbstractContextManager[None] = _nothing()
    return found


def is_grad_enabled() -> bool:
    """Whether operations are recorded: never."""
    return False


@op(function=False)
def requires_grad_(input: Tensor, requires_grad: bool = True) -> Tensor:
    """Leave the tensor without gradients. Raises NotImplementedError where they are wanted."""
    if requires_grad and not input.dtype.is_floating_point:
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    if requires_grad:
        raise NotImplementedError(NO_AUTOGRAD)
    return input


@op(function=False)
def backward(
    input: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Raise RuntimeError: no operation was recorded."""
    raise RuntimeError(
        f"element 0 of tensors does not require grad and does not have a grad_fn ({NO_AUTOGRAD})"
    )


def _set_requires_grad(self: Tensor, value: bool) -> None:
    requires_grad_(self, value)


_PROPERTIES = {
    "requires_grad": property(lambda self: False, _set_requires_grad),
    "grad": property(lambda self: None),
    "grad_fn": property(lambda self: None),
    "is_leaf": property(lambda self: True),
}
for _name, _property in _PROPERTIES.items():
    setattr(Tensor, _name, _property)
