"""Inputs of a session as the inputs of a page, where each is a chunk of its own.

A page has neither locals that outlive their input, nor values behind statements, nor what only a
prompt has: the values of former inputs by their numbers, `who` and pictures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from th_shell.entry import Entry
from th_shell.magics.names import uses
from th_shell.pictures.door import NAMES
from th_shell.preflight.expressions import NotLuaError
from th_shell.preflight.parser import parse

_LOCAL = re.compile(r"\Alocal\s+(?P<rest>(?P<names>\w+(?:\s*,\s*\w+)*)(?P<value>\s*=)?.*)", re.S)
_RESULT = re.compile(r"_(?:\d+|RESULTS)\Z", re.ASCII)


def of_prompt(log: Sequence[Entry]) -> list[Entry]:
    """The inputs that use what only a prompt has, and no program of the session has made."""
    made = {name for entry in log for name in uses(entry.source).defined}
    known = frozenset({"who", *NAMES}) - made
    return [
        entry
        for entry in log
        if any(name in known or _RESULT.match(name) for name in uses(entry.source).used)
    ]


def for_page(log: Sequence[Entry]) -> list[Entry]:
    """The inputs as a page has them: with globals for locals, and values in an input of their own.

    Those that come from one input have its number.
    """
    return [
        entry._replace(source=source) for entry in log for source in _parts(entry.source.strip())
    ]


def _parts(source: str) -> list[str]:
    if _is_lua(source) or _is_lua(_as_value(source)):
        return [_global(source)]
    places = [match.end() for match in re.finditer(r"[;\n]", source.rstrip("; \n"))]
    for place in reversed(places):
        before, value = source[:place].rstrip("; \n"), source[place:].strip()
        if _is_lua(before) and _is_lua(_as_value(value)):
            return [_global(before), value]
    return [source]


def _as_value(source: str) -> str:
    return f"return {source.removeprefix('=').rstrip('; ')}"


def _is_lua(source: str) -> bool:
    try:
        parse(source)
    except NotLuaError:
        return False
    return True


def _global(source: str) -> str:
    """An input that makes globals of the locals that it begins with."""
    found = _LOCAL.match(source)
    if found is None:
        return source
    if found["value"] or found["names"] == "function":
        return found["rest"]
    return f"{found['names']} = nil{found['rest'].removeprefix(found['names'])}"
