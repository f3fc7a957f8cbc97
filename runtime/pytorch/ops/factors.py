"""Factors and eigenvalues of matrices, also of whole batches.

PyTorch's documentation: torch.linalg. numpy's LAPACK computes what has batches, scipy's the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError as NumpyError

from runtime.core.dtypes import Array
from runtime.pytorch.base.dtypes import Category
from runtime.pytorch.base.results import named
from runtime.pytorch.base.shapes import Shape
from runtime.pytorch.calls.table import functional, op
from runtime.pytorch.calls.types import OUT, OUTS
from runtime.pytorch.compute.matrices import (
    LinAlgError,
    check_matrices,
    converged,
    factored,
    first_minor,
    matrices,
    places,
    zero_pivot,
)
from runtime.pytorch.ops.products import multiply
from runtime.pytorch.ops.solving import inv, solve
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
    kind = tensor.dtype
    is_square = tensor.array.ndim > 1 and tensor.array.shape[-1] == tensor.array.shape[-2]
    if is_square and kind.category < Category.FLOAT:
        raise NotImplementedError(f"\"linalg_eigh_cpu\" not implemented for '{kind.scalar}'")
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


# -- functions that tell by a number whether a matrix has what is asked for


def _info(batch: tuple[int, ...], wrong: dict[int, int]) -> Tensor:
    """LAPACK's numbers for the matrices of a batch: 0, or what is wrong."""
    info = np.zeros(prod(batch), np.int32)
    for at, number in wrong.items():
        info[at] = number
    return wrap(info.reshape(batch))


def _checked(error: LinAlgError, name: str, check_errors: bool) -> None:
    if check_errors:
        raise LinAlgError(str(error).replace(f"linalg.{name}:", f"linalg.{name}_ex:"))


@op(name="linalg_inv_ex", more=OUTS)
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverses of matrices, and for each 0, or which pivot is 0."""
    batch = A.sizes[:-2]
    try:
        return named("linalg_inv_ex", inv(A), _info(batch, {}))
    except LinAlgError as error:
        _checked(error, "inv", check_errors)
    at, pivot = zero_pivot(A.array) or (0, 1)
    broken = wrap(np.full(A.sizes, np.nan, A.array.dtype))
    return named("linalg_inv_ex", broken, _info(batch, {at: pivot}))


@op(name="linalg_cholesky_ex", more=OUTS)
def cholesky_ex(input: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The triangular factors, and for each 0, or the order of the minor that is not positive."""
    batch = input.sizes[:-2]
    try:
        found = cholesky(input, upper=upper)
        return named("linalg_cholesky_ex", found, _info(batch, {}))
    except LinAlgError as error:
        _checked(error, "cholesky", check_errors)
    at, order = first_minor(input.array)
    triangle = np.triu(input.array) if upper else np.tril(input.array)
    return named("linalg_cholesky_ex", wrap(triangle), _info(batch, {at: order}))


@op(name="linalg_solve_ex", more=OUTS)
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """The solutions of equations, and for each 0, or which pivot is 0."""
    batch = A.sizes[:-2]
    try:
        return named("linalg_solve_ex", solve(A, B, left=left), _info(batch, {}))
    except LinAlgError as error:
        _checked(error, "solve", check_errors)
    at, pivot = zero_pivot(A.array) or (0, 1)
    broken = wrap(np.full(B.sizes, np.nan, B.array.dtype))
    return named("linalg_solve_ex", broken, _info(batch, {at: pivot}))


@op(name="linalg_lu_factor_ex", more=OUTS)
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """Both triangular factors in one matrix, the exchanged rows, and 0 or the pivot that is 0."""
    found = lu_factor(A, pivot=pivot)
    wrong = zero_pivot(A.array)
    info = _info(A.sizes[:-2], dict([wrong] if wrong else []))
    return named("linalg_lu_factor_ex", *found, info)


@functional
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """Both triangular factors in one matrix, and the exchanged rows."""
    found = lu_factor_ex(A, pivot=pivot)
    return tuple(found) if get_infos else tuple(found[:2])


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


# -- reflections


@op(more=OUTS)
def geqrf(input: Tensor) -> Any:
    """The reflections whose product is Q, below R; and their factors."""
    array = matrices(input, "geqrf")
    a, tau = np.linalg.qr(array, "raw")
    return named("geqrf", wrap(np.swapaxes(a, -1, -2)), wrap(tau))


def _product(array: Array, tau: Array) -> Array:
    rows, columns = array.shape[-2:]
    found = np.broadcast_to(np.eye(rows, columns, dtype=array.dtype), array.shape).copy()
    for at in range(tau.shape[-1] - 1, -1, -1):
        v = array[..., at].copy()
        v[..., :at] = 0
        v[..., at] = 1
        part = (v[..., None, :] @ found) * tau[..., at, None, None]
        found = found - v[..., :, None] * part
    return found


@op(name="linalg_householder_product", more=OUT)
@op(f"orgqr(Tensor input, Tensor input2, *, {OUT})")
def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of reflections."""
    return wrap(_product(matrices(input, "torch.linalg.householder_product"), tau.array))


# -- tensors as matrices


@op(name="linalg_diagonal")
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of matrices."""
    return view_of(A, np.diagonal(A.array, offset, dim1, dim2))


@op(name="linalg_tensorinv", more=OUT)
def tensorinv(input: Tensor, ind: int = 2) -> Tensor:
    """The inverse of what `tensordot` with a tensor does."""
    array = input.array
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    first, last = array.shape[:ind], array.shape[ind:]
    if prod(first) != prod(last):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {prod(last)} != {prod(first)}"
        )
    square = inv(wrap(array.reshape(prod(first), prod(last))))
    return wrap(square.array.reshape(last + first))


@op(name="linalg_tensorsolve", more=OUT)
def tensorsolve(input: Tensor, other: Tensor, dims: Shape | None = None) -> Tensor:
    """The solution of the equation that `tensordot` with a tensor makes."""
    try:
        return wrap(np.linalg.tensorsolve(input.array, other.array, dims))
    except NumpyError as error:
        raise RuntimeError(f"linalg.tensorsolve: {error}") from None
