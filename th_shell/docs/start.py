"""Starts ``th-docs``: says in one line why it cannot run on a system, where it cannot.

The first Ctrl-C ends what runs, which may take a moment; at the second one the system ends th-docs
(`interrupts`). The processes of pages then end by themselves.
"""

from __future__ import annotations

from th_shell.docs.interrupts import handle_interrupts
from th_shell.visible import complain

_CANNOT_RUN = 2
_INTERRUPTED = 130


def main() -> int:
    """Run th-docs; the exit status."""
    handle_interrupts()
    try:
        from th_shell.docs.cli import main as run
    except ImportError as error:
        complain(error, "th-docs")
        return _CANNOT_RUN
    except KeyboardInterrupt:  # loading the libraries takes a moment
        return _INTERRUPTED
    return run()
