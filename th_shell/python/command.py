"""``th --python``: runs a program as Python does, with this project's torch for `import torch`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from th_shell.python import alias
from th_shell.python.options import PythonOptions, parse
from th_shell.python.programs import Program, leave_by_interrupt

__all__ = ["run"]

_FAILURE = 1


def run(words: Sequence[str]) -> int:
    """Run what the words behind --python name; returns the exit status.

    Raises UsageError, and SystemExit where the program does.
    """
    options = parse(words)
    _signals_of_python()
    _environment_of_python()
    if not options.installed:
        alias.use_face()
    elif not alias.is_installed():
        message = f"--torch installed: {sys.executable} finds no module torch"
        print(f"th: {message}; install PyTorch there, or leave the option out", file=sys.stderr)
        return _FAILURE
    return _run(options)


def _run(options: PythonOptions) -> int:
    leave_by_interrupt()
    return Program(options).run()


def _signals_of_python() -> None:
    """Let signals do what they do in Python: Ctrl-C is an exception, a closed pipe an error."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def _environment_of_python() -> None:
    """Let programs import what $PYTHONPATH names, also where th itself is isolated from it."""
    if sys.flags.ignore_environment:
        named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [folder for folder in named if folder]
