"""torch.utils.backcompat: the warning of shapes that older versions did not broadcast."""

from __future__ import annotations

import warnings
from math import prod

from runtime.pytorch.shapes import Shape

__all__ = ["warn_of_broadcast"]


class _Warning:
    """Warns of two shapes that are broadcast although they have as many elements.

    enabled: whether it does; programs set it.
    """

    enabled = False

    def __call__(self, a: Shape, b: Shape) -> None:
        if a != b and prod(a) == prod(b) and _is_broadcastable(a, b):
            warnings.warn(
                "self and other do not have the same shape, but are broadcastable, and have the "
                "same number of elements.\nChanging behavior in a backwards incompatible manner to "
                "broadcasting rather than viewing as 1-dimensional.",
                UserWarning,
                stacklevel=6,
            )


def _is_broadcastable(a: Shape, b: Shape) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))


#: What `enabled` of torch.utils.backcompat.broadcast_warning sets.
warn_of_broadcast = _Warning()
