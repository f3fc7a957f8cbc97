"""Addresses of C functions in numpy and scipy, for code that calls them without Python.

numpy's inner loops: the structure of a ufunc is part of numpy's C interface (its reference,
"Python types and C-structures", PyUFuncObject). scipy's BLAS and LAPACK: what Cython code gets
from ``scipy.linalg.cython_blas`` and ``cython_lapack``.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from runtime.blas_threads import one_thread_at_load

__all__ = ["blas", "inner_loop", "lapack", "lapack_call"]


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
    """The function and its data that compute a run of elements; None where there is none.

    signature: the types, as in ``ufunc.types``.
    """
    if sys.implementation.name != "cpython" or signature not in ufunc.types:
        return None
    found = _UFunc.from_address(id(ufunc) + object.__basicsize__)
    known = (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes)
    if (found.nin, found.nout, found.nargs, found.ntypes) != known:
        return None
    at = ufunc.types.index(signature)
    return found.functions[at] or 0, found.data[at] or 0


@cache
def blas(name: str) -> int | None:
    """The address of a BLAS function (as Fortran calls it, with int); None where it has others."""
    with one_thread_at_load():
        from scipy.linalg import cython_blas  # takes a while: not before it is needed

    return _address(cython_blas, name)[0]


@cache
def lapack(name: str) -> int | None:
    """The address of a LAPACK function, likewise."""
    with one_thread_at_load():
        from scipy.linalg import cython_lapack  # likewise

    return _address(cython_lapack, name)[0]


@cache
def lapack_call(name: str) -> Callable[..., None] | None:
    """A LAPACK function, all of whose arguments are addresses; None where there is none with int.

    Other threads of Python run while it does.
    """
    with one_thread_at_load():
        from scipy.linalg import cython_lapack  # likewise

    address, arguments = _address(cython_lapack, name)
    if address is None:
        return None
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


def _address(module: Any, name: str) -> tuple[int | None, int]:
    """A function of a Cython module and the number of its arguments, which are all addresses."""
    kind, address = _capsule(module.__pyx_capi__[name])
    return address if b"int *" in kind else None, kind.count(b"*")


def _capsule(capsule: object) -> tuple[bytes, int]:
    """The name of a capsule, which tells the type of its function, and the address."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = api.PyCapsule_GetName(capsule)
    return name, api.PyCapsule_GetPointer(capsule, name)
