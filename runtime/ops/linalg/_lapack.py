"""LAPACK operations: rows, checks, routines and results that they have in common."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numpy as np

from th_shell.runtime.calls.table import FLOATS, op
from th_shell.runtime.compute.blas_threads import check_room, many_threads
from th_shell.runtime.compute.c_functions import lapack_call
from th_shell.runtime.compute.scipy_lapack import lapack_module
from th_shell.runtime.compute.self_check import as_pointer, is_right
from th_shell.runtime.compute.thread_pool import get_threads, share
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.memory import Pool
from th_shell.runtime.core.tensor import Tensor, contiguous_strides

#: Elements from which on it is faster to compute parts of a result in several threads.
LARGE_MATRIX = 20_000
#: Elements from which on the library's own threads are used. They wait for each other often, so
#: that for smaller matrices, and on a busy machine, they cost more time than they gain.
_HUGE_MATRIX = 1_000_000

F = TypeVar("F", bound=Callable[..., None])


def with_results(name: str, results: str, form: str, *, in_lua: bool = False) -> Callable[[F], F]:
    """Add a function's two forms: the call passes all destinations, or none of them.

    results: the destinations. form: the arguments behind them. in_lua: whether Lua makes the
    results of small matrices.
    """
    small = f"linalg/lapack.{name}" if in_lua else None

    def register(implementation: F) -> F:
        new = " ".join(f"<{result}>" for result in results.split())
        op(name, function=f"{results} {form}", types=FLOATS)(implementation)
        op(name, function=f"{new} {form}", types=FLOATS, small=small)(implementation)
        return implementation

    return register


def check_matrix(a: Tensor) -> None:
    """Raise ArgError for a tensor that is no matrix."""
    if a.ndim != 2:
        raise ArgError(1, "A should be 2 dimensional")


def check_square(a: Tensor) -> None:
    """Raise ArgError for a tensor that is no square matrix."""
    check_matrix(a)
    if a.sizes[0] != a.sizes[1]:
        raise ArgError(1, "A should be square")


def check_system(b: Tensor, a: Tensor, *, square: bool = True) -> None:
    """Raise ArgError where a * x = b is no system of equations; a must be square unless told."""
    if a.ndim != 2:
        raise ArgError(2, f"A should have 2 dimensions, but has {a.ndim}")
    if b.ndim not in (1, 2):
        raise ArgError(1, f"B should have 1 or 2 dimensions, but has {b.ndim}")
    rows, columns = a.sizes
    if square and rows != columns:
        raise ArgError(2, f"A should be square, but is {rows}x{columns}")
    if rows != b.sizes[0]:
        sizes = f"A has {rows} rows, B has {b.sizes[0]}"
        raise ArgError(2, f"A,B size incompatible - {sizes}")


def check_info(info: int, name: str, problem: str) -> None:
    """Raise TorchError where a LAPACK routine's result code is not 0.

    problem: the message for a code above 0; {} in it stands for the code.
    """
    if info < 0:
        raise TorchError(f"Lapack Error in {name} : Illegal Argument {-info}")
    if info > 0:
        raise TorchError(problem.replace("{}", str(info)))


def routine(name: str, t: Tensor) -> Callable[..., Any]:
    """The LAPACK routine for a tensor's element type; of a huge tensor it uses several threads."""
    function = _routine(("d" if t.dtype.size == 8 else "s") + name)
    if t.nelement < _HUGE_MATRIX or name.endswith("_lwork"):
        return function

    def over_threads(*args: Any, **options: Any) -> Any:
        with many_threads(get_threads(), "scipy"):
            return function(*args, **options)

    return over_threads


def is_medium(t: Tensor) -> bool:
    """Tell whether a matrix suits several threads and is too small for the library's own."""
    return LARGE_MATRIX <= t.nelement < _HUGE_MATRIX and get_threads() > 1


@cache
def _routine(name: str) -> Callable[..., Any]:
    lapack = lapack_module("_flapack")
    check_room(1, "scipy")
    return getattr(lapack, name)  # type: ignore[no-any-return]


def by_columns(t: Tensor) -> Array:
    """A copy of a matrix, stored by columns, for LAPACK to overwrite; a vector is one column."""
    values = t.array
    return np.array(values if t.ndim == 2 else values[:, None], order="F")


def store_columns(r: Tensor, values: Array, source: Tensor | None = None) -> None:
    """Resize a destination to a new matrix and set its elements.

    Torch7: the results are stored by columns. A destination that is the source keeps its strides,
    as does a square one that has the sizes already and is not contiguous.
    """
    rows, columns = values.shape
    # The matrix becomes the memory of a destination that has none. Larger memory is taken from
    # the pool of reused blocks, into which the matrix is then copied.
    if r.storage is None and values.nbytes < Pool.MIN_BYTES:
        memory = np.asfortranarray(values).T.reshape(-1)
        r.set(r.storage_class.of(memory), 0, (rows, columns), (1, rows))
        return
    if r is not source or r.sizes != values.shape:
        keeps_strides = rows != columns and not r.is_contiguous and r.sizes == (columns, rows)
        strides = contiguous_strides((columns, rows)) if keeps_strides else None
        r.resize((columns, rows), strides)
        if r.is_contiguous:
            r.set(r.storage, r.offset, r.sizes[::-1], r.strides[::-1])
    r.array[...] = values


# -- the singular value decomposition, computed by several threads
#
# LAPACK's gesvd makes the matrix bidiagonal and then applies rotations to the columns of u and the
# rows of v', which takes most of the time, in one thread. The rotations treat each row of u, and
# each column of v', independently of the others. So each thread here makes all rotations for a
# part of these rows and columns.


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
    gebrd, orgbr, bdsqr = (_checked_routine(name, itemsize) for name in ("gebrd", "orgbr", "bdsqr"))
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


def _checked_routine(name: str, itemsize: int) -> _Routine | None:
    """A LAPACK function that takes numbers, letters and arrays, and returns its code."""
    function = lapack_call(name, itemsize)
    if function is None:
        return None

    def call(*args: Any) -> int:
        code = ctypes.c_int()
        function(*map(as_pointer, args), ctypes.byref(code))
        return code.value

    return call
