"""The loops of LuaJIT that make numbers one after the other (``lua/streams/draws.lua``)."""

from __future__ import annotations

from functools import cache
from typing import Any

from runtime.core.dtypes import Array

__all__ = ["run"]


@cache
def _functions() -> dict[bytes, Any]:
    """The loops by name. Their Lua state is made at the first use; threads take turns in it."""
    from runtime.luajit import draw_functions

    return draw_functions()


def run(name: bytes, *args: Array | float) -> None:
    """Call a loop; it gets arrays, which must be contiguous, as their addresses."""
    _functions()[name](
        *[a if isinstance(a, (int, float)) else a.__array_interface__["data"][0] for a in args]
    )
