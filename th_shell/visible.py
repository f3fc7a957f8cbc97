"""Makes text from files safe to show in a terminal.

Names and texts from files can contain control codes that move the cursor, hide text, or make the
terminal type something. They are shown as Lua writes them in strings.
"""

from __future__ import annotations

import re

__all__ = ["visible"]

# The control codes other than newline and tab, and bytes 0x80 to 0x9f that are no UTF-8.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udc9f]")


def visible(text: str) -> str:
    """A text with its control codes written as digits: ``\\027[2J``."""
    return _CONTROL.sub(_escaped, text)


def _escaped(code: re.Match[str]) -> str:
    return "".join(f"\\{byte:03d}" for byte in code[0].encode("utf-8", "surrogateescape"))
