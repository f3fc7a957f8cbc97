"""`%debug` and `%profile` of the Python prompt: Python's own pdb, cProfile and pstats.

What they show is the program's: torch is one thing, whatever it does within.
"""

from __future__ import annotations

import cProfile
import io
import pdb
import pstats
import signal
import sys
from typing import Any

from th_shell.python.session import PythonSession
from th_shell.python.tracebacks import is_own
from th_shell.session.commands import MagicError
from th_shell.session.interrupt import handled

_LINES = 20  # of a profile
_TORCH = ("~", 0, "<torch>")  # pstats shows it as it shows functions in C

#: What pstats knows: calls without and with recursive ones, own time, time with all that was
#: called, and the same of each caller; by file, line and name.
_Stats = dict[tuple[str, int, str], tuple[int, int, float, float, dict[Any, Any]]]


def debug(session: PythonSession, text: str) -> None:
    """Look into the last error by pdb: where its traceback, without frames of ours, ends."""
    traceback = getattr(sys, "last_traceback", None)
    if text:
        raise MagicError("it takes nothing; breakpoint() stops a program")
    if traceback is None:
        raise MagicError("no error that has lines of the program was raised")
    sys.stdout.flush()
    with handled(signal.SIGINT, signal.default_int_handler):
        pdb.post_mortem(traceback)


def profile(session: PythonSession, text: str) -> None:
    """Run an input, and tell which functions take long."""
    if not text:
        raise MagicError("what is to be run? As in: %profile train()")
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        session.submit(text, timed=False)
    finally:
        profiler.disable()
    out = io.StringIO()
    stats: Any = pstats.Stats(profiler, stream=out)
    stats.stats = _of_program(stats.stats)
    stats.total_calls = sum(row[1] for row in stats.stats.values())
    stats.prim_calls = sum(row[0] for row in stats.stats.values())
    stats.total_tt = sum(row[2] for row in stats.stats.values())
    stats.sort_stats("cumulative").print_stats(_LINES)
    session.show_text(out.getvalue().strip())


def _of_program(stats: _Stats) -> _Stats:
    """What inputs have called, and what that has called, but not what torch has."""
    waiting = [function for function in stats if function[0].startswith("<input ")]
    found: _Stats = {}
    torch = (0, 0, 0.0, 0.0)
    while waiting:
        function = waiting.pop()
        if function not in found:
            found[function] = stats[function]
            waiting += [one for one, row in stats.items() if function in row[4]
                        and not is_own(one[0])]  # fmt: skip
    for function, row in stats.items():
        if is_own(function[0]):
            for caller, times in row[4].items():
                if caller in found:
                    torch = tuple(map(sum, zip(torch, times, strict=True)))  # type: ignore
    if torch[0]:
        calls, primitive, _, total = torch
        found[_TORCH] = (primitive, calls, total, total, {})
    return found
