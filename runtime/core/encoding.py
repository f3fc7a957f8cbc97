"""Texts of Python and strings of Lua: bytes that are no UTF-8 survive in both directions."""

from __future__ import annotations

import re

# The control codes; in a file's name a newline, too, is none that ends a line.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def to_bytes(text: str) -> bytes:
    """Return the string of Lua for a text."""
    return text.encode("utf-8", "surrogateescape")


def to_text(string: bytes) -> str:
    """Return the text for a string of Lua."""
    return string.decode("utf-8", "surrogateescape")


def shown(name: bytes) -> str:
    """Return a file's name for a message, with control codes, which a terminal obeys, as digits."""
    return _CONTROL.sub(_digits, to_text(name))


def _digits(code: re.Match[str]) -> str:
    return "".join(f"\\{byte:03d}" for byte in code[0].encode())
