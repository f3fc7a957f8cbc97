"""When figures are drawn: programs may change one with each step of a long loop.

Drawing takes much longer than a step does, and nobody looks at each state of a figure. So once
drawing has taken some time, changes of figures that were drawn before wait: drawing may go on for a
tenth of the time since then. What waits is drawn before a command is started, which may look at
files, and at the end of the program. In the reference, too, figures are late: gnuplot is a process
of its own, which draws them one after the other.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from th_shell.runtime.core import exit_hooks
from th_shell.runtime.core.errors import TorchError

Key = bytes | int  # the name of a file, or the number of a window
Drawing = Callable[[], None]

_FREE = 1.0  # seconds of drawing before changes wait
_SHARE = 0.1  # of the time that passes

_drawn: set[Key] = set()
_waiting: dict[Key, tuple[int, Drawing]] = {}  # with the process that they wait in
_debt = 0.0  # seconds of drawing that are not worked off yet, as of the last drawing
_last = 0.0  # when that was


def _debt_now() -> float:
    return max(0.0, _debt - _SHARE * (time.monotonic() - _last))


def now(key: Key, drawing: Drawing) -> None:
    """Draw at once, instead of what waits."""
    global _debt, _last
    start = time.monotonic()
    try:
        drawing()
    finally:
        _waiting.pop(key, None)
        _drawn.add(key)
        _debt, _last = _debt_now() + time.monotonic() - start, time.monotonic()


def soon(key: Key, drawing: Drawing) -> None:
    """Draw at once what was never drawn, and all if drawing has not taken much time lately."""
    if key not in _drawn or _debt_now() < _FREE:
        now(key, drawing)
    else:
        at_the_end(key, drawing)


def at_the_end(key: Key, drawing: Drawing) -> None:
    """Draw at the end of the program, unless the figure is drawn or closed before then."""
    _waiting[key] = (os.getpid(), drawing)


def forget(key: Key) -> None:
    """Draw nothing that waits for a window that is closed."""
    _waiting.pop(key, None)
    _drawn.discard(key)


def draw_what_waits() -> None:
    """Draw what waits in this process; errors are told, since no program can catch them."""
    while _waiting:
        _, (process, drawing) = _waiting.popitem()
        try:
            if process == os.getpid():
                drawing()
        except TorchError as error:
            print(error, file=sys.stderr)


exit_hooks.at_the_end(draw_what_waits)
