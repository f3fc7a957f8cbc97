"""Jobs of C functions and LuaJIT over raw memory, for threads that need no lock of Python's.

OpenMP's threads look out for work by spinning. A Python thread that waits sleeps, and to wake it
takes about as long as what large operations take. So here each thread runs LuaJIT in a Lua state
of its own (``lua/parallel/thread_pool.lua``), spins for a while after each job, and sleeps only
then. The engine installs what reaches that module in its own state and in new ones.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from runtime.compute.processors import free_threads
from runtime.compute.threads import get_threads

__all__ = ["install", "run", "state"]

#: The functions of lua/parallel/thread_pool.lua in one Lua state, by name.
Functions = Mapping[bytes, Any]


class _Workers:
    """A board and the threads that look at it, which stay for as long as the process."""

    def __init__(self, functions: Functions) -> None:
        self.most_shares: int = functions[b"MOST"]
        self._most: int = self.most_shares if functions[b"can_share"]() else 1
        self.address: int = functions[b"new_board"]() if self._most > 1 else 0
        self._count = 1

    def gather(self, count: int) -> int:
        """Let so many threads look at the board; returns how many can be had."""
        count = min(count, self._most)
        while self._count < count:
            assert _new_state is not None
            args = (self.address, self._count)
            work = _new_state()[b"work"]
            thread = threading.Thread(target=work, args=args, name="torch", daemon=True)
            try:
                thread.start()
            except (MemoryError, RuntimeError):  # the system has no more
                self._most = self._count
                return self._count
            self._count += 1
        return count

    def forget(self) -> None:
        """Count the threads of this process anew: a fork has only the one that called it."""
        self._count = 1


_run: Callable[..., None] | None = None
_new_state: Callable[[], Functions] | None = None
_workers: _Workers | None = None


def install(
    call: Callable[..., Any], functions: Functions, new_state: Callable[[], Functions]
) -> None:
    """Set what calls 'run' in the engine's state, the module there, and what loads a new one."""
    global _run, _new_state, _workers
    _run, _new_state = partial(call, b"run"), new_state
    if _workers is None:
        _workers = _Workers(functions)


def _after_fork() -> None:
    if _workers is not None:
        _workers.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def state() -> tuple[int, int, int]:
    """The address of the board, how many shares work is divided into, and by how many threads.

    As many shares as torch.setnumthreads says, whatever else the machine does: results depend on
    them. As many threads while that many processors are free, else one does all shares.
    """
    assert _workers is not None, "no engine runs"
    shares = min(get_threads(), _workers.most_shares)
    return _workers.address, shares, _workers.gather(free_threads(shares))


def run(job: bytes, count: int, *parameters: float, piece: int = 0, large: bool = True) -> None:
    """Do a job of lua/parallel/jobs.lua for a range of positions.

    parameters: numbers, and addresses of memory that the caller keeps alive.
    piece: how many positions a thread does at a time, within its share; 0 for some part of it.
    large: whether to share it out.
    """
    assert _run is not None, "no engine runs"
    address, shares, threads = state() if large else (0, 1, 1)
    _run(job, address, shares, threads, count, piece, *parameters)
