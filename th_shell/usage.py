"""The error of a command line."""

from __future__ import annotations

__all__ = ["UsageError"]


class UsageError(Exception):
    """A command line that th does not understand; the message says why."""
