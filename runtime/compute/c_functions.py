"""Addresses of C functions in numpy and scipy, for code that calls them without Python.

numpy's inner loops and its sort: the structure of a ufunc, and that of the functions of an element
type, are part of numpy's C interface (its reference, "Python types and C-structures",
PyUFuncObject and PyArray_ArrFuncs). BLAS, and two functions of LAPACK: those that numpy itself is
linked with, by their names, since scipy's take some time to load. scipy's LAPACK: what Cython
code gets from ``scipy.linalg.cython_lapack``.

Each is checked at its first use (self_check.py), but those of `lapack_address`, of which only the
number of arguments is. One that is not found, or computes something
else, is None; who asked then does the same work with numpy. The results are the same, but where
BLAS and LAPACK may round otherwise: a sum of products in its last digits, and what `axpy` adds up
in its last one.
"""

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from th_shell.runtime.compute.blas_threads import check_room
from th_shell.runtime.compute.scipy_lapack import lapack_module
from th_shell.runtime.compute.self_check import (
    blas_is_right,
    conversion_is_right,
    is_right,
    loop_is_right,
    sort_is_right,
)
from th_shell.runtime.compute.thread_pool import PROCESSORS
from th_shell.runtime.core.process import note


class _UFunc(ctypes.Structure):
    # What follows the head of the object, as far as it is needed.
    _fields_ = [
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
    ]


@cache
def inner_loop(ufunc: np.ufunc, signature: str) -> tuple[int, int] | None:
    """The function and its data (which may be 0) that compute a run of elements.

    None where there is none. signature: the types, as in ``ufunc.types``.
    """
    if signature not in ufunc.types:
        return None
    what = f"numpy's loop {ufunc.__name__} {signature}"
    loop = _loop_of(ufunc, ufunc.types.index(signature))
    if loop is None:
        note(f"{what} is done without: there is no such function")
        return None
    return loop if is_right(what, loop_is_right, ufunc, signature, *loop) else None


def _loop_of(ufunc: np.ufunc, at: int) -> tuple[int, int] | None:
    """Return the addresses of the loop at a position of a ufunc, and of its data."""
    if sys.implementation.name != "cpython":
        return None
    structure = _UFunc.from_address(id(ufunc) + object.__basicsize__)
    expected = (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes)
    if (structure.nin, structure.nout, structure.nargs, structure.ntypes) != expected:
        return None
    if not structure.functions or not structure.data or not structure.functions[at]:
        return None
    return structure.functions[at], structure.data[at] or 0


# Where numpy's C interface has what gives the functions of an element type, from numpy 2.0 on; and
# where these have the one that sorts.
_GET_FUNCTIONS, _SORT = 365, 33


@cache
def sorter() -> tuple[int, int] | None:
    """The function that sorts doubles in place, and its last argument: numpy's quicksort.

    None where there is none. Its other arguments are the address of the doubles and their number.
    """
    function = _sorter()
    if function is None:
        note("numpy's sort is done without: there is no such function")
        return None
    return function if is_right("numpy's sort", sort_is_right, *function) else None


_SORTED = np.empty(1)  # an array of the type, which the function may look at


def _sorter() -> tuple[int, int] | None:
    if sys.implementation.name != "cpython":
        return None
    module = import_module("numpy._core._multiarray_umath")
    interface = ctypes.cast(_capsule(module._ARRAY_API)[1], ctypes.POINTER(ctypes.c_void_p))
    get_functions = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(interface[_GET_FUNCTIONS])
    functions = ctypes.cast(get_functions(_SORTED.dtype), ctypes.POINTER(ctypes.c_void_p))
    return (functions[_SORT] or 0, id(_SORTED)) if functions[_SORT] else None


@cache
def conversion(widens: bool) -> int | None:
    """The address of LAPACK's slag2d, which copies floats as doubles, or dlag2s, which copies back.

    All arguments are addresses: the number of rows, that of columns, elements, their distance,
    copies, their distance, and a number that becomes 1 where one was too large to be copied. Whole
    numbers have 32 or 64 bits.
    """
    name = "slag2d" if widens else "dlag2s"
    return _of_numpy(f"LAPACK's {name}", name, conversion_is_right, widens)


@cache
def blas(name: str, itemsize: int) -> int | None:
    """The address of a BLAS function for floats of so many bytes, as Fortran calls it.

    name: 'asum', 'axpy', 'gemm' or 'gemv'. All arguments are addresses, whole numbers 64 bits, of
    which some libraries read the lower half alone.
    """
    check_room(PROCESSORS)  # several threads may call it
    return _of_numpy(f"BLAS's {name}", _letter(itemsize) + name, blas_is_right, name, itemsize)


def _letter(itemsize: int) -> str:
    return "sd"[itemsize == 8]


def _of_numpy(what: str, name: str, check: Callable[..., bool], *arguments: Any) -> int | None:
    """The address of a function that numpy is linked with; its wheels rename the functions.

    check: the one of self_check.py, with what it gets but the address, which comes last.
    """
    library = ctypes.CDLL(import_module("numpy.linalg._umath_linalg").__file__)
    for pattern in ("scipy_{}_64_", "{}_64_", "scipy_{}_", "{}_"):
        function = getattr(library, pattern.format(name), None)
        address = function and ctypes.cast(function, ctypes.c_void_p).value
        if address and is_right(what, check, *arguments, address):
            return address
    note(f"{what} is done without: numpy is not linked with it")
    return None


@cache
def lapack(name: str, itemsize: int) -> int | None:
    """The address of a LAPACK function, as Fortran calls it: 'getrs'."""
    address = _find(name, itemsize)[0]
    right = address and is_right(f"LAPACK's {name}", blas_is_right, name, itemsize, address)
    return address if right else None


@cache
def lapack_call(name: str, itemsize: int) -> Callable[..., None] | None:
    """Any LAPACK function, likewise. Other threads of Python run while it does.

    It is not checked here: those that are called together are checked together.
    """
    address, arguments = _find(name, itemsize)
    if address is None:
        return None
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


def lapack_address(name: str, itemsize: int, arguments: int) -> int | None:
    """The address of any LAPACK function, likewise; None unless it has so many arguments.

    Nothing else is checked here: scipy's interface tells the types that the function takes.
    """
    address, count = _find(name, itemsize)
    return address if count == arguments else None


def _find(name: str, itemsize: int) -> tuple[int | None, int]:
    """The address of a function and the number of its arguments.

    None for an address where there is none, or whole numbers are larger than ints.
    """
    try:
        functions = lapack_module("cython_lapack").__pyx_capi__
        kind, address = _capsule(functions[_letter(itemsize) + name])
    except (AttributeError, ImportError, KeyError):
        kind, address = b"", 0
    if address and b"int *" in kind:
        check_room(PROCESSORS, "scipy")  # several threads may call it
        return address, kind.count(b"*")
    note(f"scipy's LAPACK: {name} is done without: there is no such function")
    return None, 0


def _capsule(capsule: object) -> tuple[bytes, int]:
    """The name of a capsule, which tells the type of its function, and the address."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = api.PyCapsule_GetName(capsule)
    return name, api.PyCapsule_GetPointer(capsule, name)
