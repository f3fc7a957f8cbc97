"""Runs cells: the inputs in them one after the other, as at the prompt.

Of the values only those of the last input are the cell's result; what the others would print at the
prompt is not shown. An error ends the cell. Nothing here knows Jupyter's protocol.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib.resources import files
from typing import Any, NamedTuple

from runtime import Interrupted, LuaError
from th_shell.jupyter.streams import Streams
from th_shell.session.commands import find_command
from th_shell.session.inputs import placed
from th_shell.session.session import Session
from th_shell.visible import visible

__all__ = ["Cells", "Data", "FrontEnd", "Outcome"]

#: Data to show by their MIME types.
Data = dict[str, Any]

_LEAVE = ("exit", "exit()", "quit", "quit()")


class FrontEnd(NamedTuple):
    """What Lua asks of the front end; all arguments are bytes or booleans.

    ask: an answer for io.read; None where it has ended, False where there are no answers. show:
    MIME types and data in turn. clear: removes the output.
    """

    ask: Callable[[bool], bytes | None | bool]
    show: Callable[..., None]
    clear: Callable[[bool], None]


class Outcome(NamedTuple):
    """What has become of a cell.

    result: the data of the last input's values. page: the text of help that was asked for.
    """

    error: LuaError | None = None
    result: Data | None = None
    page: str = ""
    leave: bool = False


class Cells:
    """Runs cells in a session, whose output goes to streams.

    interrupted: is set by an interrupt that comes between two inputs.
    """

    def __init__(
        self,
        session: Session,
        streams: Streams,
        front_end: FrontEnd,
        interrupted: threading.Event,
    ) -> None:
        self.session = session
        self._streams = streams
        self._interrupted = interrupted
        self._leaving = False  # whether a program has called os.exit
        module = session.engine.module
        self._values = module(_source("values"), b"=[th] jupyter/values", streams.collect)
        session.engine.set_receiver(self._values[b"receive"])
        self._input = module(
            _source("input"), b"=[th] jupyter/input", front_end.ask, interruptible=True
        )
        module(_source("package"), b"=[th] jupyter/package", *front_end[1:], self._leave)

    def start(self, path: str) -> None:
        """Run a file before the first cell; its error is output."""
        engine = self.session.engine
        with self._streams.running():
            try:
                engine.run(engine.compile_file(path))
            except LuaError as error:
                text = "\n".join([error.message, error.traceback]).strip()
                os.write(2, f"{visible(text)}\n".encode("utf-8", "surrogateescape"))

    def run(self, code: str, number: int) -> Outcome:
        """Run the inputs in a cell until its end or an error. number: the cell's."""
        self._interrupted.clear()
        self.session.engine.call(self._input[b"forget"])
        pieces = list(placed(code, self.session.inputs(code)))
        page, outcome = "", Outcome()
        with self._streams.running():
            for at, piece in enumerate(pieces, 1):
                outcome = self._enter(piece, number, is_last=at == len(pieces))
                page += outcome.page
                if outcome.leave or outcome.error is not None:
                    break
        return outcome._replace(page=page)

    def value(self, expression: str) -> Outcome:
        """The value of an expression that the front end wants to know; shows nothing else."""
        self._streams.collect()
        return self._evaluate(expression, is_last=True)

    def _enter(self, piece: str, number: int, is_last: bool) -> Outcome:
        if self._interrupted.is_set():
            return Outcome(Interrupted("interrupted!"))
        if piece.strip() in _LEAVE:
            return Outcome(leave=True)
        found = find_command(piece)
        if found is None:
            return self._evaluate(piece, is_last, number)
        command, rest = found
        is_help = piece.lstrip().startswith("?")
        if is_help:
            self._streams.collect()
        command(self.session, rest)
        return Outcome(page=self._streams.collected() if is_help else "")

    def _evaluate(self, source: str, is_last: bool, number: int | None = None) -> Outcome:
        call = self.session.engine.call
        call(self._values[b"expect"], b"result" if is_last else b"nothing")
        error = self.session.evaluate(source, number=number)
        text = self._streams.collected()
        html = call(self._values[b"html"]) if text and error is None else None
        call(self._values[b"expect"], b"")
        if self._leaving:
            return Outcome(leave=True)
        return Outcome(error, _data(text, html) if text else None)

    def _leave(self) -> None:
        self._leaving = True


def _data(text: str, html: bytes | None) -> Data:
    data = {"text/plain": text.rstrip("\n\t ")}
    if html is not None:
        data["text/html"] = html.decode("utf-8", "replace")
    return data


def _source(name: str) -> bytes:
    return (files("th_shell.jupyter") / f"{name}.lua").read_bytes()
