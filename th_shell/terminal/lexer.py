"""Syntax highlighting of inputs: the lexer and the colours.

The colours are the sixteen of the terminal, which the user has chosen to be readable.
"""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer, PygmentsLexer
from prompt_toolkit.styles import Style
from pygments.lexers.scripting import LuaLexer  # type: ignore[import-untyped]

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


class InputLexer(Lexer):
    """Highlights Lua code; a line '? name' or '$ command' has a single colour."""

    def __init__(self) -> None:
        self._lua = PygmentsLexer(LuaLexer)

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """The styled parts of each line."""
        if is_command(document.text):
            return lambda number: [("class:command", document.lines[number])]
        return self._lua.lex_document(document)
