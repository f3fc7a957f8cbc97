"""`%capture`: what an input prints, as a text."""

from __future__ import annotations

import re

from th_shell.session.commands import MagicError
from th_shell.session.conversation import Conversation


def capture(session: Conversation, text: str) -> None:
    """Run an input, and set a variable to what it prints, which is not shown."""
    name, _, source = text.partition(" ")
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not source.strip():
        raise MagicError("takes a name and an input, as in: %capture text print(x)")
    try:
        with session.copy_output() as copy:
            copy.clear(shown=False)
            session.submit(source, timed=False)
            session.write_through(b"")
            printed = copy.text()
    except OSError as error:
        raise MagicError.of("the output", error) from None
    session.set_variable(name, printed)
    if session.log and session.log[-1].error is not None:
        raise MagicError(f"the input has raised an error, which is in {name}")
