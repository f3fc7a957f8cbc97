"""What `Engine.inspect` tells of a value: facts by the names that lua/inspect.lua gives them."""

from __future__ import annotations

from typing import Any

from runtime.core.texts import to_text

#: Texts, numbers and booleans by their names; empty where there is no value.
Facts = dict[str, "str | int | float | bool"]


def read_facts(found: Any) -> Facts:
    """The facts in a table of Lua's, or in nil."""
    if found is None:
        return {}
    return {to_text(name): _read(fact) for name, fact in found.items()}


def _read(fact: Any) -> str | int | float | bool:
    return to_text(fact) if isinstance(fact, bytes) else fact
