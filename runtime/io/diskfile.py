"""``DiskFile``: a file of the system, read and written through a buffer.

The buffer has either bytes read ahead (the window's ``room`` is then 0) or bytes not written yet.
A call that reads after writing, or the other way round, empties the buffer first. When the
program ends, the buffers of open files are written.

``SavedFile`` is the file that torch.save writes: it replaces an older one only when it is complete.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
from contextlib import nullcontext
from weakref import WeakSet

from th_shell.runtime.core import system
from th_shell.runtime.core.dtypes import CHAR
from th_shell.runtime.core.encoding import printable
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.interrupts import uninterruptible
from th_shell.runtime.core.mapping import is_mapped
from th_shell.runtime.core.memory import Memory
from th_shell.runtime.core.process import at_the_end
from th_shell.runtime.core.state import current
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.core.system import wait_until
from th_shell.runtime.io.file import File
from th_shell.runtime.io.replacement import Replacement

_BUFFER = 1 << 16  # bytes
_FLAGS = {
    "r": os.O_RDONLY,
    "w": os.O_WRONLY | os.O_CREAT,  # and made empty
    "rw": os.O_RDWR | os.O_CREAT,
}

_open_files: WeakSet[DiskFile] = WeakSet()


def _new_buffer(size: int) -> Storage:
    # One more byte: C's functions that read numbers need a zero byte behind the text.
    buffer = STORAGE_CLASSES[CHAR.index].new(size + 1)
    buffer.data[size] = 0
    return buffer


class _MappedError(OSError):
    """A storage maps the file; if it became empty, the storage's next use would end the process."""


def _make_empty(descriptor: int) -> None:
    """Make a file empty; where that is not possible, close it and raise OSError."""
    try:
        if is_mapped(descriptor):
            current(Memory).collect()  # the program may have dropped the storage already
            if is_mapped(descriptor):
                raise _MappedError("a storage maps this file")
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.ftruncate(descriptor, 0)
    except OSError:
        os.close(descriptor)
        raise


class DiskFile(File):
    """A file of the system.

    name: the name that it was opened with. Manual: DiskFile.
    """

    typename = "torch.DiskFile"

    def __init__(self, name: bytes, mode: str, quiet: bool = False) -> None:
        """Open a file; mode: 'r', 'w' (the file is made empty) or 'rw'.

        Raises ArgError for another mode, and TorchError where the file cannot be opened.
        """
        if mode not in _FLAGS:
            raise ArgError(2, "file mode should be 'r','w' or 'rw'")
        self.name = name
        super().__init__(_new_buffer(_BUFFER), mode, quiet)
        self._use_descriptor(self._open(name.split(b"\0")[0], mode))

    def _use_descriptor(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._start = 0  # the position in the file of the buffer's first byte
        self._unbuffered = False
        self.window.stream = 1
        if not self.window.readable:
            self.window.room = _BUFFER
        _open_files.add(self)

    def _open(self, name: bytes, mode: str) -> int:
        try:
            descriptor = system.open_descriptor(name, _FLAGS[mode])
            if mode == "w":
                _make_empty(descriptor)
        except OSError as error:
            self.window.opened = 0
            why = f": {error}" if isinstance(error, _MappedError) else ""
            raise TorchError(self._cannot_open() + why) from None
        return descriptor

    def _cannot_open(self) -> str:
        return f"cannot open <{printable(self.name)}> in mode {self._mode()}"

    def _mode(self) -> str:
        # As error messages show it.
        return ("r" if self.window.readable else " ") + ("w" if self.window.writable else " ")

    def __del__(self) -> None:
        if hasattr(self, "_descriptor") and self.window.opened:
            self.leave()
            self.close()

    # -- reading

    def fill(self, need: int) -> int:
        self._turn_to_reading()
        at, stop = int(self.window.at), int(self.window.stop)
        if stop - at >= need:
            return stop - at
        at, stop = self._move_to_front(at, stop)
        while stop < need:
            if stop + 1 >= self.memory.size:
                self._enlarge(need)
            limit = need if self._unbuffered else self.memory.size - 1
            got = self._read_some(self.bytes()[stop:limit])
            if not got:
                break
            stop += got
            self.window.stop = stop
        self.memory.data[stop] = 0
        return stop

    def _turn_to_reading(self) -> None:
        self.check_readable()
        if self.window.room:
            self._drain_or_fail()
            self.window.room = 0

    def _move_to_front(self, at: int, stop: int) -> tuple[int, int]:
        """Move the unread bytes to the buffer's beginning; returns their new bounds."""
        unread = bytes(self.bytes()[at:stop])
        if self.memory.size > _BUFFER + 1 and len(unread) < _BUFFER:
            self.look_at(_new_buffer(_BUFFER))
        self.bytes()[: len(unread)] = unread
        self._start += at
        self.window.at, self.window.stop = 0, len(unread)
        return 0, len(unread)

    def _enlarge(self, need: int) -> None:
        """Enlarge the buffer for reading; to the needed bytes only if the file has that many.

        A number in a damaged file may ask for any size.
        """
        remaining = self._rest()
        size = min(2 * self.memory.size, need) if remaining is None else min(need, remaining)
        size = max(size, self.memory.size + _BUFFER)
        self.memory.resize(size + 1)
        self.memory.data[size] = 0

    def _read_some(self, out: memoryview) -> int:
        try:
            if not self._regular:
                self._wait()
            return os.readv(self._descriptor, [out])
        except OSError:
            return 0  # as at the end of the file: the caller reports that there is too little

    def _wait(self) -> None:
        """Wait until a pipe has something to read, or ends."""
        ready = select.poll()
        ready.register(self._descriptor, select.POLLIN)
        wait_until(lambda most: ready.poll(1000 * most))

    def _rest(self) -> int | None:
        """Return the number of bytes from the buffer's start to the file's end; None if unknown."""
        if not self._regular:
            return None
        size = os.fstat(self._descriptor).st_size
        # Files whose contents the system makes when they are read (/proc) have the size 0.
        return max(size - self._start, 0) if size else None

    def remaining(self) -> int | None:
        self._turn_to_reading()
        remaining = self._rest()
        return None if remaining is None else max(remaining - int(self.window.at), 0)

    def take(self, out: memoryview, unit: int) -> int:
        fits = len(out) <= _BUFFER
        done = min(self.fill(len(out) if fits else 1), len(out))
        at = int(self.window.at)
        out[:done] = self.bytes()[at : at + done]
        self.window.at = at + done
        return done if fits else done + self._read_past_buffer(out[done:])

    def _read_past_buffer(self, out: memoryview) -> int:
        """Read into out directly; the buffer has no unread bytes unless out is empty."""
        if not len(out):
            return 0
        done = 0
        while done < len(out):
            got = self._read_some(out[done:])
            if not got:
                break
            done += got
        self._start += int(self.window.at) + done
        self.window.at = self.window.stop = 0
        return done

    # -- writing

    def put(self, data: memoryview) -> int:
        if self.window.readable and not self.window.room:
            self._turn_to_writing()
        at = int(self.window.at)
        if len(data) <= self.window.room - at:
            self.bytes()[at : at + len(data)] = data
            self.window.at = self.window.stop = at + len(data)
            return len(data)
        if self._drain():
            return 0
        if len(data) < self.window.room:
            return self.put(data)
        done, _ = self._write_out(data)
        self._start += done
        return done

    def _turn_to_writing(self) -> None:
        position = self._start + int(self.window.at)
        if self.window.at != self.window.stop:
            self._set_position(position, os.SEEK_SET)
        if self.memory.size != _BUFFER + 1:
            self.look_at(_new_buffer(_BUFFER))
        self._start = position
        self.window.at = self.window.stop = 0
        self.window.room = 0 if self._unbuffered else _BUFFER

    def _write_out(self, data: memoryview) -> tuple[int, OSError | None]:
        """Write bytes to the file; returns how many were written, and the error or None."""
        done = 0
        try:
            with nullcontext() if self._regular else system.broken_pipes_as_errors():
                while done < len(data):
                    done += os.write(self._descriptor, data[done:])
        except OSError as error:
            return done, error
        return done, None

    def _drain(self) -> OSError | None:
        """Write the buffer's bytes; returns None, or the error, after which the bytes are lost."""
        if not self.window.writable or (self.window.readable and not self.window.room):
            return None
        pending = int(self.window.at)
        if not pending:
            return None
        self.window.at = self.window.stop = 0
        done, error = self._write_out(self.bytes()[:pending])
        self._start += done
        return error

    def _drain_or_fail(self) -> None:
        error = self._drain()
        if error is not None:
            self.window.failed = 1
            if not self.window.quiet:
                raise TorchError(f"write error: {os.strerror(error.errno or 0)}")

    def stop_buffering(self) -> None:
        """Write at once from now on, and read only as many bytes as are asked for."""
        self._drain_or_fail()
        self._unbuffered = True
        if self.window.room:
            self.window.room = 0

    # -- positions

    def _set_position(self, position: int, whence: int) -> int | None:
        try:
            return os.lseek(self._descriptor, position, whence)
        except (OSError, OverflowError):
            return None

    def _go(self, position: int, whence: int, failure: str) -> None:
        self._drain_or_fail()
        position_reached = self._set_position(position, whence)
        if position_reached is None:
            self.window.failed = 1
            if not self.window.quiet:
                raise TorchError(failure)
            return
        self._start = position_reached
        self.window.at = self.window.stop = 0

    def seek(self, position: int) -> None:
        self._go(position, os.SEEK_SET, f"unable to seek to position {position}")

    def seek_end(self) -> None:
        self._go(0, os.SEEK_END, "unable to seek at end of file")

    def position(self) -> int:
        if self._set_position(0, os.SEEK_CUR) is not None:
            return self._start + int(self.window.at)
        if self.window.quiet:
            return 0
        raise TorchError("unable to obtain disk file offset (maybe a long overflow occurred)")

    def synchronize(self) -> None:
        self._drain_or_fail()

    def close(self) -> None:
        try:
            self._drain_or_fail()
        finally:
            self._release()

    @uninterruptible  # closing a descriptor twice could close another file, which has got it since
    def _release(self) -> None:
        _open_files.discard(self)
        os.close(self._descriptor)
        super().close()

    def leave(self) -> None:
        """Write the buffer of an open file that no program closes any more.

        That this fails is told, since no program can catch it.
        """
        error = self._drain()
        if error is not None and not self.window.quiet and error.errno != errno.EPIPE:
            print(f"th: {printable(self.name)}: {os.strerror(error.errno or 0)}", file=sys.stderr)
        self.window.quiet = 1


def flush_all() -> None:
    """Write the buffers of open files when the program ends."""
    for file in list(_open_files):
        file.leave()


at_the_end(flush_all)


class SavedFile(DiskFile):
    """A file to be written from its beginning to its end.

    It replaces the file of its name when it is closed after `complete` was called. If it is closed
    before, or if bytes could not be written, the older file remains.
    """

    def __init__(self, name: bytes) -> None:
        """Create the file. Raises TorchError where the name cannot be written."""
        self._is_complete = False
        self._error: OSError | None = None
        super().__init__(name, "w")

    def _open(self, name: bytes, mode: str) -> int:
        try:
            self._replacement = Replacement(name)
        except OSError:
            self.window.opened = 0
            raise TorchError(self._cannot_open()) from None
        return self._replacement.descriptor

    def _write_out(self, data: memoryview) -> tuple[int, OSError | None]:
        done, error = super()._write_out(data)
        self._error = self._error or error
        return done, error

    def complete(self) -> None:
        """Declare that the file is complete: closing it will replace the older one."""
        self._is_complete = True

    def close(self) -> None:
        """Replace the older file, or remove this one. Raises TorchError if a write has failed."""
        try:
            self._drain()
            if self._is_complete:
                self._commit()
        finally:
            self._replacement.abandon()
            super().close()

    def _commit(self) -> None:
        # Raised even if the file is quiet: nothing else tells the program that it was not saved.
        try:
            if self._error is not None:
                raise self._error
            self._replacement.commit()
        except OSError as error:
            raise TorchError(f"write error: {os.strerror(error.errno or 0)}") from None

    def leave(self) -> None:
        self.window.quiet = 1
        self._replacement.abandon()
