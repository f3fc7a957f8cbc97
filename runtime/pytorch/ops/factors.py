"""Factors and eigenvalues of matrices, also of whole batches.

PyTorch's documentation: torch.linalg. numpy's LAPACK computes what has batches, scipy's the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.results import named
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import OUT, OUTS
from runtime.pytorch.compute.elementwise import FLOATS, check_types
from runtime.pytorch.compute.matrices import (
    LinAlgError,
    check_matrices,
    converged,
    factored,
    first_minor,
    matrices,
    places,
)
from runtime.pytorch.ops.products import multiply
from runtime.pytorch.tensors.tensor import Tensor, view_of, wrap


@op(name="linalg_cholesky", more=OUT)
def cholesky(input: Tensor, *, upper: bool = False) -> Tensor:
    """The triangular factors L of ``L @ L.T``. Raises LinAlgError for what has none."""
    array = check_matrices(input, "linalg.cholesky")
    if upper:
        array = np.swapaxes(array, -1, -2)
    try:
        factor = np.linalg.cholesky(array)
    except np.linalg.LinAlgError:
        index, order = first_minor(array)
        raise LinAlgError(
            f"linalg.cholesky: {places(array.shape[:-2], index)}The factorization could not be "
            f"completed because the input is not positive-definite (the leading minor of order "
            f"{order} is not positive-definite)."
        ) from None
    return wrap(np.swapaxes(factor, -1, -2) if upper else factor)


def _product_of_factors(factor: Array, upper: bool) -> Array:
    lower = np.tril(np.swapaxes(factor, -1, -2) if upper else factor)
    return multiply(lower, np.swapaxes(lower, -1, -2))


@op(more=OUT)
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """The solutions X of ``A @ X = input``, where input2 is the factor of A."""
    return wrap(np.linalg.solve(_product_of_factors(input2.array, upper), input.array))


@op(more=OUT)
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """The inverses of matrices whose factors are given."""
    return wrap(np.linalg.inv(_product_of_factors(input.array, upper)))


@op(name="linalg_qr", more=OUTS)
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """The factors Q, whose columns are orthonormal, and R, which is an upper triangle."""
    array = matrices(A, "linalg.qr")
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', "
            f"or 'complete'"
        )
    found: Any = np.linalg.qr(array, mode)  # type: ignore[call-overload]
    parts = (np.empty(0, array.dtype), found) if mode == "r" else found
    return named("linalg_qr", *map(wrap, parts))


@op(name="linalg_svd", more=OUTS)
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """The singular values S, and U and Vh with ``A = U @ diag(S) @ Vh``."""
    parts = converged(np.linalg.svd, matrices(A, "linalg.svd"), full_matrices)
    return named("linalg_svd", *map(wrap, parts))


@op(name="linalg_svdvals", more=OUT)
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values, in descending order."""
    return wrap(converged(np.linalg.svd, matrices(A, "linalg.svd"), compute_uv=False))


@op(name="svd", more=OUTS)
def old_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """The singular values S, and U and V with ``input = U @ diag(S) @ V.T``."""
    array = matrices(input, "linalg.svd")
    u, s, v = converged(np.linalg.svd, array, full_matrices=not some)
    if not compute_uv:
        u, v = np.zeros_like(u), np.zeros_like(v)
    return named("svd", wrap(u), wrap(s), wrap(np.swapaxes(v, -1, -2)))


def _of_symmetric(compute: Callable[..., Any], tensor: Tensor, triangle: str) -> Any:
    """What a function of numpy's computes of symmetric matrices, by one triangle."""
    is_square = tensor.array.ndim > 1 and tensor.array.shape[-1] == tensor.array.shape[-2]
    if is_square:
        check_types("linalg_eigh_cpu", FLOATS, tensor.array.dtype)
    array = check_matrices(tensor, "linalg.eigh")
    if triangle.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {triangle}")
    return converged(compute, array, triangle.upper())


@op(name="linalg_eigh", more=OUTS)
def eigh(input: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues, ascending, and eigenvectors of symmetric matrices, by one triangle."""
    return named("linalg_eigh", *map(wrap, _of_symmetric(np.linalg.eigh, input, UPLO)))


@op(name="linalg_eigvalsh", more=OUT)
def eigvalsh(input: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices, ascending, by one triangle."""
    return wrap(_of_symmetric(np.linalg.eigvalsh, input, UPLO))


@op(name="linalg_eig", more=OUTS)
@op(name="linalg_eigvals", more=OUT)
def _missing_complex(A: Tensor) -> Any:
    """Eigenvalues of any matrix are complex numbers."""
    raise NotImplementedError("complex numbers are not provided here: use torch.linalg.eigh")


@op(name="linalg_lu_factor", more=OUTS)
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """Both triangular factors in one matrix, and the rows that were exchanged."""
    factors, pivots = factored(matrices(A, "linalg.lu_factor"))
    return named("linalg_lu_factor", wrap(factors), wrap(pivots))


@op(name="linalg_lu", more=OUTS)
def linalg_lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A permutation P, and triangles L and U, with ``A = P @ L @ U``."""
    array = matrices(A, "linalg.lu")
    factors, pivots = factored(array)
    rows, columns = array.shape[-2:]
    rank = min(rows, columns)
    lower = np.tril(factors[..., :rank], -1)
    index = np.arange(rank)
    lower[..., index, index] = 1
    order = [_exchanged(p, rows) for p in pivots.reshape(-1, rank)]
    moved = np.eye(rows, dtype=array.dtype)[order].swapaxes(-1, -2)
    upper = np.triu(factors[..., :rank, :])
    permutation = np.ascontiguousarray(moved).reshape(*array.shape[:-2], rows, rows)
    return named("linalg_lu", *map(wrap, (permutation, lower, upper)))


def _exchanged(pivots: Array, rows: int) -> list[int]:
    """The rows in the order that the exchanges of an LU factorization give them."""
    order = list(range(rows))
    for at, other in enumerate(pivots.tolist()):
        order[at], order[other - 1] = order[other - 1], order[at]
    return order


@op(more=OUT)
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor) -> Tensor:
    """The solutions of equations of which the LU factors are given."""
    whole, right = LU.array, np.array(B.array)
    lower = np.tril(whole, -1) + np.eye(whole.shape[-1], dtype=whole.dtype)
    order = np.broadcast_to(pivots.array, (*whole.shape[:-2], whole.shape[-1]))
    for index in np.ndindex(*whole.shape[:-2]):
        right[index] = right[index][_exchanged(order[index], len(right[index]))]
    return wrap(np.linalg.solve(np.triu(whole), np.linalg.solve(lower, right)))


@op(more=OUT)
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The solutions of equations of which the LU factors are given."""
    return linalg_lu_solve(LU_data, LU_pivots, input)


@op(name="linalg_diagonal")
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of matrices."""
    return view_of(A, np.diagonal(A.array, offset, dim1, dim2))
