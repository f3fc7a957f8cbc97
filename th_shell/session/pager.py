"""Shows a text that is longer than the screen in `$PAGER`, or in less."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess

from th_shell.runtime.shell import without_limit

#: less shows colours, leaves the text on the screen, and ends at once where it fits.
_ENVIRONMENT = {"LESS": "RFX"}


def show(text: str) -> bool:
    """Show a text; returns False where it fits the screen, or nothing can show it."""
    try:
        size = os.get_terminal_size(1)
        words = shlex.split(os.environ.get("PAGER") or "less")
        lines = sum(1 + len(line) // max(size.columns, 1) for line in text.split("\n"))
        if lines <= size.lines or not words or shutil.which(words[0]) is None:
            return False
        environment = {**_ENVIRONMENT, **os.environ}
        with without_limit():
            pager = subprocess.Popen(words, stdin=subprocess.PIPE, env=environment)
        pager.communicate(text.encode("utf-8", "surrogateescape"))  # nobody need read all of it
    except (OSError, ValueError):
        return False
    return True
