"""How many threads the BLAS libraries under numpy and scipy compute with.

The threads of these libraries spin while they wait for each other. Where another process keeps a
processor busy, that turns 0.1 ms into 8 ms. So the libraries start with one thread, and only work
that takes many times as long gets as many threads as torch.setnumthreads says. It gets these
however busy the machine is, since the last digits of a result depend on their number.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from runtime.compute.processors import PROCESSORS
from runtime.core.forks import ForkLock

_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Bytes that OpenBLAS maps at the first use of each of its threads, and of each that calls it. Where
# there is no room, it tries for ever, or ends the process.
_BUFFER = 33 << 20
_STACK = 8 << 20  # bytes of a thread that it starts


@contextmanager
def one_thread_at_load() -> Iterator[None]:
    """Let a library that is loaded within start with one thread, unless the user chose."""
    ours = [name for name in _VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(ours, "1"))
    try:
        yield
    finally:
        for name in ours:  # programs started from here choose for themselves
            del os.environ[name]
        _libraries.cache_clear()


@cache
def check_room(threads: int, library: str = "numpy") -> None:
    """Raise MemoryError if there is no room for the buffers of a library with so many threads.

    It is asked for until there was room once: the library keeps the buffers. library: that of
    'numpy' or of 'scipy', each of which has its own.
    """
    room = threads * _BUFFER + (threads - 1) * _STACK
    try:
        # Private, since limits of a process's data do not count what is shared.
        mmap.mmap(-1, room, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, ValueError):
        raise MemoryError from None


# A library has one number of threads for the whole process: engines take turns to set it. So does
# os.fork: at a fork, OpenBLAS ends its threads, and who waits for their results waits for ever.
_setting = ForkLock()


@contextmanager
def many_threads(count: int, library: str = "numpy") -> Iterator[None]:
    """Let the libraries that are loaded by now use this many threads within.

    No more than there are processors for this process. library: the one that is used, for
    `check_room`.
    """
    count = min(count, PROCESSORS)
    if count == 1:
        yield
        return
    check_room(count, library)
    with _setting:
        libraries = _libraries()
        before = [library.num_threads for library in libraries]
        for library in libraries:
            _set_threads(library, count)
        try:
            yield
        finally:
            for library, number in zip(libraries, before, strict=True):
                _set_threads(library, number)


def _set_threads(library: Any, count: int) -> None:
    # In newer threadpoolctl the first thread of Python that sets a number is in control, and other
    # threads set nothing: it is made to let go, before and afterwards.
    let_go = getattr(library, "clear_controlling_thread", lambda force: None)
    let_go(force=True)
    library.set_num_threads(count)
    let_go(force=True)


@cache
def _libraries() -> list[Any]:
    """The libraries that are loaded by now; scipy brings one of its own, at its first use."""
    from threadpoolctl import ThreadpoolController  # late: few programs get here

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
