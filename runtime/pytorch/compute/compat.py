"""The warning of shapes that older versions of PyTorch did not broadcast."""

from __future__ import annotations

from math import prod

from runtime.pytorch.base.shapes import Shape
from runtime.pytorch.base.warn import warn


class Warning:
    """A warning that programs enable.

    enabled: whether it is given.
    """

    def __init__(self) -> None:
        self.enabled = False


class _BroadcastWarning(Warning):
    """Warns of two shapes that are broadcast although they have as many elements."""

    def __call__(self, a: Shape, b: Shape) -> None:
        if a != b and prod(a) == prod(b) and _is_broadcastable(a, b):
            warn(
                "self and other do not have the same shape, but are broadcastable, and have the "
                "same number of elements.\nChanging behavior in a backwards incompatible manner to "
                "broadcasting rather than viewing as 1-dimensional."
            )


def _is_broadcastable(a: Shape, b: Shape) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))


warn_of_broadcast = _BroadcastWarning()
