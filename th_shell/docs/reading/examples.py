"""Splits the code blocks of a page into examples: inputs, each with the text documented under it.

An input is a line with a prompt and its continuation lines, or a statement without a prompt.
LuaJIT decides where it ends (see `compiler`); a line without a prompt that does not compile is
output. Text with no input above it becomes an example that is not run, so that the report has all
of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.document import Block, Line
from th_shell.docs.settings.settings import Hidden, Settings
from th_shell.inputs import Syntax

__all__ = ["Example", "Kind", "cut"]

#: The prompts 'th> ' and '> ', and those of continuation lines: '>> ', '..> '.
_PROMPT_LINE = re.compile(r"^\s*(?:th)?>(?!>)\s?(?P<input>.*)$")
_MORE = re.compile(r"^\s*(?:>>|\.\.\.?>|(?:th)?>)\s?(?P<input>.*)$")
_SHELL = re.compile(r"^\s*(?:>\s*)?\$\s+(?P<input>\S.*)$")

_NAME = r"[A-Za-z_]\w*"
_ASSIGNED = re.compile(rf"(?:^|[;\s])({_NAME}(?:\s*,\s*{_NAME})*)\s*=(?!=)")
_LOCAL = re.compile(r"^\s*local\s+")


class Kind(Enum):
    """What an example's input is in its page."""

    PROMPT = "prompt"  #: Lua behind a prompt
    BARE = "bare"  #: Lua without a prompt
    SHELL = "shell"  #: a line of the system's shell, '$ command'
    TEXT = "text"  #: none: text without an input above it


@dataclass(frozen=True)
class Example:
    """An input and the text under it.

    line: the line of the page where the input begins, from 1. block: the number of its block.
    source: the input without prompts. expected: the text under it. last: the line where the input
    ends. documented: the first and the last line of the text under it, None where there is none.
    heading: the heading above. language: that of source. settings: how it is run and judged.
    hidden: what is done before it, or at the page's end, and not shown.
    """

    line: int
    block: int
    kind: Kind
    source: str
    expected: str = ""
    last: int = 0
    documented: tuple[int, int] | None = None
    heading: str = ""
    language: str = "lua"
    settings: Settings = Settings()
    hidden: tuple[Hidden, ...] = ()


def cut(blocks: Iterable[Block], compiler: Compiler) -> list[Example]:
    """The examples of a page's blocks, in order."""
    cutters = (_Cutter(number, block, compiler) for number, block in enumerate(blocks))
    return [example for cutter in cutters for example in cutter.cut()]


class _Cutter:
    """Splits one block into examples."""

    def __init__(self, number: int, block: Block, compiler: Compiler) -> None:
        self._number = number
        self._block = block
        self._lines = block.lines
        self._compiler = compiler
        self._assigned: set[str] = set()
        self._inputs: list[Example] = []
        self._outputs: list[list[Line]] = []
        self._open = False

    def cut(self) -> list[Example]:
        at = 0
        while at < len(self._lines):
            used = self._shell(at) or self._prompt(at) or self._bare(at)
            if not used:
                self._output(self._lines[at])
            at += used or 1
        return list(map(_with_output, self._inputs, self._outputs))

    # -- reading an input that begins at a line; each returns how many lines it has, or 0

    def _shell(self, at: int) -> int:
        match = _SHELL.match(self._lines[at].text)
        if match:
            self._input(at, 1, Kind.SHELL, match["input"].strip())
        return 1 if match else 0

    def _prompt(self, at: int) -> int:
        match = _PROMPT_LINE.match(self._lines[at].text)
        if not match:
            return 0
        source, used = match["input"], 1
        if self._compiler.typed(source) is Syntax.INCOMPLETE:
            source, used = self._completed(source, at) or (source, 1)
        self._input(at, used, Kind.PROMPT, source)
        return used

    def _bare(self, at: int) -> int:
        source = self._lines[at].text
        if not source.strip():
            return 0
        if self._is_query(source):
            self._input(at, 1, Kind.PROMPT, source)
            return 1
        used = 1
        state = self._compiler.statement(source)
        if state is Syntax.INCOMPLETE and self._compiler.expression(source) is not Syntax.COMPLETE:
            source, used = self._completed(source, at) or ("", 0)
        elif state is not Syntax.COMPLETE:
            used = 0
        if used:
            self._input(at, used, Kind.BARE, source)
        return used

    def _is_query(self, source: str) -> bool:
        # '= x', or 'x' alone if the block has assigned x: an input whose prompt the page omits.
        text = source.strip()
        if text.startswith("="):
            return self._compiler.expression(text[1:]) is Syntax.COMPLETE
        return text in self._assigned

    def _completed(self, source: str, at: int) -> tuple[str, int] | None:
        # The input completed by as few lines as possible, and how many; None if that is impossible.
        for used, line in enumerate(self._lines[at + 1 :], 2):
            more = _MORE.match(line.text)
            source += "\n" + (more["input"] if more else line.text)
            state = self._compiler.typed(source)
            if state is Syntax.COMPLETE:
                return source, used
            if state is Syntax.WRONG:
                return None
        return None

    # -- collecting inputs and outputs

    def _input(self, at: int, used: int, kind: Kind, source: str) -> None:
        source = source.strip()
        self._open = bool(source) and (kind is Kind.SHELL or not self._is_comment(source))
        if not self._open:
            return
        for names in _ASSIGNED.findall(source):
            self._assigned.update(name.strip() for name in names.split(","))
        if kind is Kind.BARE:
            source = self._without_local(source)
        self._add(kind, source, self._lines[at : at + used])

    def _is_comment(self, source: str) -> bool:
        return source.startswith("--") and self._compiler.is_comment(source)

    def _without_local(self, source: str) -> str:
        # Each statement runs as a chunk of its own, where a local of a former one does not exist.
        text = _LOCAL.sub("", source)
        return text if self._compiler.statement(text) is Syntax.COMPLETE else source

    def _output(self, line: Line) -> None:
        if self._open:
            self._outputs[-1].append(line)
        elif line.text.strip():
            self._add(Kind.TEXT, "", [line])
            self._outputs[-1].append(line)
            self._open = True

    def _add(self, kind: Kind, source: str, lines: Sequence[Line]) -> None:
        example = Example(lines[0].number, self._number, kind, source, last=lines[-1].number)
        self._inputs.append(replace(example, heading=self._block.heading))
        self._outputs.append([])


def _with_output(example: Example, output: Sequence[Line]) -> Example:
    shown = [line.number for line in output if line.text.strip()]
    return replace(
        example,
        expected="\n".join(line.text for line in output).strip("\n"),
        documented=(shown[0], shown[-1]) if shown else None,
    )
