"""Lines for who looks into the runtime: they appear where the environment has TH_DEBUG."""

from __future__ import annotations

import os
import sys


def note(line: str) -> None:
    """Print a line to the standard error where TH_DEBUG is set, and not to ''."""
    if os.environ.get("TH_DEBUG"):
        print(f"th: {line}", file=sys.stderr, flush=True)
