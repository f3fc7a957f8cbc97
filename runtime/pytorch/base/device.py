"""torch.device: where a tensor is. Any device has a name; tensors are on the processor alone.

Of other options, too, only one value is provided: any other is an error that names what is
missing. Errors of devices that are not there are those of PyTorch on a machine without them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from th_shell.runtime.core.pickles import makes, restored

NO_DRIVER = (
    "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed "
    "a driver from http://www.nvidia.com/Download/index.aspx"
)
NO_AUTOGRAD = (
    "autograd is not provided here: tensors have no gradients, and requires_grad stays False"
)
_TYPES = (
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu "
    "mtia privateuseone"
).split()
_TEXT = re.compile(r"(?P<type>[A-Za-z_]+)(?::(?P<index>0|[1-9][0-9]*))?")


class device:  # noqa: N801 (PyTorch's name)
    """A device: its type ('cpu'), and its index, None for the current one."""

    __module__ = "torch"
    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        """Make the device of a text ('cuda:1'), of a type and an index, or of an index of CUDA's.

        Raises RuntimeError for names of no device.
        """
        if isinstance(type, device):
            type, index = type.type, type.index
        elif isinstance(type, int):
            type, index = "cuda", type
        self.type, in_text = _parse(type)
        self.index = in_text if index is None else index

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, ("device", self.type, self.index)

    def __eq__(self, value: object) -> bool:
        """Tell whether type and index are the same: 'cpu' and 'cpu:0' are two devices."""
        return isinstance(value, device) and str(self) == str(value)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


makes("device")(device)


def _parse(text: str) -> tuple[str, int | None]:
    """Return the type and the index that a text names."""
    match = _TEXT.fullmatch(text)
    if not match:
        raise RuntimeError(f"Invalid device string: '{text}'")
    name, index = match["type"], match["index"]
    if name not in _TYPES:
        where = f"device type at start of device string: {name}"
        raise RuntimeError(f"Expected one of {', '.join(_TYPES)} {where}")
    return name, int(index) if index else None


CPU = device("cpu")


# -- options of which one value alone is provided


def check_device(value: Any) -> None:
    """Raise the error of PyTorch without devices where a tensor is wanted on one."""
    if value is None:
        return
    place = device(value)
    if place.type == "cuda":
        raise RuntimeError(NO_DRIVER)
    if place.type != "cpu":
        raise NotImplementedError(f"tensors on the device '{place}' are not provided here")


def set_default_device(device: Any) -> None:
    """Set the device of new tensors. Raises RuntimeError for one other than the processor."""
    check_device(device)


def _check_gradient(value: Any) -> None:
    if value:
        raise NotImplementedError(NO_AUTOGRAD)


def _check_pinned(value: Any) -> None:
    if value:
        raise RuntimeError(NO_DRIVER)


#: What looks at an option's value; implementations do not get these.
OPTIONS: dict[str, Callable[[Any], None]] = {
    "device": check_device,
    "layout": lambda value: None,
    "pin_memory": _check_pinned,
    "requires_grad": _check_gradient,
}
