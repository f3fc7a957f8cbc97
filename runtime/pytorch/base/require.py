"""A condition that a call must meet, and its error."""

from __future__ import annotations


def require(
    holds: object, message: str, *values: object, error: type[Exception] = RuntimeError
) -> None:
    """Raise an error with a message, in which values are put, where something does not hold."""
    if not holds:
        raise error(message.format(*values))
