"""Options that many functions have, and of which only one value is provided: a device, autograd.

A wrong value is an error that names what is missing, so that nothing is left out in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.pytorch.device import NO_DRIVER, check_device, device
from runtime.pytorch.kinds import register_kind

__all__ = ["MEMORY_FORMATS", "NO_AUTOGRAD", "OPTIONS", "layout", "memory_format", "strided"]

NO_AUTOGRAD = (
    "autograd is not provided here: tensors have no gradients, and requires_grad stays False"
)


class _Named:
    """A constant of the module, such as torch.strided."""

    __module__ = "torch"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class layout(_Named):  # noqa: N801 (PyTorch's name)
    """How a tensor lies in memory: torch.strided."""


class memory_format(_Named):  # noqa: N801 (PyTorch's name)
    """The order of a new tensor's dimensions in memory."""


strided = layout("strided")
MEMORY_FORMATS = tuple(
    memory_format(name)
    for name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
)


def _check_layout(value: Any) -> None:
    if value is not None and value.name != "strided":
        raise NotImplementedError(f"sparse tensors are not provided here (layout {value!r})")


def _check_gradient(value: Any) -> None:
    if value:
        raise NotImplementedError(NO_AUTOGRAD)


def _check_pinned(value: Any) -> None:
    if value:
        raise RuntimeError(NO_DRIVER)


#: What looks at an option's value; implementations do not get these.
OPTIONS: dict[str, Callable[[Any], None]] = {
    "device": check_device,
    "layout": _check_layout,
    "pin_memory": _check_pinned,
    "requires_grad": _check_gradient,
}

register_kind("torch.layout", layout)
register_kind("torch.memory_format", memory_format)
register_kind("torch.device", device, str, int)
