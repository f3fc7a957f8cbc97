"""Runs cells: the inputs in them one after the other, as at the prompt.

Of the values only those of the last input are the cell's result; what the others would print at the
prompt is not shown. An error ends the cell. A page that was pasted into a cell is run and judged as
at the prompt. Nothing here knows Jupyter's protocol.
"""

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib.resources import files
from typing import Any, NamedTuple

from th_shell.completing import complete as completing
from th_shell.completing.signatures import call_at_cursor
from th_shell.jupyter.streams import Streams
from th_shell.runtime.shell import Interrupted, LuaError, tokens
from th_shell.session.commands import COMMANDS, is_command
from th_shell.session.inputs import placed
from th_shell.session.session import Session
from th_shell.syntax import Syntax
from th_shell.tokens import margin

#: Data to show by their MIME types.
Data = dict[str, Any]

_LEAVE = ("exit", "exit()", "quit", "quit()")
_WHOLE = "%%"  # a command that begins so has all of the cell as its input


class FrontEnd(NamedTuple):
    """The functions by which Lua calls the front end; all arguments are bytes or booleans."""

    #: Returns an answer for io.read; None where it has ended, False where there are no answers.
    ask: Callable[[bool], bytes | None | bool]
    #: Takes MIME types and data in turn.
    show: Callable[..., None]
    #: Removes the output.
    clear: Callable[[bool], None]


class Outcome(NamedTuple):
    """The outcome of a cell."""

    error: LuaError | None = None
    #: The data of the last input's values.
    result: Data | None = None
    #: The text of help that was asked for.
    page: str = ""
    #: Whether the session ends.
    leave: bool = False
    #: The text that is to take the place of the cell's, or ''.
    next_input: str = ""


class Cells:
    """Runs cells in a session, whose output goes to streams.

    interrupted: is set by an interrupt that comes between two inputs.
    """

    def __init__(
        self, session: Session, streams: Streams, front_end: FrontEnd, interrupted: threading.Event
    ) -> None:
        self.session = session
        self._streams = streams
        self._interrupted = interrupted
        self._number = 0  # the cell's
        self._expected = b""  # what Lua was told last
        self._leaving = False  # whether a program has called os.exit
        self._values = self._load("values", streams.collect)
        session.engine.inputs.set_receiver(self._values[b"receive"])
        self._input = self._load("input", front_end.ask, interruptible=True)
        self._load("package", front_end.show, front_end.clear, self._leave)

    def _load(self, name: str, *functions: Callable[..., Any], interruptible: bool = False) -> Any:
        """Load a module of Lua, which is given functions."""
        source = (files("th_shell.jupyter") / f"{name}.lua").read_bytes()
        chunk = f"=[th] jupyter/{name}".encode()
        return self.session.engine.module(source, chunk, *functions, interruptible=interruptible)

    def run(self, code: str, number: int) -> Outcome:
        """Run a cell. number: the cell's; 0 for one that leaves no trace."""
        self._interrupted.clear()
        self.session.engine.call(self._input[b"forget"])
        self._number = number
        with self._streams.running(), self.session.in_cell(number):
            self._expect(b"")
            if code.lstrip().startswith(_WHOLE):
                outcome = self._whole(code)
            elif self.session.is_page(code):
                outcome = self._page(code)
            else:
                outcome = self._run_all(list(placed(code, self.session.inputs(code))))
        return outcome._replace(next_input=self.session.take_next_input())

    def _run_all(self, pieces: Sequence[str]) -> Outcome:
        """Run inputs until their end or an error."""
        pages: list[str] = []
        outcome = Outcome()
        with self.session.surrounded("".join(pieces)), ExitStack() as stack:
            for at, piece in enumerate(pieces, 1):
                if self._interrupted.is_set():
                    return Outcome(Interrupted("interrupted!"))
                if piece.strip() in _LEAVE:
                    return Outcome(leave=True)
                if is_command(piece):
                    stack.close()  # a command has Ctrl-C for itself
                    outcome = self._command(piece, _lines_above(piece))
                    pages.append(outcome.page)
                elif at == len(pieces):
                    stack.close()
                    outcome = self._evaluate(piece)
                else:
                    if not self.session.can_stop:
                        stack.enter_context(self.session.stoppable())
                    outcome = self._evaluate_quietly(piece)
                if outcome.leave or outcome.error is not None:
                    break
        return outcome._replace(page="".join(pages))

    def _whole(self, code: str) -> Outcome:
        """Run a command whose input is the rest of the cell."""
        name, blank, text = re.split(r"(\s+|\Z)", code.strip()[1:], maxsplit=1)
        return self._command(f"{name} {text}", _lines_above(code) + blank.count("\n"))

    def _page(self, code: str) -> Outcome:
        """Run a page; its errors are part of it, but for an interrupt."""
        outcome = self._done(lambda: self.session.submit(code))
        last = self.session.log[-1].error if self.session.log else None
        return outcome._replace(error=last) if isinstance(last, Interrupted) else outcome

    def _command(self, piece: str, above: int) -> Outcome:
        """Run a command that stands below so many lines of the cell."""
        self._expect(b"")
        is_help = piece.lstrip().startswith("?")
        if is_help:
            self._streams.collect()
        with self.session.in_cell(self._number, above):
            outcome = self._done(lambda: COMMANDS.run(self.session, piece))
        return outcome._replace(page=self._streams.collected() if is_help else "")

    def _done(self, action: Callable[[], object]) -> Outcome:
        """Do what shows values as output and not as a result; it returns False to leave."""
        errors: list[LuaError] = []
        self.session.take_error = errors.append
        goes_on = action()
        if self._leaving or goes_on is False:
            return Outcome(leave=True)
        return Outcome(errors[0] if errors else None)

    def _evaluate_quietly(self, source: str) -> Outcome:
        """Run an input whose values are not shown, within `Session.stoppable`."""
        self._expect(b"nothing")
        error = self.session.evaluate(source)
        if error is None and self.session.engine.take_interrupt():
            error = Interrupted("interrupted!")  # it came behind the input's last step
        return Outcome(leave=True) if self._leaving else Outcome(error)

    def _evaluate(self, source: str) -> Outcome:
        """Run an input whose values are the result."""
        self._expect(b"result")
        error = self.session.evaluate(source)
        text = self._streams.collected()
        html = self.session.engine.call(self._values[b"html"]) if text and error is None else None
        self._expect(b"")
        if self._leaving:
            return Outcome(leave=True)
        if text and error is None:
            self.session.write("".join(f"{line}\n" for line in self.session.hints_on_value(source)))
        return Outcome(error, _data(text, html) if text else None)

    def _expect(self, what: bytes) -> None:
        """Tell Lua what becomes of the values of inputs from now on."""
        if what != self._expected:
            self.session.engine.call(self._values[b"expect"], what)
            self._expected = what

    def _leave(self) -> None:
        self._leaving = True


def _data(text: str, html: bytes | None) -> Data:
    data = {"text/plain": text.rstrip("\n\t ")}
    if html is not None:
        data["text/html"] = html.decode("utf-8", "replace")
    return data


def _lines_above(piece: str) -> int:
    return piece[: len(piece) - len(piece.lstrip())].count("\n")


# -- answers while a cell is written: completion, help, and whether it is complete

_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*", re.ASCII)


def complete(session: Session, code: str, cursor: int) -> dict[str, Any]:
    """Return the names that fit at the cursor: the content of a complete_reply."""
    cursor = min(cursor, len(code))
    first = _start_of_command(code, cursor)
    completions = completing.complete(code[first:], cursor - first, session.engine)
    start = first + completions.start
    matches = [candidate.text for candidate in completions.candidates]
    described = [
        {"start": start, "end": cursor, "text": candidate.text, "type": candidate.kind}
        | {"signature": candidate.detail}
        for candidate in completions.candidates
    ]
    return {
        "matches": matches,
        "cursor_start": start,
        "cursor_end": cursor,
        "metadata": {"_jupyter_types_experimental": described},
    }


def _start_of_command(code: str, cursor: int) -> int:
    """Return the start of the cursor's line if it is a command; else 0: Lua goes over lines."""
    first = code.rfind("\n", 0, cursor) + 1
    return first if is_command(code[first:cursor]) else 0


def explain(session: Session, code: str, cursor: int) -> str:
    """Return the help on the name at the cursor, or on the function whose call it is in, or ''."""
    from th_shell.help.about import about
    from th_shell.runtime.shell import TABLE  # late: it loads numpy

    for path in _names_around(code, cursor):
        owner, _, last = path.replace(":", ".").rpartition(".")
        if last in session.engine.variables.names(owner) or (not owner and last in TABLE):
            return about(path, session.engine, session.log)
    return ""


def _names_around(code: str, cursor: int) -> list[str]:
    """Return the path that the cursor touches, then that of the function whose call it is in."""
    names = [m[0] for m in _PATH.finditer(code) if m.start() <= cursor <= m.end()]
    before = [token for token in tokens(code[:cursor]) if token.kind != "comment"]
    if call := call_at_cursor(before):
        names.append("".join(token.text for token in before[call.first : call.bracket]))
    return names


def is_complete(session: Session, code: str) -> dict[str, str]:
    """Tell whether a cell can be run as it is: the content of an is_complete_reply."""
    states = [session.judge(piece) for piece in session.inputs(code) if not is_command(piece)]
    if Syntax.WRONG in states:
        return {"status": "invalid"}
    if states and states[-1] is Syntax.INCOMPLETE:
        return {"status": "incomplete", "indent": margin(code, session.config.indent) or ""}
    return {"status": "complete"}
