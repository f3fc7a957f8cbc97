"""Inverses, equations, determinants and factors of matrices, also of whole batches.

The matrices lie in the last two dimensions. PyTorch's documentation: torch.linalg.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import Category
from th_shell.torch.base.require import require
from th_shell.torch.base.results import named
from th_shell.torch.base.shapes import Shape, broadcast
from th_shell.torch.calls.schema import OUT, OUTS
from th_shell.torch.calls.table import op
from th_shell.torch.tensors.tensor import Tensor, wrap


class LinAlgError(RuntimeError):
    """A matrix for which a function of torch.linalg has no result."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "torch._C"


# -- what is wrong with a matrix


def matrices(tensor: Tensor, name: str) -> Array:
    """Return the elements of matrices.

    Raises RuntimeError where there are fewer dimensions, NotImplementedError for other than
    floating-point numbers of 32 or 64 bits.
    """
    array = tensor.array
    check_rank(array, name)
    check_floats(tensor, name)
    if array.dtype == np.float16:
        raise NotImplementedError(f"{name}: Low precision dtypes not supported. Got Half")
    return array


def check_rank(array: Array, name: str, what: str = "A") -> None:
    """Raise RuntimeError where there are too few dimensions for matrices."""
    if array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {what} must have at least 2 dimensions.")


def check_floats(tensor: Tensor, name: str) -> None:
    """Raise NotImplementedError for other than floating-point numbers."""
    if tensor.dtype.category < Category.FLOAT:
        raise NotImplementedError(
            f"{name}: Expected a floating point or complex tensor as input. "
            f"Got {tensor.dtype.scalar}"
        )


def check_square(array: Array, name: str) -> None:
    """Raise RuntimeError for matrices that are not square."""
    if array.ndim >= 2:
        rows, columns = array.shape[-2:]
        wrong = "{}: A must be batches of square matrices, but they are {} by {} matrices"
        require(rows == columns, wrong, name, rows, columns)


def _square_matrices(tensor: Tensor, name: str) -> Array:
    check_square(tensor.array, name)
    return matrices(tensor, name)


def _place(batch: Shape, index: int) -> str:
    """Return the position of a matrix in a batch, as messages have it; '' without a batch."""
    return f"(Batch element {index}): " if batch else ""


def converged(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call numpy's eigh or eigvalsh, or a function that needs singular values.

    Raises LinAlgError where the algorithm does not converge, as for elements that are nan.
    """
    try:
        return function(*args, **options)
    except np.linalg.LinAlgError:
        failed = "The algorithm failed to converge because the input matrix"
        if function in (np.linalg.eigh, np.linalg.eigvalsh):
            text = f"linalg.eigh: {failed} is ill-conditioned or has too many repeated eigenvalues."
        else:
            text = f"linalg.svd: {failed} contained non-finite values."
        raise LinAlgError(text) from None


# -- LAPACK's routines, whose numbers the errors tell


def _routine(name: str, array: Array) -> Any:
    from scipy.linalg import lapack  # loaded at the first use

    return getattr(lapack, ("s" if array.dtype == np.float32 else "d") + name)


def _first_fault(infos: Array) -> tuple[int, int]:
    """Return the first matrix of a batch with a number above 0, and the number."""
    at = np.flatnonzero(infos > 0)
    return (int(at[0]), int(infos.reshape(-1)[at[0]])) if at.size else (0, 1)


def _factored(array: Array) -> tuple[Array, Array, Array]:
    """Return LAPACK's LU factors and pivots of each matrix, and the first pivot that is 0, or 0.

    Rows and pivots are counted from 1.
    """
    getrf = _routine("getrf", array)
    batch, rank = array.shape[:-2], min(array.shape[-2:])
    factors, pivots = np.array(array), np.empty((*batch, rank), np.int32)
    zeros = np.zeros(batch, np.int32)
    for at in np.ndindex(batch if rank else (0,)):
        factors[at], pivots[at], zeros[at] = getrf(array[at])
    return factors, pivots + np.int32(1), zeros


# -- inverses and equations


@op(f"inverse(Tensor input, *, {OUT})")
@op(name="linalg_inv", more=OUT)
def inv(A: Tensor) -> Tensor:
    """Return the inverses of matrices. Raises LinAlgError where there is none."""
    array = _square_matrices(A, "linalg.inv")
    try:
        with np.errstate(all="ignore"):
            return wrap(np.linalg.inv(array))
    except np.linalg.LinAlgError:
        index, pivot = _first_fault(_factored(array)[2])
        raise LinAlgError(
            f"linalg.inv: {_place(array.shape[:-2], index)}The diagonal element {pivot} is zero, "
            f"the inversion could not be completed because the input matrix is singular."
        ) from None


@op(name="linalg_solve", more=OUT)
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """Return the solutions X of ``A @ X = B``, or, where left is false, of ``X @ A = B``."""
    a, b = _square_matrices(A, "linalg.solve"), B.array
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{A.dtype.scalar} and B of type {B.dtype.scalar} instead"
        )
    is_vector = b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])
    sides = b[..., None] if is_vector else b
    check_rank(sides, "linalg.solve", "B")
    if sides.shape[-2 if left else -1] != a.shape[-1]:
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({a.shape[-2]}x{a.shape[-1]} and "
            f"{sides.shape[-2]}x{sides.shape[-1]})"
        )
    broadcast(sides.shape[:-2], a.shape[:-2])
    if not left:
        a, sides = np.swapaxes(a, -1, -2), np.swapaxes(sides, -1, -2)
    solution = _solved(a, sides)
    solution = solution if left else np.ascontiguousarray(np.swapaxes(solution, -1, -2))
    return wrap(solution[..., 0] if is_vector else solution)


def _solved(a: Array, sides: Array) -> Array:
    try:
        with np.errstate(all="ignore"):
            return np.linalg.solve(a, sides)
    except np.linalg.LinAlgError:
        index, _ = _first_fault(_factored(a)[2])
        raise LinAlgError(
            f"torch.linalg.solve: {_place(a.shape[:-2], index)}The solver failed because the "
            f"input matrix is singular."
        ) from None


@op("linalg_pinv(Tensor input, float rcond = None)")
def pinv(input: Tensor, rcond: float | None = None) -> Tensor:
    """Return pseudo-inverses. rcond: the part of the largest singular value that counts as 0."""
    array = matrices(input, "linalg.pinv")
    usual = max(array.shape[-2:]) * float(np.finfo(array.dtype).eps)
    return wrap(converged(np.linalg.pinv, array, usual if rcond is None else rcond))


@op("linalg_matrix_rank(Tensor input, float tol = None)")
def matrix_rank(input: Tensor, tol: float | None = None) -> Tensor:
    """Return the ranks of matrices. tol: singular values up to this one count as 0."""
    array = matrices(input, "linalg.matrix_rank")
    return wrap(np.asarray(converged(np.linalg.matrix_rank, array, tol)))


# -- determinants


@op("det(Tensor input)")
@op(name="linalg_det", more=OUT)
def det(A: Tensor) -> Tensor:
    """Return the determinants of matrices: products of the pivots of their LU factors.

    As in PyTorch the factors are those of the transposed matrix where its rows lie in memory one
    after another. The last digits depend on that, and numpy's go by way of logarithms.
    """
    array = _square_matrices(A, "linalg.det")
    if array.flags.c_contiguous:
        array = np.swapaxes(array, -1, -2)
    factors, pivots, _ = _factored(array)
    exchanged = (pivots != np.arange(1, array.shape[-1] + 1)).sum(-1)
    with np.errstate(all="ignore"):
        products = np.diagonal(factors, axis1=-2, axis2=-1).prod(-1, dtype=array.dtype)
        return wrap(np.asarray(products * np.where(exchanged % 2, -1, 1), array.dtype))


@op(more=OUTS, method=False)
def linalg_slogdet(A: Tensor) -> Any:
    """Return the signs of determinants and the logarithms of their absolute values."""
    with np.errstate(all="ignore"):
        signs, logarithms = np.linalg.slogdet(_square_matrices(A, "linalg.slogdet"))
        signs = signs * ~np.isnan(logarithms)
    return named("linalg_slogdet", wrap(signs), wrap(logarithms))


@op()
def slogdet(input: Tensor) -> Any:
    """Return the signs of determinants and the logarithms of their absolute values."""
    return named("slogdet", *linalg_slogdet(input))


# -- Cholesky, QR, singular values and eigenvalues


@op(name="linalg_cholesky", more=OUT)
def cholesky(input: Tensor, *, upper: bool = False) -> Tensor:
    """Return the triangular factors L of ``L @ L.T``. Raises LinAlgError for what has none."""
    array = _square_matrices(input, "linalg.cholesky")
    if upper:
        array = np.swapaxes(array, -1, -2)
    try:
        factor = np.linalg.cholesky(array)
        if np.isnan(factor).any():
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        potrf = _routine("potrf", array)
        infos = [potrf(matrix, lower=1)[1] for matrix in array.reshape(-1, *array.shape[-2:])]
        index, order = _first_fault(np.array(infos))
        raise LinAlgError(
            f"linalg.cholesky: {_place(array.shape[:-2], index)}The factorization could not be "
            f"completed because the input is not positive-definite (the leading minor of order "
            f"{order} is not positive-definite)."
        ) from None
    return wrap(np.swapaxes(factor, -1, -2) if upper else factor)


@op(name="linalg_qr", more=OUTS)
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """Return the factors Q, whose columns are orthonormal, and R, which is an upper triangle."""
    array = matrices(A, "linalg.qr")
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', "
            f"or 'complete'"
        )
    factors: Any = np.linalg.qr(array, mode)  # type: ignore[call-overload]
    parts = (np.empty(0, array.dtype), factors) if mode == "r" else factors
    return named("linalg_qr", *map(wrap, parts))


@op(name="linalg_svd", more=OUTS)
def svd(A: Tensor, full_matrices: bool = True) -> Any:
    """Return the singular values S, and U and Vh with ``A = U @ diag(S) @ Vh``."""
    parts = converged(np.linalg.svd, matrices(A, "linalg.svd"), full_matrices)
    return named("linalg_svd", *map(wrap, parts))


@op(name="linalg_svdvals", more=OUT)
def svdvals(A: Tensor) -> Tensor:
    """Return the singular values, in descending order."""
    return wrap(converged(np.linalg.svd, matrices(A, "linalg.svd"), compute_uv=False))


@op(name="svd", more=OUTS)
def old_svd(input: Tensor, some: bool = True) -> Any:
    """Return the singular values S, and U and V with ``input = U @ diag(S) @ V.T``."""
    array = matrices(input, "linalg.svd")
    u, s, v = converged(np.linalg.svd, array, full_matrices=not some)
    return named("svd", wrap(u), wrap(s), wrap(np.swapaxes(v, -1, -2)))


def _of_symmetric(compute: Callable[..., Any], tensor: Tensor, triangle: str) -> Any:
    """Return a numpy function's results for symmetric matrices, of which it reads one triangle."""
    array = _square_matrices(tensor, "linalg.eigh")
    if triangle.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {triangle}")
    return converged(compute, array, triangle.upper())


@op(name="linalg_eigh", more=OUTS)
def eigh(input: Tensor, UPLO: str = "L") -> Any:
    """Return ascending eigenvalues and eigenvectors of symmetric matrices, by one triangle."""
    return named("linalg_eigh", *map(wrap, _of_symmetric(np.linalg.eigh, input, UPLO)))


@op(name="linalg_eigvalsh", more=OUT)
def eigvalsh(input: Tensor, UPLO: str = "L") -> Tensor:
    """Return the eigenvalues of symmetric matrices, ascending, by one triangle."""
    return wrap(_of_symmetric(np.linalg.eigvalsh, input, UPLO))


@op(name="linalg_eig", more=OUTS)
@op(name="linalg_eigvals", more=OUT)
def _missing_complex(A: Tensor) -> Any:
    """Raise NotImplementedError: eigenvalues of any matrix are complex numbers."""
    raise NotImplementedError("complex numbers are not provided here: use torch.linalg.eigh")
