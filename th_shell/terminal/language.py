"""``Language``: what the editor has to know of the inputs that it reads; and Lua's."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from prompt_toolkit.lexers import Lexer

from th_shell.completing.candidates import Completions
from th_shell.session.session import Session
from th_shell.terminal.colours import InputLexer
from th_shell.terminal.history import InputHistory, LineHistory, history_path
from th_shell.tokens import margin, margin_of_closing

if TYPE_CHECKING:
    from th_shell.completing.signatures import Signatures


class Margins(NamedTuple):
    """The indentation of a language."""

    #: Returns the blanks of a new line behind a text, of so many for each level; None within a
    #: string, whose blanks are the user's.
    below: Callable[[str, int], str | None]
    #: Matches a line that closes what was opened above.
    closed: re.Pattern[str]
    #: Returns the blanks of that line, which the text ends with; None where nothing was opened.
    of_closing: Callable[[str], str | None]


class Language(NamedTuple):
    """A language as the editor knows it."""

    #: Completes a text at the cursor (from 0).
    complete: Callable[[str, int], Completions]
    lexer: Lexer
    history: InputHistory
    margins: Margins
    #: So many blanks for each level.
    indent: int
    #: Makes the finder of signatures of the call at the cursor; None where there is none.
    signatures: Callable[[], Signatures] | None = None


# -- Lua, as the editor knows it

LUA_MARGINS = Margins(
    margin, re.compile(r"^[ \t]*(?:(?:end|until|else|elseif)\b|[})\]])$"), margin_of_closing
)


def lua(session: Session, ready: Callable[[], None] | None = None) -> Language:
    """Return the language of a session of Lua. ready: waits until its engine can be used."""
    config = session.config

    def complete(text: str, cursor: int) -> Completions:
        from th_shell.completing.complete import complete  # late: the first prompt does without

        return complete(text, cursor, session.engine)

    def signatures() -> Signatures:
        from th_shell.completing.signatures import Signatures  # late: at the first bracket

        return Signatures(session.engine)

    path = history_path(os.environ, config.history_path)
    read, lines = session.inputs, config.history_size
    history = LineHistory(path, read, ready, lines, judge=session.judge)
    shown = signatures if config.signatures else None
    return Language(complete, InputLexer(), history, LUA_MARGINS, config.indent, shown)
