"""Cuts blocks of a page into examples: inputs, and the text documented under each.

An input is a prompt line with its continuations, or a bare statement. LuaJIT decides where
it ends (`syntax`); a bare line that does not compile is output. Text with no input above it
is kept as an example that is not run, so that nothing of a page is dropped silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from th_shell.docs.document import Block, Line
from th_shell.docs.syntax import State, Syntax

__all__ = ["Example", "Kind", "cut"]

#: 'th> ', '> '; and the prompts that ask for more of an input: '>> ', '..> '.
_PROMPT = re.compile(r"^\s*(?:th)?>(?!>)\s?(?P<input>.*)$")
_MORE = re.compile(r"^\s*(?:>>|\.\.\.?>|(?:th)?>)\s?(?P<input>.*)$")
_SHELL = re.compile(r"^\s*(?:>\s*)?\$\s+(?P<input>\S.*)$")

_NAME = r"[A-Za-z_]\w*"
_ASSIGNED = re.compile(rf"(?:^|[;\s])({_NAME}(?:\s*,\s*{_NAME})*)\s*=(?!=)")
_LOCAL = re.compile(r"^\s*local\s+")


class Kind(Enum):
    """How an input stands in its page."""

    PROMPT = "prompt"
    BARE = "bare"
    SHELL = "shell"
    TEXT = "text"


@dataclass(frozen=True)
class Example:
    """An input and the text under it.

    line: where the input starts, 1-based; block: the number of its block in the page;
    source: the input without prompts; skip: whether the page asks not to run it.
    """

    line: int
    block: int
    kind: Kind
    source: str
    expected: str = ""
    skip: bool = False


def cut(blocks: Iterable[Block], syntax: Syntax) -> list[Example]:
    """The examples of a page's blocks, in order."""
    return [e for number, block in enumerate(blocks) for e in _Cutter(number, block, syntax).cut()]


class _Cutter:
    """Cuts one block."""

    def __init__(self, number: int, block: Block, syntax: Syntax) -> None:
        self._number = number
        self._lines = block.lines
        self._skip = block.skip
        self._syntax = syntax
        self._assigned: set[str] = set()
        self._inputs: list[tuple[int, Kind, str]] = []
        self._outputs: list[list[str]] = []
        self._open = False

    def cut(self) -> list[Example]:
        at = 0
        while at < len(self._lines):
            used = self._shell(at) or self._prompt(at) or self._bare(at)
            if not used:
                self._output(self._lines[at])
            at += used or 1
        return [
            Example(line, self._number, kind, source, "\n".join(output).strip("\n"), self._skip)
            for (line, kind, source), output in zip(self._inputs, self._outputs, strict=True)
        ]

    # -- what a line may be; each returns how many lines it took

    def _shell(self, at: int) -> int:
        match = _SHELL.match(self._lines[at].text)
        if match:
            self._input(at, Kind.SHELL, match["input"].strip())
        return 1 if match else 0

    def _prompt(self, at: int) -> int:
        match = _PROMPT.match(self._lines[at].text)
        if not match:
            return 0
        source, used = match["input"], 1
        if self._syntax.typed(source) is State.INCOMPLETE:
            source, used = self._completed(source, at) or (source, 1)
        self._input(at, Kind.PROMPT, source)
        return used

    def _bare(self, at: int) -> int:
        source = self._lines[at].text
        if not source.strip():
            return 0
        if self._is_query(source):
            self._input(at, Kind.PROMPT, source)
            return 1
        used = 1
        state = self._syntax.statement(source)
        if state is State.INCOMPLETE and self._syntax.expression(source) is not State.COMPLETE:
            source, used = self._completed(source, at) or ("", 0)
        elif state is not State.COMPLETE:
            used = 0
        if used:
            self._input(at, Kind.BARE, source)
        return used

    def _is_query(self, source: str) -> bool:
        # '= x', or 'x' alone where the block gave x a value: prompts that the page leaves out.
        text = source.strip()
        if text.startswith("="):
            return self._syntax.expression(text[1:]) is State.COMPLETE
        return text in self._assigned

    def _completed(self, source: str, at: int) -> tuple[str, int] | None:
        # The shortest run of lines that completes an input; None where no run does.
        for used, line in enumerate(self._lines[at + 1 :], 2):
            more = _MORE.match(line.text)
            source += "\n" + (more["input"] if more else line.text)
            state = self._syntax.typed(source)
            if state is State.COMPLETE:
                return source, used
            if state is State.WRONG:
                return None
        return None

    # -- what was found

    def _input(self, at: int, kind: Kind, source: str) -> None:
        source = source.strip()
        self._open = bool(source) and (kind is Kind.SHELL or not self._is_comment(source))
        if not self._open:
            return
        for names in _ASSIGNED.findall(source):
            self._assigned.update(name.strip() for name in names.split(","))
        if kind is Kind.BARE:
            source = self._without_local(source)
        self._inputs.append((self._lines[at].number, kind, source))
        self._outputs.append([])

    def _is_comment(self, source: str) -> bool:
        return source.startswith("--") and self._syntax.is_comment(source)

    def _without_local(self, source: str) -> str:
        # Each statement runs as a chunk of its own: a local would be gone in the next one.
        text = _LOCAL.sub("", source)
        return text if self._syntax.statement(text) is State.COMPLETE else source

    def _output(self, line: Line) -> None:
        if self._open:
            self._outputs[-1].append(line.text)
        elif line.text.strip():
            self._inputs.append((line.number, Kind.TEXT, ""))
            self._outputs.append([line.text])
            self._open = True
