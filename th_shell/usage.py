"""The error of a command line."""

from __future__ import annotations


class UsageError(Exception):
    """A command line that th does not understand; the message says why."""
