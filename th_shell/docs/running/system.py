"""Limits, ends and cleans up processes of runs by calls of Linux; elsewhere, less is done."""

import ctypes
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

#: Bytes that a process may write into one file, as its output is, and in one message.
MOST_WRITTEN = 1 << 30

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_NO_RANDOMIZE, _ASK = 0x0040000, 0xFFFFFFFF  # of personality(2)
_CHILDREN = "/proc/thread-self/children"  # which not all kernels have
_PATIENCE = 5  # seconds in which what was killed must be gone


def checked(result: int) -> int:
    """Return the result of a function of the C library. Raises OSError if it is below 0."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def limit_memory(most: int) -> None:
    """Limit this process, and each that it starts, to its memory now and some more bytes."""
    if not most:
        return
    try:
        with open("/proc/self/statm", "rb") as file:
            now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux
        now = 1 << 30
    _limit(resource.RLIMIT_AS, now + most)


def limit_files() -> None:
    """Let this process, and each that it starts, end if it writes a file beyond MOST_WRITTEN."""
    _limit(resource.RLIMIT_FSIZE, MOST_WRITTEN)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python has it ignored


def _limit(what: int, most: int) -> None:
    """Set a limit of this process, below the highest that is allowed."""
    _, highest = resource.getrlimit(what)
    limit = most if highest == resource.RLIM_INFINITY else min(most, highest)
    resource.setrlimit(what, (limit, limit))


def end_with_parent() -> None:
    """Let the system kill this process when its parent ends for any reason."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def randomize_programs() -> None:
    """Let programs that this process executes have other addresses each time."""
    if sys.platform == "linux":
        personality = ctypes.CDLL(None).personality
        personality.argtypes = [ctypes.c_ulong]
        personality(personality(_ASK) & ~_NO_RANDOMIZE)


def adopt_orphans() -> None:
    """Become the parent of processes whose parents have ended, so that they can be found."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children(spared: Collection[int] = ()) -> None:
    """Kill all processes that this one and its children have started, and wait for them.

    spared: children that are left alone, with the processes that they have started.
    """
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        children = [child for child in _children() if child not in spared]
        if not children:
            return
        for child in children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)
        time.sleep(0.001)


def _children() -> list[int]:
    # What a killed child has started is a child of this process after that: see adopt_orphans.
    """Return the ids of the children of this process."""
    with suppress(OSError), open(_CHILDREN, "rb") as file:
        return list(map(int, file.read().split()))
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if _is_child(path)]


def _is_child(process: Path) -> bool:
    """Tell whether a process, given by its folder in /proc, is a child of this one."""
    with suppress(OSError):  # it may have ended
        return int((process / "stat").read_bytes().rpartition(b")")[2].split()[1]) == os.getpid()
    return False


def remove_folder(folder: str) -> None:
    """Remove a folder, even if a program has changed the permissions of its contents."""
    for parent, names, _ in os.walk(folder):
        for path in (parent, *(os.path.join(parent, name) for name in names)):
            if not os.path.islink(path):
                with suppress(OSError):
                    os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def opened_waits(process: int) -> int:
    """Open the file that tells how long a process has waited for a processor. Raises OSError."""
    return os.open(f"/proc/{process}/schedstat", os.O_RDONLY)


def seconds_of_waits(descriptor: int) -> float:
    """Return how long a process has waited for a processor; 0 where the system does not tell.

    descriptor: the file. Its second number is that of the process's first thread, in nanoseconds.
    """
    with suppress(OSError, ValueError, IndexError):
        return int(os.pread(descriptor, 100, 0).split()[1]) / 1e9
    return 0.0
