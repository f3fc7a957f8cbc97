"""The lines that greet at a terminal."""

from __future__ import annotations

__all__ = ["BANNER"]

BANNER = """\
th: the Torch7 shell, on LuaJIT and numpy
? for an overview, ? torch.randn for one function, Ctrl-D to leave
"""
