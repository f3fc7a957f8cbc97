"""Manual, Math Functions: linear algebra: eigenvalues, singular values, QR.

LAPACK gets copies, so that results may be sources; when it fails, nothing is changed.
"""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor
from runtime.ops._operands import store
from runtime.ops.linalg._lapack import (
    by_columns,
    check_info,
    check_matrix,
    check_square,
    routine,
    store_columns,
    with_results,
)
from runtime.ops.linalg._svd import svd_over_threads

__all__: list[str] = []


@with_results("symeig", "*T* *T*", "T [(N|V)=N] [(U|L)=U]")
def symeig(values: Tensor, vectors: Tensor, a: Tensor, job: str, part: str) -> None:
    """The eigenvalues (ascending) of a symmetric matrix; with 'V' its eigenvectors as columns.

    part: the triangle of a that is read, 'U'pper or 'L'ower.
    Torch7: without 'V', vectors holds what LAPACK leaves of a.
    """
    check_square(a)
    work, _ = routine("syev_lwork", a)(a.sizes[0], lower=part == "L")
    found, columns, info = routine("syev", a)(
        by_columns(a), compute_v=job == "V", lower=part == "L", lwork=int(work), overwrite_a=1
    )
    problem = "{} off-diagonal elements didn't converge to zero"
    check_info(info, "syev", f"Lapack Error syev : {problem}")
    store_columns(vectors, columns, a)
    store(values, found)


@with_results("eig", "*T* *T*", "T [(N|V)=N]")
def eig(values: Tensor, vectors: Tensor, a: Tensor, job: str) -> None:
    """The eigenvalues of a matrix as rows (real part, imaginary part); with 'V' its vectors.

    A pair of complex eigenvectors is two columns, real and imaginary part of the first.
    """
    check_square(a)
    wanted = {"compute_vl": 0, "compute_vr": int(job == "V")}
    work, _ = routine("geev_lwork", a)(a.sizes[0], **wanted)
    real, imaginary, _, columns, info = routine("geev", a)(
        by_columns(a), lwork=int(work), overwrite_a=1, **wanted
    )
    problem = "{} off-diagonal elements of an didn't converge to zero"
    check_info(info, "geev", f" Lapack Error in geev : {problem}")
    if job == "V":
        store_columns(vectors, columns)
    store(values, np.stack([real, imaginary], 1))


@with_results("svd", "*T* *T* *T*", "T [(A|S)=S]")
def svd(u: Tensor, s: Tensor, v: Tensor, a: Tensor, job: str) -> None:
    """u * diag(s) * v' = a; s descends.

    job: 'S' for as many columns of u and v as there are singular values, 'A' for all.
    Torch7: with infinite elements it may run for ever.
    """
    check_matrix(a)
    rows, columns = a.sizes
    full = int(job == "A")
    columns_of_a = by_columns(a)
    if np.isinf(columns_of_a).any():  # LAPACK may never end
        raise TorchError(" Lapack Error gesvd : the matrix has infinite elements")
    found = svd_over_threads(columns_of_a) if not full or rows == columns else None
    if found is None:
        work, _ = routine("gesvd_lwork", a)(rows, columns, full_matrices=full)
        found = routine("gesvd", a)(
            columns_of_a, full_matrices=full, lwork=int(work), overwrite_a=1
        )
    left, values, right, info = found
    check_info(info, "gesvd", " Lapack Error gesvd : {} superdiagonals failed to converge.")
    store_columns(u, left)
    store(s, values)
    store(v, right.T)


@with_results("qr", "*T* *T*", "T")
def qr(q: Tensor, r: Tensor, a: Tensor) -> None:
    """q * r = a: the columns of q (rows x k) orthonormal, r (k x columns) upper triangular.

    k is the smaller of a's sizes.
    """
    check_matrix(a)
    factors, tau = _factor(a)
    k = min(a.sizes)
    upper = np.triu(factors[:k])
    store_columns(q, _unfold(factors, tau, a))
    q.set(q.storage, q.offset, (a.sizes[0], k), q.strides)
    store(r, upper)


@with_results("geqrf", "*T* *T*", "T")
def geqrf(r: Tensor, tau: Tensor, a: Tensor) -> None:
    """The QR factorization as LAPACK keeps it: R, below it the reflectors of Q; their factors."""
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
    """The matrix Q of what geqrf gave; columns of a beyond the elements of tau stay as they are."""
    check_matrix(a)
    store_columns(r, _unfold(by_columns(a), _scales(tau), a), a)


def _scales(tau: Tensor) -> Array:
    """The reflectors' factors; Torch7 takes as many as tau's first size says."""
    return tau.flat[: tau.sizes[0] if tau.sizes else 0]


def _unfold(factors: Array, tau: Array, a: Tensor) -> Array:
    """Q in place of its reflectors."""
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
    """Q * c, or c * Q (side 'R'), Q or its transpose (trans 'T') given as geqrf gave it."""
    check_matrix(a)
    check_matrix(c)
    if not tau.sizes:
        store_columns(r, by_columns(c).copy("F"), c)  # a product of no reflectors
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
    # Torch7: takes the memory of a for a matrix of these sizes, whatever they are.
    if count > order:
        raise TorchError("Lapack Error in ormqr : Illegal Argument 5")
    if factors.shape[0] != order or factors.shape[1] < count:
        raise TorchError("Lapack Error in ormqr : Illegal Argument 6")
