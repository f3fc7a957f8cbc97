"""The error of a command that cannot do what it is asked for."""

from __future__ import annotations


class MagicError(Exception):
    """Why a command could not be done; shown in one line behind its name."""

    @classmethod
    def of(cls, name: str, error: OSError | ValueError) -> MagicError:
        """A file or program that cannot be used, as the system says, or for its name."""
        return cls(f"{name}: {error.strerror if isinstance(error, OSError) else error}")
