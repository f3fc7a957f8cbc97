"""Inputs without a terminal, prompt or banner: ``th -i``, and what is piped into ``th``."""

import os
import signal
import stat
from collections.abc import Callable

from th_shell.debugging.console import attach
from th_shell.runtime.shell import Engine, LuaError, LuaSyntaxError
from th_shell.session.commands import COMMANDS, is_command
from th_shell.session.conversation import Conversation
from th_shell.session.inputs import placed
from th_shell.session.session import Session


def run(engine: Engine) -> int:
    """Run the inputs on the standard input; return the exit status."""
    # Neither Python nor C reads ahead: an input that reads from the standard input gets the line
    # behind it, and the next input is behind that.
    engine.run(engine.compile(b"io.stdin:setvbuf('no')"))
    session = Session(engine)
    engine.debugging.keep_frames()
    engine.debugging.offer_debugger()
    attach(session)
    with open(0, "rb", buffering=0, closefd=False) as stream:
        return read_and_run(session, lambda: stream.readline().decode("utf-8", "surrogateescape"))


def read_and_run(session: Conversation, read_line: Callable[[], str]) -> int:
    """Run the inputs in lines until there is none or 'exit'; return the exit status."""
    text = ""
    try:
        while line := read_line():
            text += line
            if not session.wants_more(text.removesuffix("\n")):
                if not session.submit(text):
                    return 0
                text = ""
        session.submit(text)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


def run_piped(engine: Engine, source: bytes, report: Callable[[LuaError], None]) -> bool:
    """Run what came on the standard input; tell whether nothing has failed.

    A file that compiles as a whole is run as a script. Everything else is run input by input, as at
    the prompt: then values are printed. Errors are reported, and the inputs that follow are run, as
    Torch7 does. Raises LuaError for a script.
    """
    # In a chunk, LuaJIT skips a first line that begins with #.
    if stat.S_ISREG(os.fstat(0).st_mode) and not source.startswith(b"#"):
        try:
            chunk = engine.compile(source, b"=stdin")
        except LuaSyntaxError:
            pass
        else:
            engine.run(chunk)
            return True
    session = Session(engine)
    text = source.decode("utf-8", "surrogateescape")
    success = True
    for piece in placed(text, session.inputs(text)):
        if session.is_exit(piece):
            break
        try:
            _run_piece(session, piece)
        except LuaError as error:
            success = False
            engine.flush()
            report(error)
    return success


def _run_piece(session: Session, piece: str) -> None:
    with session.surrounded(piece):
        if is_command(piece):
            COMMANDS.run(session, piece)
        else:
            session.engine.inputs.enter(piece.encode("utf-8", "surrogateescape"))
        session.engine.flush()
