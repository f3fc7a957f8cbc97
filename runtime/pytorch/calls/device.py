"""torch.device: where a tensor is. Any device has a name; tensors are on the processor alone.

Of other options, too, only one value is provided: any other is an error that names what is
missing.

Errors of devices that are not there are those of PyTorch on a machine without them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from th_shell.runtime.core.pickles import makes, restored
from th_shell.torch.base.c_types import CType
from th_shell.torch.base.dtypes import layout, memory_format
from th_shell.torch.calls.argument_types import register_kind
from th_shell.torch.calls.messages import arguments_of
from th_shell.torch.calls.schema import parse

NO_DRIVER = (
    "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed "
    "a driver from http://www.nvidia.com/Download/index.aspx"
)
_TYPES = (
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu "
    "mtia privateuseone"
).split()
_TEXT = re.compile(r"(?P<type>[A-Za-z_]+)(?::(?P<index>0|[1-9][0-9]*))?")
_INT_LIMIT = 2**31
_FORMS = (parse("device(torch.device device)"), parse("device(str type, int? index = -1)"))


class device(CType):
    """A device: its type ('cpu'), and its index, None for the current one."""

    __module__ = "torch"
    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __new__(cls, *args: Any, **named: Any) -> device:
        """Return the device of a text ('cuda:1'), of a type and an index, or of an index of CUDA's.

        Errors: RuntimeError for names of no device; TypeError for other arguments.
        """
        form, arguments = arguments_of(_FORMS, args, named)
        return _of_one(**arguments) if form is _FORMS[0] else _of_type(**arguments)

    def __repr__(self) -> str:
        """Return the device as PyTorch prints it: an index below 0 as 16 bits without sign."""
        index = "" if self.index is None else f", index={self.index & 0xFFFF}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        """Return the text that names it."""
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the call that makes an equal object, for pickle and copy."""
        return restored, ("device", self.type, self.index)

    def __eq__(self, value: object) -> bool:
        """Tell whether type and index are the same: 'cpu' and 'cpu:0' are two devices."""
        return isinstance(value, device) and str(self) == str(value)

    def __hash__(self) -> int:
        """Return the hash, which equal devices share."""
        return hash((self.type, self.index))

    def __lt__(self, value: object) -> bool:
        """Raise TypeError: devices have no order."""
        if not isinstance(value, device):
            return NotImplemented
        raise TypeError("comparison not implemented")

    __le__ = __gt__ = __ge__ = __lt__

    def __enter__(self) -> device:
        """Begin a block whose new tensors are on this device, which can only be the processor."""
        check_device(self)
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the block."""


@makes("device")
def _device(type: str, index: int | None) -> device:
    """Return the device of a known type. PyTorch: an index has 8 bits, of which -1 means none."""
    new = object.__new__(device)
    if index is not None:
        index = (index + 128) % 256 - 128
    object.__setattr__(new, "type", type)
    object.__setattr__(new, "index", None if index == -1 else index)
    return new


def _of_one(device: Any) -> Any:
    """Return the device of a text, or of an index of CUDA's; or that device."""
    if isinstance(device, (str, bytes)):
        return _device(*_parse(device if isinstance(device, str) else device.decode()))
    return _device("cuda", _not_negative(device)) if isinstance(device, int) else device


def _of_type(type: str, index: int | None = None) -> device:
    """Return the device of a type and an index that were given apart."""
    name, in_text = _parse(type)
    if in_text is not None:
        why = "because index was passed explicitly"
        raise RuntimeError(f"type (string) must not include an index {why}: {type}")
    return _device(name, None if index is None else _not_negative(index))


def _parse(text: str) -> tuple[str, int | None]:
    """Return the type and the index that a text names."""
    if not text:
        raise RuntimeError("Device string must not be empty")
    match = _TEXT.fullmatch(text)
    if not match:
        raise RuntimeError(f"Invalid device string: '{text}'")
    name, index = match["type"], match["index"]
    if name not in _TYPES:
        where = f"device type at start of device string: {name}"
        raise RuntimeError(f"Expected one of {', '.join(_TYPES)} {where}")
    if index and int(index) >= _INT_LIMIT:
        raise RuntimeError(f"Could not parse device index '{index}' in device string '{text}'")
    return name, int(index) if index else None


def _not_negative(index: int) -> int:
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    return index


def check_device(value: Any) -> None:
    """Raise the error of PyTorch without devices where a tensor is wanted on one."""
    if value is None:
        return
    place = value if isinstance(value, device) else device(value)
    if place.type == "cuda":
        raise RuntimeError(NO_DRIVER)
    if place.type != "cpu":
        raise NotImplementedError(f"tensors on the device '{place}' are not provided here")


register_kind("torch.device", device, str, bytes, int)
CPU = _device("cpu", None)


def set_default_device(device: Any) -> None:
    """Set the device of new tensors. Raises RuntimeError for one other than the processor."""
    check_device(device)


def get_default_device() -> device:
    """Return the device of new tensors: the processor."""
    return CPU


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
