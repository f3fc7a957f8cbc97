"""Locks that a fork waits for, and what a child process has to make anew."""

from __future__ import annotations

import os
import threading


class ForkLock:
    """A lock that one thread may take several times. No fork comes while another thread has it.

    A child has none of the threads of its parent: there it is free.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        os.register_at_fork(
            before=lambda: self._lock.acquire(),
            after_in_parent=lambda: self._lock.release(),
            after_in_child=self._renew,
        )

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
