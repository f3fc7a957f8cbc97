"""Numbers that behave as in C while an engine runs: infinities and nans, and integers that wrap.

numpy warns of these unless it is told not to, for a thread and for a time. It may be loaded in the
middle of that time, since the runtime loads it when a program needs it first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


class _Thread(threading.local):
    #: Ends with the outermost block of `as_in_c` of the thread that began before numpy was there.
    waiting: ExitStack | None = None


_thread = _Thread()
_is_loaded = False


@contextmanager
def as_in_c() -> Iterator[None]:
    """Let numpy compute as C does in this thread, within the block."""
    if _is_loaded:
        import numpy as np

        with np.errstate(all="ignore"):
            yield
    elif _thread.waiting is not None:
        yield
    else:
        with ExitStack() as _thread.waiting:
            try:
                yield
            finally:
                _thread.waiting = None


def numpy_has_come() -> None:
    """Tell blocks of this thread that numpy is loaded; to be called before it is used in them."""
    global _is_loaded
    import numpy as np

    _is_loaded = True
    waiting, _thread.waiting = _thread.waiting, None
    if waiting is not None:
        waiting.enter_context(np.errstate(all="ignore"))
