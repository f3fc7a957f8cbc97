"""LAPACK operations: rows, checks, routines and results that they have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numpy as np

from th_shell.runtime.calls.table import FLOATS, op
from th_shell.runtime.compute.blas_threads import check_room, many_threads, one_thread_at_load
from th_shell.runtime.compute.thread_pool import get_threads
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


def with_results(name: str, results: str, form: str) -> Callable[[F], F]:
    """Add a function's two forms: the call passes all destinations, or none of them.

    results: the destinations. form: the arguments behind them.
    """

    def register(implementation: F) -> F:
        new = " ".join(f"<{result}>" for result in results.split())
        op(name, function=f"{results} {form}", types=FLOATS)(implementation)
        op(name, function=f"{new} {form}", types=FLOATS)(implementation)
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
    with one_thread_at_load("scipy.linalg"):
        from scipy.linalg import lapack  # imported on first use, as it takes a while

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
