"""The calls of the operating system that files need: descriptors, room on disks, pipes."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from th_shell.runtime.core.machine import without_limit
from th_shell.runtime.core.state import current
from th_shell.runtime.core.stoppable_waits import Commands

_SHELL = "/bin/sh"
_BLOCK = 512  # bytes: the unit of st_blocks
_NOT_SUPPORTED = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)

# Process ids of commands whose file was closed without waiting for them to end.
_unwaited: list[int] = []


def open_descriptor(name: bytes, flags: int, mode: int = 0o666) -> int:
    """Open a file that no child process inherits. Raises OSError.

    As in C, the name ends at a zero byte.
    """
    name = name.partition(b"\0")[0]
    try:
        return os.open(name, flags | os.O_CLOEXEC, mode)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    # Too many files are open. Those that a program has dropped without closing them are closed
    # when Lua collects them.
    from th_shell.runtime.core.memory import Memory  # late: it loads numpy

    current(Memory).collect()
    return os.open(name, flags | os.O_CLOEXEC, mode)


def reserve(descriptor: int, size: int) -> None:
    """Make sure that the disk has room for a file's first ``size`` bytes.

    A shorter file is extended to that size. Raises OSError; the file's size is then as it was.
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
    """Make writing to a pipe without a reader raise OSError; else SIGPIPE ends the process."""
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
    """Start a shell command with a pipe to this process. Raises OSError.

    reading: the pipe carries the command's standard output here; otherwise it carries what is
    written here to the command's standard input. Returns the descriptor of this end of the pipe,
    and the process id.
    """
    collect_finished()
    out, into = os.pipe()
    ours, theirs = (out, into) if reading else (into, out)
    standard = 1 if reading else 0
    try:
        with without_limit():
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
    current(Commands).add(process)
    return ours, process


def wait_for(process: int) -> None:
    """Wait until a process has ended."""
    try:
        os.waitpid(process, 0)
    except ChildProcessError:
        pass


def leave(process: int) -> None:
    """Do not wait for a process to end; remember it for `collect_finished`."""
    _unwaited.append(process)
    collect_finished()


def collect_finished() -> None:
    """Collect the status of remembered processes that have ended; until then they are zombies."""
    for process in _unwaited[:]:
        try:
            ended, _ = os.waitpid(process, os.WNOHANG)
        except ChildProcessError:
            ended = process
        if ended:
            _unwaited.remove(process)
