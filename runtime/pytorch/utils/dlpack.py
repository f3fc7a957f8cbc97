"""torch.utils.dlpack: memory that is shared with other libraries by DLPack's capsules."""

from __future__ import annotations

from th_shell.torch.ops.interchange import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
