"""The clocks that programs read by Torch7's functions: the time, and what the process has used."""

from __future__ import annotations

import resource
import time


class Clocks:
    """The clocks of an engine, which may be put forward."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._step = 0.0

    def put_forward(self, seconds: float, step: float) -> None:
        """Put the clocks forward by some seconds, and by a step of seconds more at each look."""
        self._ahead, self._step = seconds, step

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        self._ahead += self._step
        return time.time() + self._ahead

    def times(self) -> tuple[float, float, float]:
        """Return the time now, and the process's user and system time, in seconds."""
        usage, now = resource.getrusage(resource.RUSAGE_SELF), self.now()
        return now, usage.ru_utime + self._ahead, usage.ru_stime + self._ahead
