"""How many processors there are for this process, and how many of them other processes leave free.

Threads that wait for each other take very long where another process has a processor: then they
wait for the system to give it back.
"""

from __future__ import annotations

import math
import os
import time

from th_shell.runtime.core import cgroups
from th_shell.runtime.core.platform import allowed_processors, processor_seconds

_ALL = os.cpu_count() or 1


def _count(allowed: int, quota: float | None) -> int:
    """How many processors a process can keep busy that may run on some, with a quota of time."""
    return allowed if quota is None else min(allowed, math.ceil(quota))


#: How many processors this process may use.
PROCESSORS = _count(allowed_processors(), cgroups.quota())


def free_threads(count: int) -> int:
    """How many of so many threads should work: no more than there are processors for.

    Only one where other processes do not leave that many free (more or less, and of late).
    """
    count = min(count, PROCESSORS)
    return count if _LOAD.busy_elsewhere() <= _ALL - count + 0.5 else 1


class _Load:
    """How many processors other processes have kept busy, of late."""

    _INTERVAL = 0.1  # seconds; from one look to the next

    def __init__(self) -> None:
        self._busy = 0.0
        self._then, self._work, self._own = 0.0, 0.0, 0.0

    def busy_elsewhere(self) -> float:
        """The number of processors; 0 where the system does not tell."""
        now = time.monotonic()
        if now - self._then > self._INTERVAL:
            work, own = processor_seconds(), time.process_time()
            if self._then:
                others = (work - self._work) - (own - self._own)
                self._busy = max(others, 0.0) / (now - self._then)
            self._then, self._work, self._own = now, work, own
        return self._busy


_LOAD = _Load()
