"""Large arrays: how their work is divided."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.pytorch.quiet import quietly
from runtime.pytorch.shapes import Shape

__all__ = ["SHARED", "compute_shared"]

#: From this many elements on work is shared out.
SHARED = 1 << 16


def compute_shared(compute: np.ufunc, arrays: list[Any], shape: Shape) -> Any:
    """The values of a ufunc for arrays of a common type, broadcast to one shape."""
    return quietly.run(compute, *arrays)
