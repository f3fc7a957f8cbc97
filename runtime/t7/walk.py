"""Goes through what a file holds, and gives each value a name of keys with dots between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from th_shell.runtime.t7.values import Function, Table, TorchObject

_ROOT = "value"  # the name of what no table holds


def named_values(root: Any) -> Iterator[tuple[str, Any]]:
    """The names and values in a file, but tables, objects of classes and functions.

    What a table or object holds that occurs several times is named once: by the first way there.
    """
    seen: set[int] = set()
    stack = [("", root)]
    while stack:
        name, value = stack.pop()
        inner = _entries(value)
        if inner is None:
            yield name or _ROOT, value
        elif id(value) not in seen:
            seen.add(id(value))
            dot = "." if name else ""
            entries = [(f"{name}{dot}{name_of_key(key)}", item) for key, item in inner.items()]
            stack += reversed(entries)


def _entries(value: Any) -> Table | None:
    if isinstance(value, Table):
        return value
    if isinstance(value, TorchObject):
        return value.fields
    if isinstance(value, Function):
        return value.upvalues if isinstance(value.upvalues, Table) else Table()
    return None


def name_of_key(key: Any) -> str:
    """A key as a part of a name; control codes are shown as digits."""
    if isinstance(key, bool):
        return "true" if key else "false"
    text = key if isinstance(key, str) else repr(key)
    return text if text.isprintable() else text.encode("unicode_escape").decode()
