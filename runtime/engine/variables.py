"""The variables of a session: what they hold, their names, and how they are kept in files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from th_shell.runtime.core.encoding import to_bytes, to_text
from th_shell.runtime.engine.inputs import LuaCall
from th_shell.runtime.errors import check

#: Facts about a value: texts, numbers and booleans by the names of engine/inspect.lua; empty where
#: there is no value.
Facts = dict[str, "str | int | float | bool"]


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
    members: list[Member]
    more: int


class Variables:
    """The variables of a session: its locals, and globals.

    No code of the program runs for what is asked of them.
    """

    def __init__(self, call: LuaCall) -> None:
        """Make it for a session; call: `LuaState.call` of its Lua state."""
        self._call = call

    def inspect(self, path: str, statistics: bool = False) -> Facts:
        """Return the facts about the value that a dotted path leads to; empty where there is none.

        No code of the program is run. statistics: also look at the elements of a tensor or
        storage, if there are very many at some of them, and at the variables that share them.
        """
        facts_of_lua = self._call(b"inspect", to_bytes(path), statistics)
        facts = {} if facts_of_lua is None else dict(facts_of_lua.items())
        return {to_text(n): to_text(f) if isinstance(f, bytes) else f for n, f in facts.items()}

    def names(self, path: str) -> dict[str, str]:
        """Return the names that may follow a dotted path ('' for globals), with their Lua types."""
        steps = [f".{name}" for name in path.split(".") if name]
        return {member.name: member.kind for member in self.members(steps).members}

    def members(
        self, steps: Sequence[str], prefix: str = "", limit: int = 0, any_text: bool = False
    ) -> Members:
        """Return the names that may follow a path (see completion.lua); no code is run.

        limit: how many, and the others are counted; 0: all. any_text: strings that are no names
        count, too.
        """
        path = map(to_bytes, steps)
        return _read_members(*self._call(b"names", to_bytes(prefix), limit, any_text, *path))

    def text_of(self, steps: Sequence[str]) -> tuple[str, str | None]:
        """Return the Lua type of the value that a path leads to, and its text.

        The text is None for what is no string, number or boolean.
        """
        kind, text = self._call(b"text_of", *map(to_bytes, steps))
        return to_text(kind), None if text is None else to_text(text)

    def save(self, name: str, path: str) -> bool:
        """Write the value of a variable to a file, which is replaced when the new one is complete.

        Returns False where it has no value. Raises LuaError.
        """
        return is_done(self._call(b"save_variable", to_bytes(name), os.fsencode(path)))

    def load(self, name: str, path: str) -> None:
        """Set a variable to what `save` has written; its functions are loaded, too.

        Raises LuaError.
        """
        check(self._call(b"load_variable", to_bytes(name), os.fsencode(path)))

    def set(self, name: str, value: bytes) -> None:
        """Set a variable to a string."""
        self._call(b"set_variable", to_bytes(name), value)


def _read_members(owner: bytes, more: int, flat: Any) -> Members:
    """Return the members that engine/completion.lua lists."""
    texts = [to_text(text) for text in flat.values()]
    rows = (texts[at : at + 4] for at in range(0, len(texts), 4))
    members = [Member(name, kind, parameters, bool(mark)) for name, kind, parameters, mark in rows]
    members.sort(key=lambda member: (member.name.lower(), member.name))
    return Members(to_text(owner), members, int(more))


def is_done(result: Any) -> bool:
    """Tell whether a function of Lua that may fail, or has nothing to do, has done its work."""
    if result is not False:
        check(result)
    return result is not False
