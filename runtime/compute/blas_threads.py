"""The number of threads of the BLAS libraries under numpy and scipy.

The threads of these libraries spin while they wait for each other. Where another process keeps a
processor busy, that turns 0.1 ms into 8 ms. So the libraries start with one thread, and only work
that takes many times as long gets as many threads as the environment says
(OPENBLAS_NUM_THREADS, MKL_NUM_THREADS), or else torch.setnumthreads. It gets these however busy the
machine is, since the last digits of a result depend on their number. Libraries that a program in
Python has loaded before th have several threads, and so have those that th has loaded in such a
program: they use one while an engine works.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from th_shell.runtime.compute.thread_pool import PROCESSORS
from th_shell.runtime.core.interrupts import uninterruptible
from th_shell.runtime.core.process import ForkLock

_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_VALUES = [os.environ.get(name, "") for name in _VARIABLES]
_CHOSEN = next((int(value) for value in _VALUES if value.isdecimal()), 0)  # 0: none
# Bytes that OpenBLAS maps at the first use of each of its threads, and of each that calls it. Where
# there is no room, it tries for ever, or ends the process.
_BUFFER = 33 << 20
_STACK = 8 << 20  # bytes of a thread that it starts
# Bytes that numpy (84 MB) or scipy's linear algebra (95) take while they are loaded. With less,
# numpy crashes, OpenBLAS ends the process, or Python waits for ever for the lock of a module.
_TO_LOAD = 100 << 20


@contextmanager
def one_thread_at_load(package: str) -> Iterator[None]:
    """Let a library that is loaded within start with one thread.

    package: 'numpy' or 'scipy.linalg', with which it comes. Raises MemoryError or OSError, before
    anything is loaded, where there is no room for it, or there are too many open files: neither
    library can always be loaded again where that has failed midway.
    """
    global _is_own
    if package not in sys.modules:
        _is_own |= package == "numpy"
        _try_room(_TO_LOAD)
        _try_descriptors()
    chosen = {name: os.environ.get(name) for name in _VARIABLES}
    os.environ.update(dict.fromkeys(_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in chosen.items():  # programs started from here choose for themselves
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        _libraries.cache_clear()
        _controls.cache_clear()


@cache
def check_room(threads: int, library: str = "numpy") -> None:
    """Raise MemoryError if there is no room for the buffers of a library with so many threads.

    It is asked for until there was room once: the library keeps the buffers. library: that of
    'numpy' or of 'scipy', each of which has its own.
    """
    _try_room(threads * _BUFFER + (threads - 1) * _STACK)


def _try_room(nbytes: int) -> None:
    try:
        # Private, since limits of a process's data do not count what is shared.
        mmap.mmap(-1, nbytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, ValueError):
        raise MemoryError from None


def _try_descriptors() -> None:
    """Raise OSError unless some files can be opened."""
    descriptors: list[int] = []
    try:
        descriptors += os.pipe()
        descriptors += os.pipe()
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


# A library has one number of threads for the whole process: engines take turns to set it. So does
# os.fork: at a fork, OpenBLAS ends its threads, and who waits for their results waits for ever.
_setting = ForkLock()


_is_own = False  # whether th has loaded numpy, and no program in Python uses it


def starts_with_many() -> bool:
    """Tell whether the libraries may have several threads: numpy is a program's in Python."""
    return not _is_own and "numpy" in sys.modules


def give_threads_back() -> None:
    """Let what a program in Python computes by numpy itself use as many threads as without th."""
    global _is_own
    if _is_own:
        _is_own, count = False, _CHOSEN or PROCESSORS
        with suppress(MemoryError):
            check_room(count)
            for _, set_number in _controls():
                set_number(count)


class _OneThread:
    """Lets the libraries use one thread within, but for `many_threads`, as those that th loads do.

    For engines in programs in Python: outside, numpy's products use as many threads as before.
    Several engines may be at work at once.
    """

    def __init__(self) -> None:
        self._lock = ForkLock()
        self._count = 0
        self._set_back: list[tuple[Callable[[int], Any], int]] = []

    @uninterruptible
    def __enter__(self) -> None:
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._set_back = [(set_number, get()) for get, set_number in _controls()]
                for set_number, _ in self._set_back:
                    set_number(1)

    @uninterruptible
    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                for set_number, before in self._set_back:
                    set_number(before)


one_thread = _OneThread()


class many_threads:  # as a function of its arguments
    """Let the libraries that are loaded by now use so many threads within, or as many as the
    environment says.

    No more than there are processors for this process. library: the one that is used, for
    `check_room`.
    """

    def __init__(self, count: int, library: str = "numpy") -> None:
        self._count = min(_CHOSEN or count, PROCESSORS)
        self._set_back: list[tuple[Callable[[int], Any], int]] = []
        if self._count > 1:
            check_room(self._count, library)

    @uninterruptible
    def __enter__(self) -> None:
        if self._count == 1:
            return
        controls = _controls()
        _setting.__enter__()
        for get, set_number in controls:
            self._set_back.append((set_number, get()))
            set_number(self._count)

    @uninterruptible
    def __exit__(self, *error: object) -> None:
        if self._count == 1:
            return
        for set_number, before in self._set_back:
            set_number(before)
        _setting.__exit__()


@cache
def _controls() -> list[tuple[Callable[[], int], Callable[[int], Any]]]:
    """Return, for each library loaded by now, the functions that get and set its number of threads.

    Those of OpenBLAS itself where it has threads of its own: threadpoolctl would let only the first
    thread of Python that sets a number set any.
    """
    controls = []
    for library in _libraries():
        get, set_number = library.get_num_threads, library.set_num_threads
        if library.internal_api == "openblas" and library.threading_layer != "openmp":
            get = library._get_symbol("openblas_get_num_threads")
            set_number = library._get_symbol("openblas_set_num_threads")
        controls.append((get, set_number))
    return controls


@cache
def _libraries() -> list[Any]:
    """The libraries that are loaded by now; scipy brings one of its own, at its first use."""
    from threadpoolctl import ThreadpoolController  # late: few programs get here

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def blas_version() -> str:
    """Return the BLAS that numpy, which is loaded, computes with: 'openblas 0.3.31 (SkylakeX)'."""
    for library in _libraries():
        kernel = getattr(library, "architecture", None)
        return f"{library.internal_api} {library.version}" + (f" ({kernel})" if kernel else "")
    return "a BLAS without a version"
