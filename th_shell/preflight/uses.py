"""What an input has to do with the variables of its session."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from th_shell.preflight.parser import NotLuaError, parse
from th_shell.preflight.syntax_tree import Call, Invoke, Name, Use

_LOCAL_MARK = re.compile(r"\Alocal\s+(?=[A-Za-z_])(?!function\b)")


class Uses(NamedTuple):
    """used: the globals that an input mentions; defined: those that it gives a value.

    is_statement: whether it is one, and no bare expression. may_change: whether it assigns or
    calls anything. A local at the beginning of an input counts as a global, since the inputs below
    can use it, too.
    """

    used: frozenset[str]
    defined: frozenset[str]
    is_statement: bool = False
    may_change: bool = False


@lru_cache(maxsize=256)
def uses(source: str) -> Uses:
    """The names of an input, which may be an expression."""
    source = _LOCAL_MARK.sub("", source.strip().removeprefix("="), count=1)
    source = re.sub(r"\Alocal\s+function\b", "function", source)
    for text in (source, f"return {source.rstrip('; ')}"):
        try:
            chunk = parse(text)
        except NotLuaError:
            continue
        names = [node for node in chunk.nodes if isinstance(node, Name) and node.local is None]
        defined = frozenset(node.name for node in names if node.use is Use.ASSIGNED)
        calls = any(isinstance(node, (Call, Invoke)) for node in chunk.nodes)
        is_statement = text == source
        used = frozenset(node.name for node in names)
        return Uses(used, defined, is_statement, is_statement or calls)
    return Uses(frozenset(), frozenset())
