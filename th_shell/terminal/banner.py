"""The lines that the prompt shows at its start."""

from __future__ import annotations

__all__ = ["BANNER"]

BANNER = """\
th: the Torch7 shell, on LuaJIT and numpy
? for an overview, ? torch.randn for one function, Ctrl-D to leave
"""
