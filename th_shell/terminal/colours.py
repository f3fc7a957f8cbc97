"""Colours of the prompt: its themes, and the highlighting of inputs line by line.

The theme `terminal` uses the sixteen colours of the terminal, which the user has chosen to be
readable. Other themes are styles of pygments. With the theme `none`, or $NO_COLOR, there are no
colours at all.

A line's colours depend on its text and on the long string or comment that is open before it; both
together are remembered. So a key in a long input costs the highlighting of one line.
"""

import sys
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer, PygmentsLexer
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import BaseStyle, Style, merge_styles, style_from_pygments_cls
from prompt_toolkit.styles.pygments import pygments_token_to_classname
from prompt_toolkit.utils import is_dumb_terminal

from th_shell.config import TERMINAL_THEME, Config
from th_shell.session.commands import COMMANDS, CommandTable
from th_shell.session.conversation import ASCII, UNICODE, PageMarks
from th_shell.tokens import open_mark

_REMEMBERED = 20_000  # lines
_COMMENT, _STRING = "class:pygments.comment", "class:pygments.literal.string"


class _Line(NamedTuple):
    """A highlighted line, and the mark of what is open behind it."""

    parts: StyleAndTextTuples
    mark: str


#: The styled parts of each line of a text, by its number from 0.
Parts = Callable[[int], StyleAndTextTuples]


def lua_parts(document: Document) -> Parts:
    """Return the styled parts of Lua, where each line is looked at once."""
    before = [""]  # the mark of what is open before each line, as far as is known

    def parts(number: int) -> StyleAndTextTuples:
        while len(before) <= number:
            before.append(_line(document.lines[len(before) - 1], before[-1]).mark)
        return _line(document.lines[number], before[number]).parts

    return parts


def python_parts(document: Document) -> Parts:
    """Return the styled parts of Python."""
    return _python().lex_document(document)


class InputLexer(Lexer):
    """Highlights inputs: those for the shell itself have a single colour."""

    def __init__(
        self, commands: CommandTable = COMMANDS, code: Callable[[Document], Parts] = lua_parts
    ) -> None:
        self._commands = commands
        self._code = code

    def lex_document(self, document: Document) -> Parts:
        """Return the styled parts of each line."""
        lines = document.lines
        if self._commands.is_command(document.text):
            return lambda number: [("class:command", lines[number])] if lines[number:] else []
        parts = self._code(document)
        return lambda number: parts(number) if lines[number:] else []


@cache
def _python() -> Lexer:
    from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]  # late, as below

    return PygmentsLexer(PythonLexer)


@lru_cache(maxsize=_REMEMBERED)
def _line(line: str, opened: str) -> _Line:
    """Highlight a line. opened: the mark of what is open before the line, or ''."""
    text = opened + line
    all_tokens, mark = open_mark(text)
    parts: StyleAndTextTuples = []
    start, end = len(opened), len(text)
    if opened:
        start = min(all_tokens[0].end, end)
        parts.append((_style(opened), text[len(opened) : start]))
    tail: StyleAndTextTuples = []
    if mark and all_tokens[-1].start >= start:
        end = all_tokens[-1].start
        tail.append((_style(mark), text[end:]))
    return _Line(parts + _code(text[start:end]) + tail, mark)


def _style(mark: str) -> str:
    return _COMMENT if mark.startswith("--") else _STRING


def _code(text: str) -> StyleAndTextTuples:
    """Return the parts of code in which all strings and comments are closed."""
    return [
        (f"class:{pygments_token_to_classname(kind)}", part)
        for kind, part in (_pygments().get_tokens(text) if text else ())
    ]


@cache
def _pygments() -> Any:
    # Late: the first prompt does without.
    from pygments.lexers.scripting import LuaLexer  # type: ignore[import-untyped]

    return LuaLexer(stripnl=False, ensurenl=False)


# -- colours


STYLE = Style.from_dict(
    {
        "prompt": "ansigreen",
        "command": "ansicyan",
        "matching-bracket.cursor": "noinherit bold",
        "matching-bracket.other": "noinherit bold underline",
        "signature": "ansibrightblack",
        "signature.argument": "ansidefault",
        "auto-suggestion": "ansibrightblack",
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


def color_depth(config: Config) -> ColorDepth | None:
    """Return the number of colours; None for as many as the terminal has."""
    return None if config.in_colour else ColorDepth.DEPTH_1_BIT


def style(config: Config) -> BaseStyle:
    """Return the style of the theme."""
    if not config.in_colour:
        return Style([])
    if config.theme == TERMINAL_THEME:
        return STYLE
    from pygments.styles import get_style_by_name  # type: ignore[import-untyped]

    return merge_styles([STYLE, style_from_pygments_cls(get_style_by_name(config.theme))])


def page_marks(config: Config) -> PageMarks:
    """Return the marks of examples of pages for this terminal, and of the time of inputs."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    marks = UNICODE if is_unicode and not is_dumb_terminal() else ASCII
    if config.in_colour and not is_dumb_terminal() and sys.stdout.isatty():
        marks = marks.coloured()
    return marks._replace(time=marks.faint)
