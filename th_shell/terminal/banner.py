"""The lines that th shows at its start, and its prompt."""

from __future__ import annotations

__all__ = ["BANNER", "PROMPT"]

BANNER = """\
th: the Torch7 shell, on LuaJIT and numpy
? for an overview, ? torch.randn for one function, Ctrl-D to leave
"""

PROMPT = "th> "
