"""The error of a command that cannot do what it is asked for."""

from __future__ import annotations

__all__ = ["MagicError"]


class MagicError(Exception):
    """Why a command could not be done; shown in one line behind its name."""
