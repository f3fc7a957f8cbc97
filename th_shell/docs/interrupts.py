"""What Ctrl-C does to th-docs: the first one raises KeyboardInterrupt, the second one ends it.

Python loses an exception that is raised in a finalizer. What goes on for long asks whether there
was one.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn

_came = False


def handle_interrupts() -> None:
    """Let Ctrl-C do what this module says, unless the system has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed, also where that was lost."""
    if _came:
        raise KeyboardInterrupt


def _interrupt(number: int, _: FrameType | None) -> NoReturn:
    global _came
    _came = True
    signal.signal(number, signal.SIG_DFL)
    raise KeyboardInterrupt
