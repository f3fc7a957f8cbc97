"""How many threads the BLAS libraries under numpy and scipy compute with.

On vectors and small matrices their threads gain little, and cost milliseconds where another
process keeps a core busy: they wait for each other by spinning. So the libraries start with one
thread, and only large products and factorizations get what torch.setnumthreads says.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["many_threads", "one_thread_at_load"]

_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


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


@contextmanager
def many_threads(count: int) -> Iterator[None]:
    """Let the libraries that are loaded by now use this many threads within."""
    libraries = _libraries("scipy.linalg" in sys.modules)
    before = [library.num_threads for library in libraries]
    for library in libraries:
        library.set_num_threads(count)
    try:
        yield
    finally:
        for library, number in zip(libraries, before, strict=True):
            library.set_num_threads(number)


@cache
def _libraries(scipy_too: bool) -> list[Any]:
    # scipy brings a library of its own, which is there from its first use on.
    from threadpoolctl import ThreadpoolController  # late: few programs get here

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
