"""Devices: there is the processor alone, and the errors of all others are PyTorch's."""

from __future__ import annotations

from typing import Any

__all__ = ["NO_DRIVER", "check_device", "device"]

NO_DRIVER = (
    "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed "
    "a driver from http://www.nvidia.com/Download/index.aspx"
)
_TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone"
)


class device:  # noqa: N801 (PyTorch's name)
    """Where a tensor is: ``torch.device('cpu')``, ``torch.device('cuda', 0)``.

    Devices other than 'cpu' can be named, but no tensor can be there.
    """

    __slots__ = ("index", "type")
    __module__ = "torch"

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        elif isinstance(type, int):
            type, index = "cuda", type
        else:
            type, index = _read(type, index)
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "index", index)

    def __setattr__(self, name: str, _: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)


def _read(text: str, index: int | None) -> tuple[str, int | None]:
    name, colon, number = text.partition(":")
    if name not in _TYPES.split(", "):
        raise RuntimeError(
            f"Expected one of {_TYPES} device type at start of device string: {name}"
        )
    if colon and not number.isdigit():
        raise RuntimeError(f"Invalid device string: '{text}'")
    return name, int(number) if colon else index


def check_device(value: Any) -> None:
    """Raise the error of PyTorch without devices where a tensor is wanted on one."""
    if value is None:
        return
    wanted = value if isinstance(value, device) else device(value)
    if wanted.type == "cuda":
        raise RuntimeError(NO_DRIVER)
    if wanted.type != "cpu":
        raise NotImplementedError(f"tensors on the device '{wanted}' are not provided here")
