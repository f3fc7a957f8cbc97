"""What a terminal may be sent of texts that others wrote: no control codes.

Names and texts from files can hold codes that move the cursor, hide what follows, or type in
the user's name. They are shown as Lua writes them in strings.
"""

from __future__ import annotations

import re

__all__ = ["visible"]

# All but the newline and the tab, and what bytes that are no text stand for.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udc9f]")


def visible(text: str) -> str:
    """A text with its control codes as digits: ``\\027[2J``."""
    return _CONTROL.sub(_escaped, text)


def _escaped(code: re.Match[str]) -> str:
    return "".join(f"\\{byte:03d}" for byte in code[0].encode("utf-8", "surrogateescape"))
