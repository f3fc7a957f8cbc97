"""LU factors of matrices, and equations that they solve. PyTorch's documentation: torch.linalg."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.results import named
from runtime.pytorch.base.shapes import broadcast, listed
from runtime.pytorch.calls.schema import OUT, OUTS
from runtime.pytorch.calls.table import op
from runtime.pytorch.compute.matrices import check_square, factored, matrices, places
from runtime.pytorch.tensors.tensor import Tensor, wrap


def _factors(A: Tensor, pivot: bool, name: str) -> tuple[Array, Array, Array]:
    if A.array.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {listed(A.sizes)} "
            f"instead"
        )
    array = matrices(A, name)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return factored(array)


def _check_pivots(zeros: Array, name: str) -> None:
    """Raise RuntimeError for factors that solve no equation."""
    if zeros.any():
        index = int(zeros.reshape(-1).nonzero()[0][0])
        at = int(zeros.reshape(-1)[index])
        raise RuntimeError(
            f"{name}: {places(zeros.shape, index)}U[{at},{at}] is zero and using it on lu_solve "
            f"would result in a division by zero. If you still want to perform the factorization, "
            f"consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )


@op(name="linalg_lu_factor", more=OUTS)
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """Both triangular factors in one matrix, and the rows that were exchanged."""
    factors, pivots, zeros = _factors(A, pivot, "torch.lu_factor")
    _check_pivots(zeros, "torch.linalg.lu_factor")
    return named("linalg_lu_factor", wrap(factors), wrap(pivots))


@op(name="linalg_lu_factor_ex", more=OUTS)
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """What lu_factor tells, and which pivot is 0, itself 0 for none."""
    factors, pivots, zeros = _factors(A, pivot, "torch.lu_factor")
    if check_errors:
        _check_pivots(zeros, "torch.linalg.lu_factor_ex")
    return named("linalg_lu_factor_ex", wrap(factors), wrap(pivots), wrap(zeros))


@op(name="linalg_lu", more=OUTS)
def linalg_lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A permutation P, and triangles L and U, with ``A = P @ L @ U``."""
    factors, pivots, _ = _factors(A, pivot, "linalg.lu")
    rows, columns = factors.shape[-2:]
    rank = min(rows, columns)
    lower = np.tril(factors[..., :rank], -1)
    index = np.arange(rank)
    lower[..., index, index] = 1
    order = np.empty((*factors.shape[:-2], rows), np.int64)
    for at in np.ndindex(factors.shape[:-2]):
        order[at] = _exchanged(pivots[at], rows)
    moved = np.eye(rows, dtype=factors.dtype)[order].swapaxes(-1, -2)
    upper = np.triu(factors[..., :rank, :])
    return named("linalg_lu", *map(wrap, (np.ascontiguousarray(moved), lower, upper)))


def _exchanged(pivots: Array, rows: int) -> list[int]:
    """The rows in the order that the exchanges of an LU factorization give them."""
    order = list(range(rows))
    for at, other in enumerate(pivots.tolist()):
        order[at], order[other - 1] = order[other - 1], order[at]
    return order


@op(more=OUT)
def linalg_lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """The solutions X of ``A @ X = B`` by the LU factors of A; of ``X @ A = B`` without left.

    adjoint: A is transposed.
    """
    whole, right = LU.array, B.array
    _check_equation(LU, pivots, B, left)
    batch = broadcast(whole.shape[:-2], right.shape[:-2])
    whole = np.broadcast_to(whole, batch + whole.shape[-2:])
    order = np.broadcast_to(pivots.array, batch + pivots.array.shape[-1:])
    sides = np.array(np.broadcast_to(right, batch + right.shape[-2:]))
    found = np.empty_like(sides)
    for at in np.ndindex(batch):
        found[at] = _solution(whole[at], order[at], sides[at], left, adjoint)
    return wrap(found)


def _solution(whole: Array, pivots: Array, sides: Array, left: bool, adjoint: bool) -> Array:
    from scipy.linalg import lapack  # loaded at the first use

    if not sides.size:
        return sides
    getrs = lapack.sgetrs if whole.dtype == np.float32 else lapack.dgetrs
    turned = sides if left else sides.T
    found: Array = getrs(whole, pivots - 1, turned, trans=int(adjoint is left))[0]
    return found if left else found.T


def _check_equation(LU: Tensor, pivots: Tensor, B: Tensor, left: bool) -> None:
    """Raise RuntimeError for factors, pivots and right sides that do not go together."""
    whole, order, right = LU.array, pivots.array, B.array
    name, square = "linalg.lu_solve", matrices(LU, "torch.linalg.lu_solve").shape[-1]
    if LU.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: Expected LU and B to have the same dtype, but found LU of type "
            f"{LU.dtype.scalar} and B of type {B.dtype.scalar} instead"
        )
    if order.dtype != np.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_square(whole, "torch.linalg.lu_solve: ")
    if right.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if right.shape[-2 if left else -1] != square:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} "
            f"({square}x{square} and {right.shape[-2]}x{right.shape[-1]})"
        )
    if order.shape[-1:] != (square,):
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if order.shape != whole.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {listed(order.shape)} instead"
        )
    _check_rows(order, square)


def _check_rows(pivots: Array, rows: int) -> None:
    most = (pivots > rows, "smaller or equal to LU.size(-2)")
    for is_wrong, what in (most, (pivots < 1, "greater or equal to 1")):
        if is_wrong.any():
            raise RuntimeError(
                f"Pivots given to lu_solve must all be {what}. Did you properly pass the result of "
                f"lu_factor?"
            )


@op(more=OUT)
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The solutions of equations of which the LU factors are given."""
    return linalg_lu_solve(LU_data, LU_pivots, input)
