"""Starts ``th-docs``: says in one line why it cannot run on a system, where it cannot."""

from __future__ import annotations

import sys

__all__ = ["main"]

_CANNOT_RUN = 2


def main() -> int:
    """Run th-docs; the exit status."""
    try:
        from th_shell.docs.cli import main as run
    except ImportError as error:
        print(f"th-docs: {error}", file=sys.stderr)
        return _CANNOT_RUN
    return run()
