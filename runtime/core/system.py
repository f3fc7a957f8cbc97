"""What files need of the operating system, with its surprises taken out."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from runtime.core.memory import Memory
from runtime.core.state import current

__all__ = [
    "broken_pipes_as_errors",
    "open_descriptor",
    "reserve",
    "start_command",
    "wait_for",
]

_SHELL = "/bin/sh"
_BLOCK = 512  # bytes of what st_blocks counts
_NOT_SUPPORTED = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)

# Processes that nobody waited for when their file was closed.
_left: list[int] = []


def open_descriptor(name: bytes, flags: int, mode: int = 0o666) -> int:
    """Open a file that no child process inherits; its name ends at a zero byte. Raises OSError."""
    name = name.partition(b"\0")[0]
    try:
        return os.open(name, flags | os.O_CLOEXEC, mode)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    # Files that a program dropped without closing them stay open until Lua collects them.
    current(Memory).collect()
    return os.open(name, flags | os.O_CLOEXEC, mode)


def reserve(descriptor: int, size: int) -> None:
    """Make sure that the disk has room for a file's first ``size`` bytes.

    The file is extended to them. Raises OSError; the file's size is then as it was.
    """
    before = os.fstat(descriptor)
    if before.st_size < size:
        os.ftruncate(descriptor, size)
    if before.st_blocks * _BLOCK >= size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            os.ftruncate(descriptor, before.st_size)
            raise


@contextmanager
def broken_pipes_as_errors() -> Iterator[None]:
    """Make writing to a pipe that nobody reads an OSError instead of the program's end."""
    pipe = {signal.SIGPIPE}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, pipe)
    pending = signal.SIGPIPE in signal.sigpending()
    try:
        yield
    finally:
        if signal.SIGPIPE in signal.sigpending() and not pending:
            signal.sigwait(pipe)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_command(command: bytes, *, reading: bool) -> tuple[int, int]:
    """Run a shell command; our end of a pipe to it, and its process id. Raises OSError.

    reading: we read what the command writes; else the command reads what we write.
    """
    collect_finished()
    out, into = os.pipe()
    ours, theirs = (out, into) if reading else (into, out)
    standard = 1 if reading else 0
    try:
        process = os.posix_spawn(
            _SHELL,
            [b"sh", b"-c", command],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, theirs, standard)],
            setsigdef=[signal.SIGPIPE],
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    return ours, process


def wait_for(process: int) -> None:
    """Wait until a process has ended."""
    try:
        os.waitpid(process, 0)
    except ChildProcessError:
        pass


def leave(process: int) -> None:
    """Do not wait for a process; it is collected when it has ended."""
    _left.append(process)
    collect_finished()


def collect_finished() -> None:
    """Let the system forget processes that have ended."""
    for process in _left[:]:
        try:
            ended, _ = os.waitpid(process, os.WNOHANG)
        except ChildProcessError:
            ended = process
        if ended:
            _left.remove(process)
