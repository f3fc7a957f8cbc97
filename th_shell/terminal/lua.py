"""Lua, as the editor knows it."""

from __future__ import annotations

import os
from collections.abc import Callable

from th_shell.banner import CONTINUATION, PROMPT
from th_shell.completing.candidates import Completions
from th_shell.session.session import Session
from th_shell.terminal.history import LineHistory, history_path
from th_shell.terminal.indentation import LUA_MARGINS
from th_shell.terminal.language import Language
from th_shell.terminal.lexer import InputLexer


def lua(session: Session, ready: Callable[[], None] | None = None) -> Language:
    """The language of a session of Lua. ready: waits until its engine can be used."""
    config = session.config

    def complete(text: str, cursor: int) -> Completions:
        from th_shell.completing.complete import complete  # late: the first prompt does without

        return complete(text, cursor, session.engine)

    path = history_path(os.environ, config.history_path)
    history = LineHistory(path, session.judge, session.inputs, ready, config.history_size)
    return Language(
        PROMPT, CONTINUATION, complete, InputLexer(), history, LUA_MARGINS, config.indent
    )
