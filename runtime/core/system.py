"""Calls of the operating system that files need: descriptors, room on disks, pipes; and waiting.

Waiting ends where an engine's code is told to stop: by a timeout, say, in another thread. Python
waits a moment at a time, and looks. What Lua's C functions wait for are commands, which `Commands`
ends.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from th_shell.runtime.core.machine import without_limit
from th_shell.runtime.core.state import current

_MOMENT = 0.05  # seconds
_STOP = 1


class Stopping:
    """A number in memory that the engine's code reads: 1 tells it to stop."""

    def __init__(self) -> None:
        self.told = ctypes.c_int32(0)


def wait_until(is_over: Callable[[float], object]) -> None:
    """Wait until a function says that this is over, which waits for so many seconds at most.

    Raises KeyboardInterrupt where the code is to stop.
    """
    told = current(Stopping).told
    while not is_over(_MOMENT):
        if told.value == _STOP:
            raise KeyboardInterrupt


def sleep(seconds: float) -> None:
    """Wait for some seconds, as `wait_until` does."""
    end = time.monotonic() + seconds

    def is_over(most: float) -> bool:
        time.sleep(max(0.0, min(most, end - time.monotonic())))
        return not time.monotonic() < end

    wait_until(is_over)


class Commands:
    """The commands that an engine's code has started, as far as the system tells (on Linux)."""

    def __init__(self) -> None:
        self._started: set[int] = set()
        self._thread = 0
        self._before: set[int] | None = None  # a command; what the thread had started then

    def begin(self) -> None:
        """Note that this thread starts a command in C, which may wait for its end."""
        self._thread = threading.get_native_id()
        self._before = _children_of_thread("self", self._thread)

    def end(self) -> None:
        """Note that the call is over: what goes on is a pipe's."""
        if self._before is not None:
            self.add(*(_children_of_thread("self", self._thread) - self._before))
            self._before = None

    def add(self, *processes: int) -> None:
        """Note that commands were started."""
        self._started = (self._started & _children("self")) | set(processes)

    def kill(self) -> None:
        """End the command that the code waits for: that of a call, or what pipes lead to."""
        before, started = self._before, self._started
        if before is not None:
            started = _children_of_thread("self", self._thread) - before
        for process in started & _children("self"):
            _kill(process)


def _kill(process: int) -> None:
    """End a process and those that it has started."""
    with suppress(OSError):
        os.kill(process, signal.SIGSTOP)  # it must start no others meanwhile
        children = _children(process)
        os.kill(process, signal.SIGKILL)
        for child in children:
            _kill(child)


def _children(process: int | str) -> set[int]:
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return set()
    return set().union(*(_children_of_thread(process, thread) for thread in threads))


def _children_of_thread(process: int | str, thread: int | str) -> set[int]:
    try:
        with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
            return set(map(int, file.read().split()))
    except OSError:
        return set()


# -- files and pipes

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
    with suppress(ChildProcessError):
        os.waitpid(process, 0)


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
