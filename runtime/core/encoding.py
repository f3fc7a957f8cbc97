"""Converts between str of Python and strings of Lua, which are bytes and need not be UTF-8.

Bytes that are no UTF-8 become surrogates, and are the same bytes again on their way back.
"""

from __future__ import annotations

import re

# Newlines are among them: a file's name may have one, and a message is one line.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def to_bytes(text: str) -> bytes:
    """Return the string of Lua for a text."""
    return text.encode("utf-8", "surrogateescape")


def to_text(string: bytes) -> str:
    """Return the text for a string of Lua."""
    return string.decode("utf-8", "surrogateescape")


def printable(name: bytes) -> str:
    """Return a file's name for a message, in which control codes are digits, as Lua's \\027."""
    return _CONTROL.sub(_digits, to_text(name))


def _digits(code: re.Match[str]) -> str:
    return "".join(f"\\{byte:03d}" for byte in code[0].encode())
