"""Functions of elements by numpy's names: of floats the C library's, as the reference calls them.

numpy's own for floats are faster, but differ from these in up to half of all numbers, by up to 2.5
units of the last place, and from one processor to another. Those for doubles are numpy's.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from th_shell.runtime.compute.c_functions import inner_loop
from th_shell.runtime.compute.libm import c_loop, make_ufunc
from th_shell.runtime.compute.self_check import same
from th_shell.runtime.core.debug import note
from th_shell.runtime.core.platform import c_function

#: numpy's names -> the C library's for doubles.
_NAMES = {name: name for name in "cos cosh exp log log1p sin sinh tan tanh".split()}
_NAMES |= {f"arc{name}": f"a{name}" for name in ("cos", "sin", "tan", "tan2")} | {"power": "pow"}

_SAMPLES = 0.8391, 0.0, -0.0, 1.5, 2.0**-32, -0.3333, float("inf"), float("nan"), 0.7, -7.0


@cache
def function(name: str) -> np.ufunc:
    """Return a ufunc by numpy's name; one that the C library has is for floats and doubles alone.

    Where the C library cannot be called, it is numpy's.
    """
    numpy_function: np.ufunc = getattr(np, name)
    if name not in _NAMES:
        return numpy_function
    of_floats, types = f"{_NAMES[name]}f", f"{'d' * numpy_function.nin}->d"
    doubles = inner_loop(numpy_function, types)
    try:
        if doubles is None:
            raise AttributeError("numpy's loop for doubles is missing")
        combined = make_ufunc(name, [c_loop(of_floats, types.replace("d", "f")), (*doubles, types)])
        if _is_right(combined, of_floats):
            return combined
        reason = "does not give what it gives elsewhere"
    except (AttributeError, ImportError, OSError, TypeError) as error:
        reason = f"cannot be called: {error}"
    note(f"the C library's {of_floats} {reason}; numpy's is used, whose last digits are others")
    return numpy_function


def _is_right(ufunc: np.ufunc, name: str) -> bool:
    """Return whether a ufunc of floats gives a C function's bits; those of a nan do not count."""
    call: Any = c_function(name)
    call.restype, call.argtypes = ctypes.c_float, [ctypes.c_float] * ufunc.nin
    inputs = [np.roll(np.array(_SAMPLES, "f"), k) for k in range(ufunc.nin)]
    expected = np.array([call(*x) for x in zip(*map(np.ndarray.tolist, inputs), strict=True)], "f")
    with np.errstate(all="ignore"):
        return same(ufunc(*inputs), expected)
