"""`%logstart` and `%logstop`: a file with inputs, and what they print as comments."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from th_shell.magics.code_files import file_words
from th_shell.session.commands import MagicError, errors_of
from th_shell.session.conversation import Conversation

_KEY = "%logstart"
_CODES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


class _Log:
    """The context of each input that is logged to a file, whose lines are written at once."""

    def __init__(self, session: Conversation, path: Path) -> None:
        """Open the file. Raises OSError."""
        self.path = path.absolute()
        self._session = session
        self._file: BinaryIO = open(path, "ab", buffering=0)
        self._line = b""  # of the output, which has not ended yet
        self._error = ""
        self._comment(time.strftime("th, %Y-%m-%d %H:%M:%S").encode())

    @contextmanager
    def __call__(self, source: str) -> Iterator[None]:
        text = source.strip("\n").encode("utf-8", "surrogateescape")
        if self._session.commands.is_command(source):  # the inputs that it runs come on their own
            self._comment(text)
            yield
            return
        self._write(text)
        try:
            with self._session.copy_output(self._output):
                yield
        finally:
            if self._line:
                self._output(b"\n")
        if self._error:
            self._session.report(_KEY, f"{self.path}: {self._error}; the log has ended")
            stop(self._session, "")

    def _write(self, text: bytes) -> None:
        try:
            self._file.write(text.rstrip(b"\n") + b"\n")
        except OSError as error:
            self._error = str(error.strerror)

    def _comment(self, text: bytes) -> None:
        """Write a line as a comment, without what a later part of it has replaced."""
        line = _CODES.sub(b"", text.rstrip(b"\r")).rpartition(b"\r")[2]
        self._write(self._session.comment.encode() + b" " + line)

    def _output(self, part: bytes) -> None:
        """Write what an input has printed; the last line when it has ended."""
        *lines, self._line = (self._line + part).split(b"\n")
        for line in lines:
            self._comment(line)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def start(session: Conversation, text: str) -> None:
    """Append to a file what is run from now on."""
    if session.is_in_cell:
        raise MagicError("a notebook keeps what its cells print")
    log = session.surroundings.get(_KEY)
    if isinstance(log, _Log):
        raise MagicError(f"the log goes to {log.path}; %logstop ends it")
    path = Path(file_words(text)[0])
    with errors_of(str(path)):
        session.surroundings[_KEY] = _Log(session, path)
    session.write(f"inputs, with what they print, are appended to {path}\n")


def stop(session: Conversation, _: str) -> None:
    """End the log."""
    log = session.surroundings.pop(_KEY, None)
    if not isinstance(log, _Log):
        raise MagicError("there is no log; %logstart FILE begins one")
    log.close()


# -- `%capture`: the output of an input, as a text


def capture(session: Conversation, text: str) -> None:
    """Run an input, and set a variable to what it prints, which is not shown."""
    name, _, source = text.partition(" ")
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not source.strip():
        raise MagicError("takes a name and an input, as in: %capture text print(x)")
    with errors_of("the output"), session.copy_output() as copy:
        copy.clear(shown=False)
        session.submit(source, timed=False)
        session.write_through(b"")
        printed = copy.text()
    session.set_variable(name, printed)
    if session.log and session.log[-1].error is not None:
        raise MagicError(f"the input has raised an error, which is in {name}")
