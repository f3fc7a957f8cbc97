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
from importlib import import_module

import numpy as np

from runtime.compute.blas_threads import one_thread_at_load

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
def blas(name: str, itemsize: int) -> int | None:
    """The address of a BLAS function for floats of so many bytes ('axpy'), as Fortran calls it.

    All arguments are addresses, whole numbers ints. None where they are larger.
    """
    return _find("cython_blas", name, itemsize)[0]


@cache
def lapack(name: str, itemsize: int) -> int | None:
    """The address of a LAPACK function, likewise."""
    return _find("cython_lapack", name, itemsize)[0]


@cache
def lapack_call(name: str, itemsize: int) -> Callable[..., None] | None:
    """A LAPACK function, likewise. Other threads of Python run while it does."""
    address, arguments = _find("cython_lapack", name, itemsize)
    if address is None:
        return None
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


def _find(module: str, name: str, itemsize: int) -> tuple[int | None, int]:
    """The address of a function and the number of its arguments."""
    with one_thread_at_load():  # takes a while: not before it is needed
        functions = import_module(f"scipy.linalg.{module}").__pyx_capi__
    kind, address = _capsule(functions["sd"[itemsize == 8] + name])
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
