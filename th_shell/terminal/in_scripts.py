"""The debugger and the prompt that scripts may open while they run."""

from __future__ import annotations

import signal
import sys
from functools import cache

from th_shell import config
from th_shell.debugging.commands import line_reader
from th_shell.debugging.console import Console
from th_shell.runtime.shell import Engine
from th_shell.session.interrupt import handled
from th_shell.session.session import prepare
from th_shell.terminal import repl, without_terminal


@cache
def console() -> Console:
    """Return the debugger of a script, at the terminal or with what is piped in."""
    return Console(line_reader(repl.ask if sys.stdin.isatty() else None))


def open_prompt(engine: Engine, place: str) -> None:
    """Run a prompt whose inputs use the variables of the function that has called for it.

    place: of the call, as `file.lua:12`. To be used in the main thread.
    """
    engine.inputs.use_lent_locals()
    engine.count_loops()
    # As at any prompt: a command that has ended must not end th.
    with (
        handled(signal.SIGINT, signal.default_int_handler),
        handled(signal.SIGPIPE, lambda *_: None),
    ):
        if not sys.stdin.isatty():
            without_terminal.run(engine)
            return
        settings = config.load()
        prepare(engine, settings)
        repl.run(engine, settings, greeting=f"{place}: the prompt; Ctrl-D goes on\n")
        engine.inputs.set_elision(None)
