"""Reads inputs in a terminal that cannot move its cursor (TERM=dumb): an editor's shell, say.

The lines are edited by readline, as far as Python has it, which writes no escape sequences there.
Enter runs an input that is complete. Former inputs are those of this session.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress

from th_shell.session.conversation import Conversation
from th_shell.session.interrupt import handled
from th_shell.terminal.language import Language


def line_reader(session: Conversation, language: Language) -> Callable[[], str]:
    """Return a function that reads the next input; it raises EOFError and KeyboardInterrupt."""
    with suppress(ImportError):  # Python was built without it
        import readline

        readline.parse_and_bind("set enable-bracketed-paste off")
        readline.parse_and_bind(f"set editing-mode {session.config.keys}")

    def read() -> str:
        text = _line(session.numbered_prompt())
        while session.wants_more(text):
            text += "\n" + _line(session.continuation)
        if text.strip():
            language.history.append_string(text)
        return text

    return read


def _line(prompt: str) -> str:
    """Read a line; Ctrl-C, which does nothing between two inputs, drops it."""
    try:
        with handled(signal.SIGINT, signal.default_int_handler):
            return input(prompt)
    except KeyboardInterrupt:
        print()  # the next prompt has a line of its own
        raise
