"""The singular value decomposition, computed by several threads.

LAPACK's gesvd makes the matrix bidiagonal and then applies rotations to the columns of u and the
rows of v', which takes most of the time, in one thread. The rotations treat each row of u, and
each column of v', independently of the others. So each thread here makes all rotations for a
part of these rows and columns.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from th_shell.runtime.compute.c_functions import lapack_call
from th_shell.runtime.compute.self_check import as_pointer, is_right
from th_shell.runtime.compute.thread_pool import get_threads, share
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.ops.linalg._lapack import LARGE_MATRIX

#: Where the longer side has this many times the elements of the shorter one, gesvd begins with
#: another factorization, which is left to it.
_QR_RATIO = np.float32(1.6)
#: Elements of working memory for each row and column.
_WORK = 64

_Routine = Callable[..., int]
_Routines = tuple[_Routine, _Routine, _Routine]


def svd_over_threads(a: Array) -> tuple[Array, Array, Array, int] | None:
    """u, the singular values, v' and LAPACK's result code, with the values that gesvd gives.

    u has as many columns, and v' as many rows, as there are singular values. a is stored by
    columns, and is overwritten. The result is None, with a unchanged, where gesvd itself is to be
    called.
    """
    rows, columns = a.shape
    short, long = sorted(a.shape)
    if get_threads() == 1 or a.size < LARGE_MATRIX or long >= int(_QR_RATIO * short):
        return None
    info = np.finfo(a.dtype)
    largest = np.abs(a).max()
    if not np.sqrt(info.tiny) / info.eps < largest < np.sqrt(info.max) * info.eps:
        return None  # gesvd scales such a matrix first
    routines = _routines(a.itemsize)
    return None if routines is None else _decompose(a, routines, min(get_threads(), short))


def _decompose(a: Array, routines: _Routines, count: int) -> tuple[Array, Array, Array, int]:
    """Compute the result of `svd_over_threads` in `count` parts of u and v'; a is overwritten."""
    gebrd, orgbr, bdsqr = routines
    rows, columns = a.shape
    short = min(rows, columns)
    values, above, of_u, of_v = (np.empty(short, a.dtype) for _ in range(4))
    work = np.empty(_WORK * (rows + columns), a.dtype)
    gebrd(rows, columns, a, rows, values, above, of_u, of_v, work, work.size)
    u, v = np.array(a[:, :short], order="F"), np.array(a[:short], order="F")
    orgbr(b"Q", rows, short, columns, u, rows, of_u, work, work.size)
    orgbr(b"P", short, columns, rows, v, short, of_v, work, work.size)
    failures: list[tuple[int, Array]] = []

    def part(which: slice) -> None:
        at = [slice(n * which.start // count, n * which.stop // count) for n in (rows, columns)]
        own_u, own_v = np.array(u[at[0]], order="F"), np.array(v[:, at[1]], order="F")
        diagonal, space = values.copy(), np.empty(4 * short, a.dtype)
        kind = b"U" if rows >= columns else b"L"
        sizes = short, own_v.shape[1], len(own_u), 0
        matrices = own_v, short, own_u, len(own_u), space, 1
        code = bdsqr(kind, *sizes, diagonal, above.copy(), *matrices, space)
        u[at[0]], v[:, at[1]] = own_u, own_v
        failures.append((code, diagonal))  # equal for all parts

    share(part, count, piece=1, large=0)
    code, values = failures[0]
    return u, values, v, code


@cache
def _routines(itemsize: int) -> _Routines | None:
    """gebrd, orgbr and bdsqr; None where one is missing, or they do not decompose a matrix."""
    gebrd, orgbr, bdsqr = (_routine(name, itemsize) for name in ("gebrd", "orgbr", "bdsqr"))
    if gebrd is None or orgbr is None or bdsqr is None:
        return None
    routines = gebrd, orgbr, bdsqr
    what = "LAPACK's gebrd, orgbr or bdsqr"
    return routines if is_right(what, _are_right, routines, itemsize) else None


def _are_right(routines: _Routines, itemsize: int) -> bool:
    a = np.array([[3, -1, 2], [0.5, 4, -2.5], [1, 0, 6], [-2, 7, 1]], f"f{itemsize}", order="F")
    near = 100 * np.finfo(a.dtype).eps
    for matrix in (a, np.asfortranarray(a.T)):
        u, values, v, code = _decompose(matrix.copy(order="F"), routines, 1)
        expected = np.linalg.svd(matrix, compute_uv=False)
        parts = (values, expected), (u * values @ v, matrix)
        if code or not all((abs(x - y) < near).all() for x, y in parts):
            return False
    return True


def _routine(name: str, itemsize: int) -> _Routine | None:
    """A LAPACK function that takes numbers, letters and arrays, and returns its code."""
    function = lapack_call(name, itemsize)
    if function is None:
        return None

    def call(*args: Any) -> int:
        code = ctypes.c_int()
        function(*map(as_pointer, args), ctypes.byref(code))
        return code.value

    return call
