"""What files need of the operating system, with its surprises taken out."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from runtime.memory import METER

__all__ = ["broken_pipes_as_errors", "open_descriptor", "start_command", "wait_for"]

_SHELL = "/bin/sh"

# Processes that nobody waited for when their file was closed.
_left: list[int] = []


def open_descriptor(name: bytes, flags: int) -> int:
    """Open a file that no child process inherits. Raises OSError, ValueError."""
    try:
        return os.open(name, flags | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno != errno.EMFILE or METER.collect is None:
            raise
    # Files that a program dropped without closing them stay open until Lua collects them.
    METER.collect()  # lets go of what stands for a file in Lua
    METER.collect()  # and of the file
    return os.open(name, flags | os.O_CLOEXEC, 0o666)


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
