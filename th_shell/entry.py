"""What the log of a session keeps of an input."""

from __future__ import annotations

from typing import NamedTuple

from runtime import LuaError

__all__ = ["Entry"]


class Entry(NamedTuple):
    """An input of Lua that was run, and its error. number: from 1."""

    number: int
    source: str
    error: LuaError | None
