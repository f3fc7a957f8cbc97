"""A session: runs the inputs of a prompt. Reading them is done by ``repl`` and ``plain``.

An input is Lua, whose values or error are printed; ``? name`` for help; ``$ command`` for the
system's shell; or ``exit``.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import NamedTuple

from runtime import Engine, Interrupted, LuaError, LuaSyntaxError
from th_shell.session.commands import find_command, is_command
from th_shell.session.inputs import split
from th_shell.session.interrupt import last_resort
from th_shell.syntax import Judge, Syntax
from th_shell.visible import visible

__all__ = ["Entry", "Session"]

_LEAVE = ("exit", "exit()")
_TIME_COLUMN = 70


class Entry(NamedTuple):
    """An input of Lua that was run, and its error. number: from 1."""

    number: int
    source: str
    error: LuaError | None


class Session:
    """Runs inputs in an engine, and writes their results to its standard output.

    judge: a function that compiles a text. time_format: the format, with one {}, of the seconds
    that an input has taken; '' if they are not shown. log: the inputs of Lua so far.
    """

    def __init__(self, engine: Engine, time_format: str = "") -> None:
        self.engine = engine
        self.log: list[Entry] = []
        self._time_format = time_format
        # While an input grows line by line, its beginning is compiled again and again.
        self.judge: Judge = lru_cache(maxsize=4096)(self._compile)

    def inputs(self, text: str) -> list[str]:
        """The inputs in a text."""
        return split(text, self.judge)

    def wants_more(self, text: str) -> bool:
        """Whether a text ends with an incomplete input."""
        pieces = self.inputs(text)
        if not pieces or is_command(pieces[-1]):
            return False
        return self.judge(pieces[-1]) is Syntax.INCOMPLETE

    def submit(self, text: str) -> bool:
        """Run all inputs in a text; returns False if one of them ends the session."""
        for piece in self.inputs(text):
            if piece.strip() in _LEAVE:
                return False
            if not self._enter(piece):
                break
        return True

    def _compile(self, text: str) -> Syntax:
        try:
            self.engine.check_syntax(_encoded(text))
        except LuaSyntaxError as error:
            return Syntax.INCOMPLETE if error.incomplete else Syntax.WRONG
        return Syntax.COMPLETE

    def _enter(self, piece: str) -> bool:
        """Run one input; returns False if Ctrl-C has stopped it."""
        command = find_command(piece)
        if command is None:
            return self._run(piece)
        run, rest = command
        run(self, rest)
        self.engine.flush()
        return True

    def write(self, text: str) -> None:
        """Write to the standard output, in order with what Lua writes."""
        self.engine.write(text)

    def write_through(self, output: bytes) -> None:
        """Write at once what a running command prints."""
        self.engine.write(output.decode("utf-8", "surrogateescape"))
        self.engine.flush()

    def evaluate(self, source: str) -> LuaError | None:
        """Run an input of Lua, and print its values; returns its error, which is not printed."""
        error = None
        try:
            with last_resort(), self.engine.interruptible():
                self.engine.evaluate(_encoded(source))
        except LuaError as raised:
            error = raised
        self.log.append(Entry(len(self.log) + 1, source, error))
        return error

    def _run(self, source: str) -> bool:
        start = time.perf_counter()
        error = self.evaluate(source)
        if error is not None:
            self._show(error)
        if self._time_format:
            taken = self._time_format.format(f"[{time.perf_counter() - start:.4f}s]")
            self.engine.write(" " * _TIME_COLUMN + taken + "\n")
        self.engine.flush()
        return not isinstance(error, Interrupted)

    def _show(self, error: LuaError) -> None:
        prefix = "syntax error: " if isinstance(error, LuaSyntaxError) else ""
        lines = [prefix + error.message, error.traceback]
        self.engine.write("".join(f"{visible(line)}\n" for line in lines if line))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
