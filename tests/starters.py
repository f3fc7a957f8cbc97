"""A starter of th-docs whose process other tests use, too.

Each `th-docs` has a process of its own that starts the runs of pages, and loads the runtime for
that. Tests that run th-docs in their own process share one, unless they change the environment,
which that process has from its start. How th-docs uses its own is tested with processes of th-docs,
in tests/th_shell/docs/test_processes.py.
"""

import os
import socket
import sys
from functools import cache

from th_shell.docs.running.processes import Starter


class SharingStarter(Starter):
    """A starter that begins runs by the process of another one, and leaves it running."""

    def _connection(self, number: int) -> socket.socket:
        if _environment() != _AT_FIRST:
            return super()._connection(number)
        with shared()._lock:
            return shared()._connection(number)


@cache
def shared() -> Starter:
    """The starter whose process is shared."""
    return Starter()


def _environment() -> tuple[dict[str, str], list[str]]:
    """What a starter's process gets from this one."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return kept, list(sys.path)


_AT_FIRST = _environment()
