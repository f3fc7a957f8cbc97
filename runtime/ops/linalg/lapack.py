"""Manual, Math Functions: linear algebra: systems of equations, factors, eigenvalues, inverses.

In systems of equations a is a square matrix, except in gels; b is a vector or a matrix of
right-hand sides, with as many rows. LAPACK works on copies of the sources, so that destinations may
be sources. Where it fails, TorchError is raised and no destination is changed.
"""

from __future__ import annotations

import numpy as np

from th_shell.runtime.compute.bulk import invert_factored
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._operands import store
from th_shell.runtime.ops.linalg._lapack import (
    by_columns,
    check_info,
    check_matrix,
    check_square,
    check_system,
    is_medium,
    routine,
    store_columns,
    svd_over_threads,
    with_results,
)


@with_results("gesv", "*T* *T*", "T T", in_lua=True)
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


@with_results("inverse", "*T*", "T", in_lua=True)
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


# -- eigenvalues, singular values, QR


@with_results("symeig", "*T* *T*", "T [(N|V)=N] [(U|L)=U]", in_lua=True)
def symeig(values: Tensor, vectors: Tensor, a: Tensor, job: str, part: str) -> None:
    """The eigenvalues (ascending) of a symmetric matrix; with 'V' its eigenvectors as columns.

    part: the triangle of a that is read, 'U' for the upper or 'L' for the lower one.
    Torch7: without 'V', vectors gets what LAPACK leaves in its copy of a.
    """
    check_square(a)
    work, _ = routine("syev_lwork", a)(a.sizes[0], lower=part == "L")
    eigenvalues, columns, info = routine("syev", a)(
        by_columns(a), compute_v=job == "V", lower=part == "L", lwork=int(work), overwrite_a=1
    )
    problem = "{} off-diagonal elements didn't converge to zero"
    check_info(info, "syev", f"Lapack Error syev : {problem}")
    store_columns(vectors, columns, a)
    store(values, eigenvalues)


@with_results("eig", "*T* *T*", "T [(N|V)=N]", in_lua=True)
def eig(values: Tensor, vectors: Tensor, a: Tensor, job: str) -> None:
    """The eigenvalues of a matrix as rows of real and imaginary part; with 'V' its eigenvectors.

    vectors gets the eigenvectors as columns. Of a conjugate pair, the two columns are the real
    and the imaginary part of the first one. Without 'V', vectors is unchanged.
    """
    check_square(a)
    options = {"compute_vl": 0, "compute_vr": int(job == "V")}
    work, _ = routine("geev_lwork", a)(a.sizes[0], **options)
    real, imaginary, _, columns, info = routine("geev", a)(
        by_columns(a), lwork=int(work), overwrite_a=1, **options
    )
    problem = "{} off-diagonal elements of an didn't converge to zero"
    check_info(info, "geev", f" Lapack Error in geev : {problem}")
    if job == "V":
        store_columns(vectors, columns)
    store(values, np.stack([real, imaginary], 1))


@with_results("svd", "*T* *T* *T*", "T [(A|S)=S]", in_lua=True)
def svd(u: Tensor, s: Tensor, v: Tensor, a: Tensor, job: str) -> None:
    """u * diag(s) * v' = a, with the singular values s in descending order.

    job: 'S' for as many columns of u and v as there are singular values, 'A' for all of them.
    Raises TorchError for a matrix with infinite elements. Torch7: may then run for ever.
    """
    check_matrix(a)
    rows, columns = a.sizes
    full = int(job == "A")
    columns_of_a = by_columns(a)
    if np.isinf(columns_of_a).any():
        raise TorchError(" Lapack Error gesvd : the matrix has infinite elements")
    result = svd_over_threads(columns_of_a) if not full or rows == columns else None
    if result is None:
        work, _ = routine("gesvd_lwork", a)(rows, columns, full_matrices=full)
        result = routine("gesvd", a)(
            columns_of_a, full_matrices=full, lwork=int(work), overwrite_a=1
        )
    left, values, right, info = result
    check_info(info, "gesvd", " Lapack Error gesvd : {} superdiagonals failed to converge.")
    store_columns(u, left)
    store(s, values)
    store(v, right.T)


@with_results("qr", "*T* *T*", "T", in_lua=True)
def qr(q: Tensor, r: Tensor, a: Tensor) -> None:
    """q * r = a, where the columns of q are orthonormal and r is upper triangular.

    q has the sizes rows x k and r the sizes k x columns, where k is the smaller of a's sizes.
    """
    check_matrix(a)
    factors, tau = _factor(a)
    k = min(a.sizes)
    upper = np.triu(factors[:k])
    store_columns(q, _make_q(factors, tau, a))
    q.set(q.storage, q.offset, (a.sizes[0], k), q.strides)
    store(r, upper)


@with_results("geqrf", "*T* *T*", "T")
def geqrf(r: Tensor, tau: Tensor, a: Tensor) -> None:
    """The QR factorization as LAPACK stores it: r has R, and below it the reflectors of Q.

    tau gets the scalar factors of the reflectors, one for each of the smaller of a's sizes.
    """
    check_matrix(a)
    factors, scales = _factor(a)
    store_columns(r, factors, a)
    store(tau, scales)


def _factor(a: Tensor) -> tuple[Array, Array]:
    work, _ = routine("geqrf_lwork", a)(*a.sizes)
    factors, tau, _, info = routine("geqrf", a)(by_columns(a), lwork=int(work), overwrite_a=1)
    check_info(info, "geqrf", "Lapack Error geqrf : unknown Lapack error. info = {}")
    return factors, tau


@with_results("orgqr", "*T*", "T T")
def orgqr(r: Tensor, a: Tensor, tau: Tensor) -> None:
    """r = the matrix Q, from the results a and tau of geqrf.

    Columns of a beyond the number of elements of tau are copied.
    """
    check_matrix(a)
    store_columns(r, _make_q(by_columns(a), _scales(tau), a), a)


def _scales(tau: Tensor) -> Array:
    """The scalar factors of the reflectors. Torch7: their number is tau's first size."""
    return tau.flat[: tau.sizes[0] if tau.sizes else 0]


def _make_q(factors: Array, tau: Array, a: Tensor) -> Array:
    """Overwrite the reflectors by the matrix Q that they stand for."""
    k = len(tau)
    if k > min(a.sizes):
        raise TorchError("Lapack Error in orgqr : Illegal Argument 2")
    work = routine("orgqr", a)(factors[:, :k], tau, lwork=-1)[1]
    q, _, info = routine("orgqr", a)(factors[:, :k], tau, lwork=int(work[0]))
    check_info(info, "orgqr", " Lapack Error orgqr : unknown Lapack error. info = {}")
    factors[:, :k] = q
    return factors


@with_results("ormqr", "*T*", "T T T [(L|R)=L] [(N|T)=N]")
def ormqr(r: Tensor, a: Tensor, tau: Tensor, c: Tensor, side: str, trans: str) -> None:
    """r = Q * c, or c * Q with side 'R'; with trans 'T', Q' in place of Q.

    Q is given by the results a and tau of geqrf.
    """
    check_matrix(a)
    check_matrix(c)
    if not tau.sizes:
        store_columns(r, by_columns(c).copy("F"), c)  # without reflectors, Q is the unit matrix
        return
    factors, scales = by_columns(a), _scales(tau)
    _check_reflectors(factors, len(scales), c.sizes[0 if side == "L" else 1])
    arguments = (side, trans, factors[:, : len(scales)], scales)
    work = routine("ormqr", c)(*arguments, by_columns(c), lwork=-1)[1]
    result, _, info = routine("ormqr", c)(
        *arguments, by_columns(c), lwork=int(work[0]), overwrite_c=1
    )
    check_info(info, "ormqr", " Lapack Error ormqr : unknown Lapack error. info = {}")
    store_columns(r, result, c)


def _check_reflectors(factors: Array, count: int, order: int) -> None:
    # Torch7: reads the memory of a as a matrix of order x count, whatever the sizes of a are.
    if count > order:
        raise TorchError("Lapack Error in ormqr : Illegal Argument 5")
    if factors.shape[0] != order or factors.shape[1] < count:
        raise TorchError("Lapack Error in ormqr : Illegal Argument 6")
