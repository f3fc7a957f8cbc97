"""The C library's log, exp and tan, as numpy ufuncs on doubles.

numpy has its own versions of some of them, faster, whose last bit is another one here and
there. The reference's random streams are made with the C library's: so are ours, to the bit.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

__all__ = ["exp", "log", "tan"]

# Positions in numpy's table of C functions, which never change (numpy's manual, UFunc API).
_FROM_FUNC_AND_DATA = 1
_D_D = 5  # the loop over doubles that calls the C function it is given
_DOUBLE = 12
_NO_IDENTITY = -1

_kept_alive: list[Any] = []  # what the ufuncs point at


def _api() -> Any:
    """numpy's table of C functions on ufuncs."""
    from numpy._core._multiarray_umath import _UFUNC_API  # type: ignore[import-not-found]

    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(pointer_of(_UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))


def _ufunc(name: str) -> np.ufunc:
    api = _api()
    pointer, integer, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, pointer, pointer, text, *[integer] * 4, text, text, integer
    )
    function = ctypes.cast(getattr(ctypes.CDLL(None), name), pointer).value
    loops, data = (pointer * 1)(api[_D_D]), (pointer * 1)(function)
    types = ctypes.create_string_buffer(bytes([_DOUBLE, _DOUBLE]))
    label = ctypes.create_string_buffer(name.encode())
    _kept_alive.extend([loops, data, types, label])
    make = prototype(api[_FROM_FUNC_AND_DATA])
    made = make(
        ctypes.addressof(loops),
        ctypes.addressof(data),
        ctypes.cast(types, text),
        *(1, 1, 1, _NO_IDENTITY),
        ctypes.cast(label, text),
        b"",
        0,
    )
    assert isinstance(made, np.ufunc)
    return made


def _find(name: str) -> np.ufunc:
    try:
        return _ufunc(name)
    except (AttributeError, ImportError, OSError, TypeError):
        # No such table or library on this system: numpy's own, all but the last bit.
        fallback: np.ufunc = getattr(np, name)
        return fallback


log, exp, tan = map(_find, ("log", "exp", "tan"))
