"""Lua's output in a Python program: it goes to a file of Python's, or where Python prints.

Lua writes to a C stream, to which its `io.stdout` has a pointer. Where Python's `sys.stdout` is not
the process's standard output, the pointer is that of a stream that writes into memory. What is
there is passed on when Lua has ended, before it calls Python, and now and then while it runs. Where
both write to the standard output, each has a buffer of its own, which is flushed before the other
one runs: C's by `calls.lua`.
"""

from __future__ import annotations

import codecs
import ctypes
import io
import os
import sys
import weakref
from typing import Any

from th_shell.runtime.core.platform import c_function
from th_shell.runtime.core.state import Part

_UNBUFFERED = 2  # C's _IONBF
#: Given as a file: the process's standard output, wherever `sys.stdout` leads.
PROCESS = object()

_open: Any = c_function("fdopen")
_set_buffer: Any = c_function("setvbuf")
_close: Any = c_function("fclose")
if _open is not None:
    _open.restype = ctypes.c_void_p


class _Stream:
    """A C stream whose output goes to a file of Python's, of text or bytes."""

    def __init__(self, file: Any) -> None:
        self.process = os.getpid()
        self.file = file
        self._decode = None
        if not isinstance(file, (io.RawIOBase, io.BufferedIOBase)):
            self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._memory = _new_memory()
        self.pointer = ctypes.c_void_p(_open(self._memory, b"a"))
        _set_buffer(self.pointer, None, _UNBUFFERED, ctypes.c_size_t(0))

    def drain(self) -> None:
        """Pass on what Lua has written. Raises what the file does."""
        size = os.fstat(self._memory).st_size
        if size:
            data = os.pread(self._memory, size, 0)
            os.truncate(self._memory, 0)
            self.file.write(self._decode(data) if self._decode else data)


def _new_memory() -> int:
    """Return the descriptor of a file that has no name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("output of Lua")
    import tempfile  # late: it takes long to load

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class Output(Part):
    """The output of one engine. seen: what `sys.stdout` was; stream: None where that is C's."""

    def __init__(self) -> None:
        self.seen: Any = sys.stdout
        self.stream: _Stream | None = None
        self.flush: Any = None  # that of `sys.stdout`, where both write to the standard output
        self._given: Any = None
        self._pointer: Any = None
        _all.add(self)

    def connect(self, address: int, stream: Any) -> None:
        """Begin; address: of Lua's pointer. stream: the file for all output, if there is one."""
        if stream is PROCESS or _open is None:
            return
        self._pointer = ctypes.c_void_p.from_address(address)
        self._own = self._pointer.value
        self._given = stream
        self.look()

    def look(self) -> None:
        """Let Lua write to what is `sys.stdout` now, unless it has a file of its own."""
        self.seen = sys.stdout
        if self._pointer is None:
            return
        is_shared = not self._given and _is_standard_output(self.seen)
        self.flush = self.seen.flush if is_shared and self.seen else None
        file = self._given or (None if is_shared else self.seen)
        if self.stream and self.stream.file is file and self.stream.process == os.getpid():
            return
        self.close()
        if file is not None:
            self.stream = _Stream(file)
            self._pointer.value = self.stream.pointer.value

    def enter(self) -> None:
        """Prepare for Lua: it writes to what is `sys.stdout` now, behind what is written there."""
        if sys.stdout is not self.seen:
            self.look()
        if self.flush is not None:
            try:
                self.flush()
            except (OSError, ValueError):
                pass  # Python tells it when it writes there itself

    def close(self) -> None:
        """End it; Lua writes nothing to it any more."""
        stream, self.stream = self.stream, None
        if stream is not None:
            self._pointer.value = self._own
            try:
                is_closed = getattr(stream.file, "closed", False)
                if stream.process == os.getpid() and not is_closed:  # a fork's is its parent's
                    stream.drain()
            finally:
                _close(stream.pointer)

    def drain(self) -> None:
        """Pass on what Lua has written. Raises what the file does."""
        if self.stream is not None:
            self.stream.drain()


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
