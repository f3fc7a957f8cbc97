"""The Python half of the package ``image``: pixels by numpy, and image files by Pillow.

Lua calls the functions on pixels as those of one element type, which have a `Call`. The names,
checks and messages are those of the original's C functions; and so are the element types in which
numbers are computed, since bytes shall come out equal and floats nearly so. The original computes
in single precision where it does not compute on doubles alone: `working` of ``planes.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from th_shell.runtime.packages.image import colours, drawing, files, jpeg, png, scaling, turning


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function without numpy's warnings: of a choice, both sides are computed."""

    @wraps(function)
    def call(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return call


_MODULES: tuple[Any, ...] = (scaling, turning, colours, drawing, png, jpeg, files)
# The functions have the names of the original's, as `scaleBilinear` or `libpng.load`.
globals().update({name: _quiet(f) for module in _MODULES for name, f in module.FUNCTIONS.items()})
