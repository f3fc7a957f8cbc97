"""Loads the half of the runtime that needs numpy: the operations, tensors and files.

That takes longer than all the rest of a start, and a program may do without: so it is loaded when
Lua first asks for one of its functions, or before, in the background of a prompt.

The functions that begin with `preload` load what operations load at their first use: a process that
forks calls them, so that its forks have it already.
"""

from __future__ import annotations

from importlib import import_module

from th_shell.runtime.compute.blas_threads import give_threads_back, one_thread_at_load
from th_shell.runtime.core.interrupts import uninterruptible
from th_shell.runtime.core.process import ForkLock, nothing_is_garbage
from th_shell.runtime.core.state import numpy_has_come

# Held while it is loaded. A fork waits until that is done: a child would find modules that are
# loaded to one half, by a thread that it has not.
_loading = ForkLock()
_is_loaded = False
_numpy_error: BaseException | None = None


@uninterruptible
def load_operations() -> None:
    """Load it, unless it is loaded. Raises ImportError, MemoryError or OSError where it cannot be.

    It may be tried again. Only numpy cannot be loaded twice in a process: where that has begun and
    failed, the error stays.
    """
    global _is_loaded
    with _loading:
        if not _is_loaded:
            _load("th_shell.runtime.host.numpy_functions")
            _is_loaded = True
    numpy_has_come()


@uninterruptible
def load_numpy() -> None:
    """Load numpy alone, as `load_operations` does: for programs in Python, which may use it."""
    with _loading:
        if not _is_loaded:
            _load("numpy")
        give_threads_back()


def _load(module: str) -> None:
    global _numpy_error
    with one_thread_at_load("numpy"), nothing_is_garbage():
        if _numpy_error is not None:
            raise _numpy_error.with_traceback(None)
        try:
            import_module("numpy")
        except BaseException as error:
            _numpy_error = _explained(error)
            raise _numpy_error from error
        import_module(module)


def _explained(error: BaseException) -> BaseException:
    if isinstance(error, ImportError) and "failed to map segment" in str(error):
        return MemoryError()
    if isinstance(error, ImportError):
        return ImportError(f"numpy cannot be loaded: {error}")
    return error


def preload_operations() -> None:
    """Load numpy and the operations, which take about 100 milliseconds."""
    load_operations()


def preload_random() -> None:
    """Load the generator of random numbers, which takes some milliseconds."""
    load_operations()  # numpy, for the right number of threads
    import numpy.random  # noqa: F401


def preload_lapack() -> None:
    """Load the routines of LAPACK, which take about 30 milliseconds."""
    from th_shell.runtime.compute.scipy_lapack import lapack_module  # late: for few programs

    for name in ("_flapack", "cython_lapack"):
        lapack_module(name)
