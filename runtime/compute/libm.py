"""The C library's log, exp, tan, cosine and sine, on arrays of doubles.

numpy has its own versions of some of them, faster, whose last bit is another one here and
there. The reference's random streams are made with the C library's: so are ours, to the bit.

Python's ``math`` has the same functions, for one number at a time. Each function here is checked
against that, and made of it where the C library cannot be called otherwise: slow, with the same
bits.

`function` gives ufuncs by numpy's names: for floats the C library's, as the reference calls them,
since numpy's own differ from these in up to half of all numbers, by up to 2.5 units of the last
place, and from one processor to another. For doubles they are numpy's.

Those of `IN_DOUBLES` are numpy's: of floats, the result in double precision is rounded. So it is
the nearest float to the exact one, as it is in the GNU C library 2.43. Version 2.36 differs from
that in up to 33 of 100 numbers, and takes up to ten times as long.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from th_shell.runtime.compute.c_functions import inner_loop
from th_shell.runtime.compute.self_check import same
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.platform import c_function
from th_shell.runtime.core.process import note

# Positions in numpy's table of C functions, which never change (numpy's manual, UFunc API).
_FROM_FUNC_AND_DATA = 1
_LOOPS = {"d->d": 5, "f->f": 6, "ff->f": 14, "dd->d": 15}  # that call the C function they are given
_NO_IDENTITY = -1

_SAMPLES = np.array([0.8391, 0.0, -0.0, 1.5, 2.0**-32, 3e-9, 1.0, 0.3333, np.inf, np.nan, 2.7, 0.5])

_Function = Callable[[Any], Any]

_kept_alive: list[Any] = []  # what the ufuncs point at


def _api() -> Any:
    """numpy's table of C functions on ufuncs."""
    table = import_module("numpy._core._multiarray_umath")._UFUNC_API
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(pointer_of(table, None), ctypes.POINTER(ctypes.c_void_p))


def _ufunc(name: str) -> np.ufunc:
    return make_ufunc(name, [c_loop(name, "d->d")])


def c_loop(name: str, signature: str) -> tuple[int, int, str]:
    """Return numpy's inner loop that calls a C function, that function's address, and the types.

    Raises AttributeError where the process has no such function.
    """
    function = c_function(name)
    if function is None:
        raise AttributeError("the process has no such function")
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return _api()[_LOOPS[signature]], address, signature


def make_ufunc(name: str, loops: Sequence[tuple[int, int, str]]) -> np.ufunc:
    """Make a ufunc of inner loops, each with its data and its types, as in ``ufunc.types``."""
    pointer, integer, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, pointer, pointer, text, *[integer] * 4, text, text, integer
    )
    functions, data, signatures = zip(*loops, strict=True)
    letters = "".join(signatures).replace("->", "")
    operands = len(letters) // len(loops)
    arrays = (pointer * len(loops))(*functions), (pointer * len(loops))(*data)
    types = ctypes.create_string_buffer(bytes(np.dtype(x).num for x in letters))
    label = ctypes.create_string_buffer(name.encode())
    _kept_alive.extend([*arrays, types, label])
    ufunc = prototype(_api()[_FROM_FUNC_AND_DATA])(
        *map(ctypes.addressof, arrays),
        ctypes.cast(types, text),
        *(len(loops), operands - 1, 1, _NO_IDENTITY),
        ctypes.cast(label, text),
        b"",
        0,
    )
    assert isinstance(ufunc, np.ufunc)
    return ufunc


def _one_by_one(name: str) -> _Function:
    """A function of Python's on all elements of an array, or on a number.

    Where C has inf or nan, Python has an error.
    """
    function: Callable[[float], float] = getattr(math, name)

    def at(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return -math.inf if x == 0 else math.nan

    def compute(values: Any) -> Any:
        array = np.asarray(values, np.float64)
        return np.array([at(x) for x in array.ravel().tolist()]).reshape(array.shape)[()]

    return compute


def _is_right(name: str, function: _Function) -> bool:
    """Tell whether a function's bits are those of Python's; those of a nan do not count."""
    with np.errstate(all="ignore"):
        results = [
            np.where(np.isnan(x), np.nan, x)
            for x in (function(_SAMPLES), _one_by_one(name)(_SAMPLES))
        ]
    return results[0].tobytes() == results[1].tobytes()


def _find(name: str) -> _Function:
    try:
        function = _ufunc(name)
        if _is_right(name, function):
            return function
        reason = "is not the one that Python has"
    except (AttributeError, ImportError, OSError, TypeError) as error:
        reason = f"cannot be called: {error}"
    note(f"the C library's {name} {reason}; Python's is used, which is slow")
    return _one_by_one(name)


log, exp, tan = map(_find, ("log", "exp", "tan"))


# -- cosine and sine


def replace_by_cosine_and_sine(pairs: Array) -> None:
    """Set complex numbers x + iy, where x is 0 and y finite, to cos y + i sin y."""
    _turn(pairs)


def _turn_by_exp(pairs: Array) -> None:
    np.exp(pairs, out=pairs)  # one call of the C library's for both


def _turn_one_by_one(pairs: Array) -> None:
    angles = pairs.imag.copy()
    pairs.real, pairs.imag = _one_by_one("cos")(angles), _one_by_one("sin")(angles)


def _find_turn() -> Callable[[Array], None]:
    results, expected = (1j * _SAMPLES[:8] for _ in range(2))
    _turn_by_exp(results)
    _turn_one_by_one(expected)
    if results.tobytes() == expected.tobytes():
        return _turn_by_exp
    note("numpy's exp does not give the C library's cosine; Python's is used, which is slow")
    return _turn_one_by_one


_turn = _find_turn()


#: numpy's names -> the C library's for doubles.
_NAMES = {name: name for name in "cos cosh exp log log1p sin sinh".split()} | {"power": "pow"}
#: numpy's names of functions of floats that are computed in double precision and rounded: of those
#: that give no infinity, which LAPACK would not round.
IN_DOUBLES = frozenset("arccos arcsin arctan arctan2 tan tanh".split())

_FLOAT_SAMPLES = 0.8391, 0.0, -0.0, 1.5, 2.0**-32, -0.3333, float("inf"), float("nan"), 0.7, -7.0


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
        if _has_bits_of_c(combined, of_floats):
            return combined
        reason = "does not give what it gives elsewhere"
    except (AttributeError, ImportError, OSError, TypeError) as error:
        reason = f"cannot be called: {error}"
    note(f"the C library's {of_floats} {reason}; numpy's is used, whose last digits are others")
    return numpy_function


def _has_bits_of_c(ufunc: np.ufunc, name: str) -> bool:
    """Return whether a ufunc of floats gives a C function's bits; those of a nan do not count."""
    call: Any = c_function(name)
    call.restype, call.argtypes = ctypes.c_float, [ctypes.c_float] * ufunc.nin
    inputs = [np.roll(np.array(_FLOAT_SAMPLES, "f"), k) for k in range(ufunc.nin)]
    expected = np.array([call(*x) for x in zip(*map(np.ndarray.tolist, inputs), strict=True)], "f")
    with np.errstate(all="ignore"):
        return same(ufunc(*inputs), expected)
