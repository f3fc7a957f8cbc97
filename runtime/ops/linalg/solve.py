"""Manual, Math Functions: linear algebra: systems of equations, Cholesky factors, inverses.

A is a square matrix (of any shape for gels); B is a vector or a matrix of right-hand sides.
LAPACK gets copies, so that results may be sources; when it fails, nothing is changed.
"""

from __future__ import annotations

import numpy as np

from runtime.compute.bulk import invert_factored
from runtime.core.dtypes import Array
from runtime.core.tensor import Tensor
from runtime.ops._operands import store
from runtime.ops.linalg._lapack import (
    by_columns,
    check_info,
    check_square,
    check_system,
    is_medium,
    routine,
    store_columns,
    with_results,
)

__all__: list[str] = []


@with_results("gesv", "*T* *T*", "T T")
def gesv(x: Tensor, lu: Tensor, b: Tensor, a: Tensor) -> None:
    """x solves a * x = b; lu holds the factors L and U of a, its rows permuted."""
    check_system(b, a)
    factors, _, solution, info = routine("gesv", a)(
        by_columns(a), by_columns(b), overwrite_a=1, overwrite_b=1
    )
    check_info(info, "gesv", "Lapack Error in gesv : U({},{}) is zero, singular U.")
    store_columns(lu, factors, a)
    store_columns(x, solution, b)


@with_results("gels", "*T* *T*", "T T")
def gels(x: Tensor, factors: Tensor, b: Tensor, a: Tensor) -> None:
    """x (columns of a x columns of b) minimises |a * x - b|, or solves it with the least |x|.

    factors: those of the QR (LQ where a is wider than high) factorization of a.
    Torch7: rows of residuals stay behind x in its storage.
    """
    check_system(b, a, square=False)
    rows, columns = a.sizes
    sides = by_columns(b)
    both = np.zeros((max(rows, columns), sides.shape[1]), sides.dtype, order="F")
    both[:rows] = sides
    work, _ = routine("gels_lwork", a)(rows, columns, sides.shape[1])
    found, solution, info = routine("gels", a)(
        by_columns(a), both, lwork=int(work), overwrite_a=1, overwrite_b=1
    )
    problem = "The {}-th diagonal element of the triangular factor of A is zero"
    check_info(info, "gels", f"Lapack Error in gels : {problem}")
    store_columns(factors, found, a)
    if x is b and b.ndim == 2:
        store(x, solution[:columns])
    else:
        store_columns(x, solution)
        x.set(x.storage, x.offset, (columns, x.sizes[1]), x.strides)


@with_results("trtrs", "*T* *T*", "T T [(U|L)=U] [(N|T)=N] [(N|U)=N]")
def trtrs(x: Tensor, ra: Tensor, b: Tensor, a: Tensor, part: str, trans: str, diag: str) -> None:
    """x solves a * x = b (trans 'T': a' * x = b), a triangular: its part 'U'pper or 'L'ower.

    diag 'U': a's diagonal counts as ones. ra: a copy of a.
    """
    check_system(b, a)
    matrix = by_columns(a)
    solution, info = routine("trtrs", a)(
        matrix,
        by_columns(b),
        lower=part == "L",
        trans=int(trans == "T"),
        unitdiag=diag == "U",
        overwrite_b=1,
    )
    check_info(info, "trtrs", "Lapack Error in trtrs : A({},{}) is zero, singular A")
    store_columns(ra, matrix, a)
    store_columns(x, solution, b)


@with_results("potrf", "*T*", "T [(U|L)=U]")
def potrf(r: Tensor, a: Tensor, part: str) -> None:
    """The Cholesky factor of a positive definite matrix: U with U' * U = a, or L with L * L'."""
    check_square(a)
    factor, info = routine("potrf", a)(by_columns(a), lower=part == "L", overwrite_a=1)
    problem = "the leading minor of order {} is not positive definite"
    check_info(info, "potrf", f"Lapack Error in potrf : {problem}")
    store_columns(r, factor, a)


@with_results("potrs", "*T*", "T T [(U|L)=U]")
def potrs(x: Tensor, b: Tensor, factor: Tensor, part: str) -> None:
    """x solves a * x = b, where a is given by its Cholesky factor."""
    check_system(b, factor)
    solution, info = routine("potrs", b)(
        by_columns(factor), by_columns(b), lower=part == "L", overwrite_b=1
    )
    check_info(info, "potrs", "Lapack Error in potrs : A({},{}) is zero, singular A")
    store_columns(x, solution, b)


@with_results("potri", "*T*", "T [(U|L)=U]")
def potri(r: Tensor, factor: Tensor, part: str) -> None:
    """The inverse of the matrix that is given by its Cholesky factor."""
    check_square(factor)
    inverse, info = routine("potri", factor)(by_columns(factor), lower=part == "L", overwrite_c=1)
    check_info(info, "potri", "Lapack Error potri : A({},{}) is 0, A cannot be factorized")
    store_columns(r, _mirror(inverse, part), factor)


def _mirror(values: Array, part: str) -> Array:
    """The symmetric matrix of which one part is given."""
    if part == "L":
        values = values.T
    return np.triu(values) + np.triu(values, 1).T


@with_results("pstrf", "*T* *IntTensor*", "T [(U|L)=U] [real=-1]")
def pstrf(r: Tensor, pivots: Tensor, a: Tensor, part: str, tolerance: float) -> None:
    """The Cholesky factor of a with rows and columns permuted, and the permutation (from 1).

    tolerance: a pivot that is not above it counts as 0; a negative one stands for one that
    fits the matrix.
    """
    check_square(a)
    factor, order, _, info = routine("pstrf", a)(
        by_columns(a), tol=tolerance, lower=part == "L", overwrite_a=1
    )
    problem = "matrix is rank deficient or not positive semidefinite"
    check_info(info, "pstrf", f"Lapack Error pstrf : {problem}")
    store_columns(r, np.tril(factor) if part == "L" else np.triu(factor), a)
    store(pivots, order)


@with_results("inverse", "*T*", "T")
def inverse(r: Tensor, a: Tensor) -> None:
    """The inverse of a matrix."""
    check_square(a)
    medium = is_medium(a)
    factors, order, info = routine("getrf", a)(by_columns(a), overwrite_a=1)
    check_info(info, "getrf", "Lapack Error getrf : U({},{}) is 0, U is singular")
    values = invert_factored(factors, order) if medium else None
    if values is None:
        work, _ = routine("getri_lwork", a)(a.sizes[0])
        values, info = routine("getri", a)(factors, order, lwork=int(work), overwrite_lu=1)
        check_info(info, "getri", "Lapack Error getri : U({},{}) is 0, U is singular")
    store_columns(r, values, a)
