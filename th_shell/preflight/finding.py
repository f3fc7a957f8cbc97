"""Findings of rules in a program: a place, the thing, why it is wrong, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from th_shell.lua_source import syntax_tree as tree
from th_shell.nearest import nearest
from th_shell.preflight.knowledge import Lack


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
