"""Starts ``th-docs``: says in one line why it cannot run on a system, where it cannot.

The first Ctrl-C ends what runs, which may take a moment; at the second one the system ends th-docs.
The processes of pages then end by themselves.
"""

from __future__ import annotations

import gc
import signal
from types import FrameType
from typing import NoReturn

from th_shell.visible import complain

_CANNOT_RUN = 2
_INTERRUPTED = 130
#: New objects behind which the collector looks for garbage: those of a page stay until its report.
_MANY_OBJECTS = 100_000


def main() -> int:
    """Run th-docs; the exit status."""
    gc.set_threshold(_MANY_OBJECTS)
    # Where Ctrl-C is ignored, as in the background of a script, it stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        from th_shell.docs.cli import main as run
    except ImportError as error:
        complain(error, "th-docs")
        return _CANNOT_RUN
    except KeyboardInterrupt:  # loading the libraries takes a moment
        return _INTERRUPTED
    return run()


def _interrupt(number: int, _: FrameType | None) -> NoReturn:
    """Handle the first Ctrl-C, and leave the second one to the system."""
    signal.signal(number, signal.SIG_DFL)
    raise KeyboardInterrupt
