"""Manual, Math Functions: linear algebra: systems of equations, Cholesky factors, inverses.

a is a square matrix, except in gels; b is a vector or a matrix of right-hand sides, with as many
rows. LAPACK works on copies of the sources, so that destinations may be sources. Where it fails,
TorchError is raised and no destination is changed.
"""

from __future__ import annotations

import numpy as np

from th_shell.runtime.compute.bulk import invert_factored
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._operands import store
from th_shell.runtime.ops.linalg._lapack import (
    by_columns,
    check_info,
    check_square,
    check_system,
    is_medium,
    routine,
    store_columns,
    with_results,
)


@with_results("gesv", "*T* *T*", "T T")
def gesv(x: Tensor, lu: Tensor, b: Tensor, a: Tensor) -> None:
    """x solves a * x = b; lu gets the factors L and U of a with its rows permuted."""
    check_system(b, a)
    factors, _, solution, info = routine("gesv", a)(
        by_columns(a), by_columns(b), overwrite_a=1, overwrite_b=1
    )
    check_info(info, "gesv", "Lapack Error in gesv : U({},{}) is zero, singular U.")
    store_columns(lu, factors, a)
    store_columns(x, solution, b)


@with_results("gels", "*T* *T*", "T T")
def gels(x: Tensor, factors: Tensor, b: Tensor, a: Tensor) -> None:
    """x minimises |a * x - b|; of several solutions it is the one with the least |x|.

    x has the sizes columns of a x columns of b. factors gets the QR factorization of a, or the LQ
    factorization if a has more columns than rows. Torch7: the rows of residuals, which LAPACK
    computes below x, stay in x's storage.
    """
    check_system(b, a, square=False)
    rows, columns = a.sizes
    sides = by_columns(b)
    both = np.zeros((max(rows, columns), sides.shape[1]), sides.dtype, order="F")
    both[:rows] = sides
    work, _ = routine("gels_lwork", a)(rows, columns, sides.shape[1])
    factorised, solution, info = routine("gels", a)(
        by_columns(a), both, lwork=int(work), overwrite_a=1, overwrite_b=1
    )
    problem = "The {}-th diagonal element of the triangular factor of A is zero"
    check_info(info, "gels", f"Lapack Error in gels : {problem}")
    store_columns(factors, factorised, a)
    if x is b and b.ndim == 2:
        store(x, solution[:columns])
    else:
        store_columns(x, solution)
        x.set(x.storage, x.offset, (columns, x.sizes[1]), x.strides)


@with_results("trtrs", "*T* *T*", "T T [(U|L)=U] [(N|T)=N] [(N|U)=N]")
def trtrs(x: Tensor, ra: Tensor, b: Tensor, a: Tensor, part: str, trans: str, diag: str) -> None:
    """x solves a * x = b for a triangular a; with trans 'T', a' * x = b.

    part: the triangle of a that is read, 'U' for the upper or 'L' for the lower one. diag: with
    'U', the diagonal of a counts as ones. ra gets a copy of a.
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
    """r = the Cholesky factor of a positive definite matrix: U with U' * U = a, or L with 'L'.

    The factor L satisfies L * L' = a.
    """
    check_square(a)
    factor, info = routine("potrf", a)(by_columns(a), lower=part == "L", overwrite_a=1)
    problem = "the leading minor of order {} is not positive definite"
    check_info(info, "potrf", f"Lapack Error in potrf : {problem}")
    store_columns(r, factor, a)


@with_results("potrs", "*T*", "T T [(U|L)=U]")
def potrs(x: Tensor, b: Tensor, factor: Tensor, part: str) -> None:
    """x solves a * x = b for the matrix a whose Cholesky factor is given."""
    check_system(b, factor)
    solution, info = routine("potrs", b)(
        by_columns(factor), by_columns(b), lower=part == "L", overwrite_b=1
    )
    check_info(info, "potrs", "Lapack Error in potrs : A({},{}) is zero, singular A")
    store_columns(x, solution, b)


@with_results("potri", "*T*", "T [(U|L)=U]")
def potri(r: Tensor, factor: Tensor, part: str) -> None:
    """r = the inverse of the matrix whose Cholesky factor is given."""
    check_square(factor)
    inverse, info = routine("potri", factor)(by_columns(factor), lower=part == "L", overwrite_c=1)
    check_info(info, "potri", "Lapack Error potri : A({},{}) is 0, A cannot be factorized")
    store_columns(r, _mirror(inverse, part), factor)


def _mirror(values: Array, part: str) -> Array:
    """The symmetric matrix of which one triangle is given."""
    if part == "L":
        values = values.T
    return np.triu(values) + np.triu(values, 1).T


@with_results("pstrf", "*T* *IntTensor*", "T [(U|L)=U] [real=-1]")
def pstrf(r: Tensor, pivots: Tensor, a: Tensor, part: str, tolerance: float) -> None:
    """r = the Cholesky factor of a with rows and columns permuted; pivots: the permutation.

    pivots is an IntTensor of indices from 1. tolerance: a pivot that is not above it counts as 0;
    where it is negative, LAPACK computes one from the matrix.
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
    """r = the inverse of a matrix. Raises TorchError for a singular one."""
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
