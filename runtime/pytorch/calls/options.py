"""Options that many functions have, and of which only one value is provided: a device, autograd.

A wrong value is an error that names what is missing, so that nothing is left out in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.pytorch.base.formats import layout, memory_format
from runtime.pytorch.calls.device import NO_DRIVER, check_device
from runtime.pytorch.calls.kinds import register_kind

NO_AUTOGRAD = (
    "autograd is not provided here: tensors have no gradients, and requires_grad stays False"
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
