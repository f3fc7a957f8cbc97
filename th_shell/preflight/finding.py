"""Findings in a program: a place, the thing, why it is wrong, and what to do.

Rules find them, and LuaJIT's compiler, which stops at the first syntax error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from th_shell.nearest import nearest
from th_shell.preflight import syntax_tree as tree
from th_shell.runtime.shell import Engine, LuaSyntaxError, tokens


@dataclass(frozen=True)
class Lack:
    """Why something is not here, and what to do about it."""

    why: str
    advice: str


@dataclass(frozen=True)
class RuleFinding:
    """A rule's finding at an expression."""

    node: tree.Node
    #: The subject and the piece of code, as a `Finding` has them.
    subject: str
    what: str
    lack: Lack


@dataclass(frozen=True)
class Finding:
    """A place in a file at which something is wrong."""

    path: Path
    #: From 1.
    line: int
    #: From 1, in characters.
    column: int
    #: The thing it is about, by which findings are counted together.
    subject: str
    #: The piece of code.
    what: str
    lack: Lack
    #: The condition of the innermost branch that it stands in, or ''.
    condition: str = ""
    #: The length of the text there, in characters.
    length: int = 1

    @property
    def message(self) -> str:
        """The finding in one sentence."""
        return f"{self.what}: {self.lack.why}; {self.lack.advice}"


def no_such(why: str, name: str, names: Iterable[str]) -> Lack:
    """Return a name that is not there, with one that may be meant."""
    close = nearest(name, [candidate for candidate in names if not candidate.startswith("_")])
    return Lack(why, f"there is {close[0]}" if close else "define it, or leave it out")


# -- syntax errors

_PLACE = re.compile(r"^.*?:(\d+): ", re.DOTALL)
_WRONG = Lack("LuaJIT does not compile it", "correct it")

#: Signs of Lua 5.3 and 5.4, with what stands for them in LuaJIT.
_SIGNS = {
    "//": "use math.floor(a / b)",
    "&": "use bit.band",
    "|": "use bit.bor",
    "~": "use bit.bxor or bit.bnot",
    "<<": "use bit.lshift",
    ">>": "use bit.rshift",
}
_ATTRIBUTE = re.compile(r"\blocal\s+\w+\s*<\s*(?:const|close)\s*>")


def first_error(code: bytes, engine: Engine) -> tuple[int, str] | None:
    """Return the line, from 1, and the message of a source's first error; None for none."""
    try:
        engine.compile(code, b"=lua")
    except LuaSyntaxError as error:
        place = _PLACE.match(error.message)
        return int(place[1]) if place else 1, _PLACE.sub("", error.message, count=1)
    return None


def syntax_error(path: Path, source: str, line: int, message: str) -> Finding:
    """Return a syntax error, at what LuaJIT stumbles over."""
    lines = source.split("\n")
    text = lines[line - 1] if line <= len(lines) else ""
    near = message.partition(" near '")[2].removesuffix("'")
    at = text.rfind(near) if near else -1
    length = len(near) if at >= 0 else max(len(text.strip()), 1)
    column = (at if at >= 0 else len(text) - len(text.lstrip())) + 1
    what = f"syntax error: {message}"
    return Finding(path, line, column, "syntax", what, _dialect(text), "", length)


def _dialect(text: str) -> Lack:
    """Return what to do about a line that is wrong."""
    if _ATTRIBUTE.search(text):
        return Lack("attributes of locals are Lua 5.4's", "leave them out")
    for token in tokens(text):
        if token.kind == "sign" and token.text in _SIGNS:
            return Lack(f"{token.text} is an operator of Lua 5.3", _SIGNS[token.text])
    return _WRONG
