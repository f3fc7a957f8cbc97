"""The number of processors for this process, and of those that other processes leave free.

Threads that wait for each other take very long where another process has a processor: then they
wait for the system to give it back.
"""

from __future__ import annotations

import math
import os
import time

from th_shell.runtime.core import machine
from th_shell.runtime.core.platform import allowed_processors, processor_seconds

_ALL = os.cpu_count() or 1


def _count(allowed: int, quota: float | None) -> int:
    """Return the number of processors that a process can keep busy within its quota of time."""
    return allowed if quota is None else min(allowed, math.ceil(quota))


#: How many processors this process may use.
PROCESSORS = _count(allowed_processors(), machine.quota())


def free_threads(count: int) -> int:
    """Return how many of `count` threads should work: at most one for each free processor.

    Only one where other processes do not leave that many free (more or less, and of late).
    """
    count = min(count, PROCESSORS)
    return count if _LOAD.busy_elsewhere() <= _ALL - count + 0.5 else 1


class _Load:
    """The number of processors that other processes have kept busy of late."""

    _INTERVAL = 0.1  # seconds; from one look to the next

    def __init__(self) -> None:
        self._busy = 0.0
        self._then, self._work, self._own = 0.0, 0.0, 0.0

    def busy_elsewhere(self) -> float:
        """The number of processors; 0 where the system does not tell."""
        now = time.monotonic()
        if now - self._then > self._INTERVAL:
            work, own_seconds = processor_seconds(), time.process_time()
            if self._then:
                other_seconds = (work - self._work) - (own_seconds - self._own)
                self._busy = max(other_seconds, 0.0) / (now - self._then)
            self._then, self._work, self._own = now, work, own_seconds
        return self._busy


_LOAD = _Load()
