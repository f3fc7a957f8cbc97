"""``th --lsp``: speaks with an editor through the standard input and output."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from th_shell.visible import UsageError

try:
    from th_shell.editor.server import make_server
except ModuleNotFoundError as error:
    if error.name not in ("pygls", "lsprotocol"):
        raise
    raise ImportError("--lsp needs pygls: pip install 'th-shell[editor]'") from None

_DEPTH = 10_000  # of Python's calls, as th --check allows


def run(words: Sequence[str]) -> int:
    """Serve until the editor ends it; returns the exit status. Raises UsageError."""
    if words:
        raise UsageError("--lsp takes no arguments")
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEPTH))
    # What anything else writes must not come between the messages.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    make_server().start_io(sys.stdin.buffer, output)
    return 0
