"""The error of a command that cannot do what it is asked for, and the reasons it gives."""

from __future__ import annotations

__all__ = ["MagicError", "reason"]


class MagicError(Exception):
    """Why a command could not be done; shown in one line behind its name."""


def reason(error: OSError | ValueError) -> str:
    """Why a file cannot be used: what the system says, or what is wrong with the name."""
    return str(error.strerror if isinstance(error, OSError) else error)
