"""What `Engine.members` tells of the names that may follow a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from runtime.core.texts import to_text


class Member(NamedTuple):
    """A name. kind: the Lua type of its value.

    parameters: of a function, as written in Lua ('' where they are not known). is_operation:
    whether it is a function of the runtime that may have rows in the table of operations.
    """

    name: str
    kind: str
    parameters: str = ""
    is_operation: bool = False


class Members(NamedTuple):
    """The names that may follow a path, in alphabetic order.

    owner: the torch class of the object that they are of, or ''. more: how many others there are at
    least, where there were more than were asked for.
    """

    owner: str
    found: list[Member]
    more: int


def read_members(owner: bytes, more: int, flat: Any) -> Members:
    """The members that lua/names.lua lists."""
    texts = [to_text(text) for text in flat.values()]
    found = sorted(_members(texts), key=lambda member: (member.name.lower(), member.name))
    return Members(to_text(owner), found, int(more))


def _members(texts: list[str]) -> Iterator[Member]:
    for at in range(0, len(texts), 4):
        name, kind, parameters, mark = texts[at : at + 4]
        yield Member(name, kind, parameters, bool(mark))


def steps_of(path: str) -> list[str]:
    """The steps of a dotted path of names ('' for the globals)."""
    return [f".{name}" for name in path.split(".") if name]
