"""Threads with engines of their own, in which the package `threads` runs programs' jobs."""

from __future__ import annotations

import itertools
import sys
import threading
from typing import Any

from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.system import wait_until
from th_shell.runtime.host.lua_calls import guarded

_numbers = itertools.count(1)
_threads: dict[int, threading.Thread] = {}


def functions() -> dict[bytes, Any]:
    """Return the functions that Lua calls, by name."""
    return {
        b"start_worker": guarded(_start),
        b"worker_runs": guarded(lambda number: int(number) in _threads),
        b"join_worker": guarded(_join, interruptible=True),
    }


def _start(source: bytes, path: bytes, cpath: bytes, as_cpu: bool, trusts: bool) -> int:
    """Run a program in a new thread; returns the thread's number.

    path, cpath: where its engine looks for modules. as_cpu: whether GPUs are the processor there.
    trusts: whether functions in files are loaded there.
    """
    number = next(_numbers)
    args = (number, source, path, cpath, b"yes" if as_cpu else b"no", b"yes" if trusts else b"no")
    thread = threading.Thread(target=_work, args=args, name=f"threads {number}", daemon=True)
    _threads[number] = thread
    try:
        thread.start()
    except RuntimeError:  # the system has no more
        del _threads[number]
        raise TorchError("threads: thread new failed") from None
    return number


_PREPARE = b"""
    local as_cpu, trusts
    package.path, package.cpath, as_cpu, trusts = ...
    if as_cpu == 'yes' then torch.gpuascpu() end
    torch.trustfunctions(trusts == 'yes')
    setprintlevel(0) -- print is Lua's own there, until the job requires trepl
    local trepl = package.loaded.trepl
    package.loaded.trepl = nil
    function package.preload.trepl() setprintlevel(5) return trepl end
"""


def _work(number: int, source: bytes, *settings: bytes) -> None:
    from th_shell.runtime.engine.shell_engine import ShellEngine  # which uses this module

    try:
        with ShellEngine() as engine:
            engine.stay_open_at_exit()
            engine.call(engine.compile(_PREPARE), *settings)
            engine.run(engine.compile(source, b"=thread"))
            engine.flush()
    except Exception as error:
        print(f"th: thread: {error}", file=sys.stderr)
    finally:
        del _threads[number]


def _join(number: float) -> None:
    """Wait until a thread has ended."""
    thread = _threads.get(int(number))
    if thread is not None:

        def has_ended(most: float) -> bool:
            thread.join(most)
            return not thread.is_alive()

        wait_until(has_ended)
