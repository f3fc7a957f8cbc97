"""The Python prompt at a terminal: the same editor as Lua's."""

import re
import sys
from pathlib import Path
from typing import Any

from th_shell.completing.candidates import Completions
from th_shell.config import load
from th_shell.python.session import PythonSession
from th_shell.python.source_text import inputs, margin_below, margin_of_closing
from th_shell.session.commands import PYTHON_COMMANDS as COMMANDS
from th_shell.terminal import repl
from th_shell.terminal.colours import InputLexer, page_marks, python_parts
from th_shell.terminal.first_prompt import FirstPrompt
from th_shell.terminal.history import MarkedHistory
from th_shell.terminal.language import Language, Margins

MARGINS = Margins(
    margin_below,
    re.compile(r"^[ \t]*(?:(?:else|finally|elif\b.*|except\b.*):|[)\]}])$"),
    margin_of_closing,
)


def run(namespace: dict[str, Any], greeting: str, first: FirstPrompt | None = None) -> int:
    """Run the prompt until the user leaves it; return the exit status.

    first: the prompt that stands there already, behind the greeting.
    """
    config = load()
    session = PythonSession(namespace, config, True, page_marks(config))
    session.ask = repl.ask
    # By these, libraries know that a person is there.
    sys.ps1, sys.ps2 = session.prompt, session.continuation
    return repl.converse(session, python(session), greeting, first)


def python(session: PythonSession) -> Language:
    """Return Python, as the editor knows it."""

    def complete(text: str, cursor: int) -> Completions:
        from th_shell.python.completing import complete  # late: the first prompt does without

        return complete(text, cursor, session.namespace)

    config = session.config
    history = MarkedHistory(
        Path(config.python_history or "~/.th_python_history").expanduser(),
        inputs,
        None,
        config.history_size,
    )
    lexer = InputLexer(COMMANDS, python_parts)
    return Language(complete, lexer, history, MARGINS, config.python_indent)
