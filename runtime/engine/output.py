"""Where Lua's output goes in a Python program: to a file of Python's, or to where Python prints.

Lua writes to a C stream, to which its `io.stdout` has a pointer. Where Python's `sys.stdout` is not
the process's standard output, the pointer is that of a stream that writes into a pipe. What is in
the pipe is passed on when Lua has ended and before it calls Python, so that all comes in order; a
thread does so while Lua runs.
"""

from __future__ import annotations

import codecs
import ctypes
import io
import os
import select
import sys
import threading
import weakref
from typing import Any

from runtime.core.state import Part

_UNBUFFERED = 2  # C's _IONBF
_AT_ONCE = 65536  # bytes


class _Stream:
    """A C stream whose output goes to a file of Python's, of text or bytes."""

    def __init__(self, file: Any) -> None:
        self.process = os.getpid()
        self.file = file
        self._decode = None
        if not isinstance(file, (io.RawIOBase, io.BufferedIOBase)):
            self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._c = ctypes.CDLL(None)
        self._c.fdopen.restype = ctypes.c_void_p
        self.pointer = ctypes.c_void_p(self._c.fdopen(writer, b"w"))
        self._c.setvbuf(self.pointer, None, _UNBUFFERED, ctypes.c_size_t(0))
        self._error: Exception | None = None
        self._passing = threading.Lock()
        threading.Thread(target=self._run, daemon=True, name="Lua's output").start()

    def _run(self) -> None:
        while self._pass_on():
            select.select([self._reader], [], [])
        os.close(self._reader)

    def _pass_on(self) -> bool:
        """Pass on what is in the pipe; returns whether there may come more."""
        with self._passing:
            try:
                while data := os.read(self._reader, _AT_ONCE):
                    self._write(data)
            except BlockingIOError:
                return True
        return False

    def _write(self, data: bytes) -> None:
        try:
            self.file.write(self._decode(data) if self._decode else data)
        except Exception as error:
            self._error = error

    def drain(self) -> None:
        """Pass on what Lua has written. Raises what the file does."""
        self._pass_on()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def close(self) -> None:
        """End it, and its thread."""
        if self.process == os.getpid():
            self._pass_on()
        else:  # a fork has no thread of it
            os.close(self._reader)
        self._c.fclose(self.pointer)


class Output(Part):
    """The output of one engine. seen: what `sys.stdout` was; stream: None where that is C's."""

    def __init__(self) -> None:
        self.seen: Any = sys.stdout
        self.stream: _Stream | None = None
        self._given: Any = None
        _all.add(self)

    def connect(self, address: int, given: Any) -> None:
        """Begin; address: of Lua's pointer. given: the file for all output, if there is one."""
        self._pointer = ctypes.c_void_p.from_address(address)
        self._own = self._pointer.value
        self._given = given
        self.look()

    def look(self) -> None:
        """Let Lua write to what is `sys.stdout` now, unless it has a file of its own."""
        self.seen = sys.stdout
        file = self._given or (None if _is_standard_output(self.seen) else self.seen)
        if self.stream is not None:
            if self.stream.file is file and self.stream.process == os.getpid():
                return
            self._leave()
        if file is not None:
            self.stream = _Stream(file)
            self._pointer.value = self.stream.pointer.value

    def _leave(self) -> None:
        if self.stream is not None:
            self._pointer.value = self._own
            self.stream.close()
            self.stream = None

    def close(self) -> None:
        """End it; Lua writes nothing any more."""
        if self.stream is not None:
            self.stream.close()
            self.stream = None


_all: weakref.WeakSet[Output] = weakref.WeakSet()


def _look_anew() -> None:
    for output in _all:
        output.seen = _all  # which is no file


os.register_at_fork(after_in_child=_look_anew)


def _is_standard_output(file: Any) -> bool:
    if file is None:
        return True
    try:
        return bool(file.fileno() == 1)
    except (AttributeError, OSError, ValueError):
        return False
