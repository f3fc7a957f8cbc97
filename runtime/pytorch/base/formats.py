"""How elements lie in memory: torch.strided, torch.contiguous_format and the like."""

from __future__ import annotations


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
