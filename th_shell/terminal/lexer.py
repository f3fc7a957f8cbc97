"""Syntax highlighting of inputs: the lexer and the colours.

Each line is read by itself, and kept: a key in a long input changes one line. Only strings and
comments in long brackets go on from line to line.

The colours are the sixteen of the terminal, which the user has chosen to be readable.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer, PygmentsLexer
from prompt_toolkit.styles import Style

from th_shell.session.commands import is_command

__all__ = ["STYLE", "InputLexer"]

STYLE = Style.from_dict(
    {
        "prompt": "ansigreen",
        "command": "ansicyan",
        "pygments.comment": "ansibrightblack italic",
        "pygments.keyword": "ansiblue bold",
        "pygments.keyword.constant": "ansicyan",
        "pygments.keyword.declaration": "ansiblue bold",
        "pygments.literal.number": "ansicyan",
        "pygments.literal.string": "ansigreen",
        "pygments.literal.string.escape": "ansiyellow",
        "pygments.name": "",
        "pygments.name.builtin": "ansimagenta",
        "pygments.name.function": "",
        "pygments.operator": "",
        "pygments.operator.word": "ansiblue bold",
    }
)


#: What may hold a long bracket that is none, and long brackets of comments and strings.
_LONG = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(?P<comment>--)?\[(?P<level>=*)\[|--.*")


class _Open(NamedTuple):
    """A long bracket that a line begins in. level: its '=' signs."""

    style: str
    level: str


class InputLexer(Lexer):
    """Highlights Lua code; a line '? name' or '$ command' has a single colour."""

    def __init__(self) -> None:
        self._lua: Lexer | None = None
        self._read = lru_cache(maxsize=20_000)(self._read_line)

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """The styled parts of each line."""
        if not document.text:
            return lambda number: []
        if is_command(document.text):
            return lambda number: [("class:command", document.lines[number])]
        # What each line begins in; lines that are not shown are not lexed.
        begins: list[_Open | None] = [None]

        def line(number: int) -> StyleAndTextTuples:
            for text in document.lines[len(begins) - 1 : number]:
                begins.append(_divided(begins[-1], text)[2])
            return self._read(begins[number], document.lines[number])

        return line

    def _read_line(self, opened: _Open | None, line: str) -> StyleAndTextTuples:
        start, end, last = _divided(opened, line)
        parts: StyleAndTextTuples = []
        if opened and start:
            parts.append((opened.style, line[:start]))
        parts += self._plain(line[start:end])
        if last and end < len(line):
            parts.append((last.style, line[end:]))
        return parts

    def _plain(self, text: str) -> StyleAndTextTuples:
        if not text:
            return []
        if self._lua is None:
            # Late: the first prompt does without.
            from pygments.lexers.scripting import LuaLexer  # type: ignore[import-untyped]

            self._lua = PygmentsLexer(LuaLexer)
        return self._lua.lex_document(Document(text))(0)


@lru_cache(maxsize=20_000)
def _divided(opened: _Open | None, line: str) -> tuple[int, int, _Open | None]:
    """Where code begins and ends in a line, and the long bracket that goes on behind the line."""
    start = 0
    if opened is not None:
        start = _end(opened.level, line, 0)
        if start < 0:
            return 0, 0, opened
    at = start
    while match := _LONG.search(line, at):
        at = match.end()
        if match["level"] is None:
            continue
        at = _end(match["level"], line, at)
        if at < 0:
            kind = "comment" if match["comment"] else "literal.string"
            return start, match.start(), _Open(f"class:pygments.{kind}", match["level"])
    return start, len(line), None


def _end(level: str, line: str, start: int) -> int:
    """The index behind the end of a long bracket; -1 if it goes on."""
    closing = f"]{level}]"
    at = line.find(closing, start)
    return at if at < 0 else at + len(closing)
