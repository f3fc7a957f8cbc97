"""Texts of Python and strings of Lua: bytes that are no UTF-8 survive in both directions."""

from __future__ import annotations

__all__ = ["to_bytes", "to_text"]


def to_bytes(text: str) -> bytes:
    """The string of Lua for a text."""
    return text.encode("utf-8", "surrogateescape")


def to_text(string: bytes) -> str:
    """The text for a string of Lua."""
    return string.decode("utf-8", "surrogateescape")
