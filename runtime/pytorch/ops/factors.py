"""LU and LDL factors of matrices, and the equations that they solve.

PyTorch's documentation: torch.linalg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.require import require
from th_shell.torch.base.results import named
from th_shell.torch.base.shapes import broadcast, listed, wrap_dim
from th_shell.torch.calls.schema import OUT, OUTS
from th_shell.torch.calls.table import op
from th_shell.torch.compute.matrices import (
    LinAlgError,
    check_equation,
    check_heights,
    check_matrices,
    check_one_type,
    check_square,
    factored,
    first_fault,
    for_each,
    matrices,
    places,
    routine,
)
from th_shell.torch.tensors.tensor import Tensor, wrap


def _check_rank(array: Array, name: str) -> None:
    if array.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {listed(array.shape)} "
            f"instead"
        )


def _factors(A: Tensor, pivot: bool, name: str) -> tuple[Array, Array, Array]:
    _check_rank(A.array, name)
    array = matrices(A, name)
    require(pivot, "linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return factored(array)


def _check_pivots(zeros: Array, name: str) -> None:
    """Raise RuntimeError for factors that solve no equation."""
    if fault := first_fault(zeros):
        index, at = fault
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
    return named("linalg_lu", wrap(_permutation(factors, pivots)), *_triangles(factors))


@op(more=OUTS)
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """The permutation P, and the triangles L and U, of what `torch.linalg.lu_factor` gives.

    What is not to be unpacked is an empty tensor.
    """
    factors, pivots = LU_data.array, LU_pivots.array
    _check_rank(factors, "torch.lu_unpack")
    if unpack_pivots and pivots.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            "dtype.\nNote: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor"
        )
    if unpack_pivots and not ((pivots >= 1) & (pivots <= factors.shape[-2])).all():
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )
    none = wrap(np.empty(0, factors.dtype))
    permutation = wrap(_permutation(factors, pivots)) if unpack_pivots else none
    return named("lu_unpack", permutation, *(_triangles(factors) if unpack_data else (none, none)))


def _triangles(factors: Array) -> tuple[Tensor, Tensor]:
    """Both triangular factors; the lower one has 1 on its diagonal."""
    rank = min(factors.shape[-2:])
    lower = np.tril(factors[..., :rank], -1)
    index = np.arange(rank)
    lower[..., index, index] = 1
    return wrap(lower), wrap(np.triu(factors[..., :rank, :]))


def _permutation(factors: Array, pivots: Array) -> Array:
    """The matrices that exchange rows."""
    rows = factors.shape[-2]
    order = np.empty((*pivots.shape[:-1], rows), np.int64)
    for at in np.ndindex(pivots.shape[:-1]):
        order[at] = _exchanged(pivots[at], rows)
    return np.ascontiguousarray(np.eye(rows, dtype=factors.dtype)[order].swapaxes(-1, -2))


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
    _check_equation(LU, pivots, B, left)
    broadcast(LU.array.shape[:-2], B.array.shape[:-2])
    getrs = routine("getrs", LU.array)

    def solve(factors: Array, exchanged: Array, sides: Array) -> Any:
        if not sides.size:
            return sides
        turned = sides if left else sides.T
        found = getrs(factors, exchanged - 1, turned, trans=int(adjoint is left))[0]
        return found if left else found.T

    return wrap(for_each(solve, "(n,n),(n),(m,k)->(m,k)", LU.array, pivots.array, B.array))


def _check_equation(LU: Tensor, pivots: Tensor, B: Tensor, left: bool) -> None:
    """Raise RuntimeError for factors, pivots and right sides that do not go together."""
    whole, order, right = LU.array, pivots.array, B.array
    name, square = "linalg.lu_solve", matrices(LU, "torch.linalg.lu_solve").shape[-1]
    check_one_type(f"{name}: ", LU=LU, B=B)
    if order.dtype != np.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_square(whole, "torch.linalg.lu_solve: ")
    check_equation(whole, right, left, name)
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


# -- symmetric matrices


@op(name="linalg_ldl_factor_ex", more=OUTS)
def ldl_factor_ex(input: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """LAPACK's factors and pivots of symmetric matrices, by the lower triangle, and where one is 0.

    hermitian: makes no difference for real numbers. Raises RuntimeError for a 0 if check_errors.
    """
    return named("linalg_ldl_factor_ex", *_ldl(input, check_errors))


@op(name="linalg_ldl_factor", more=OUTS)
def ldl_factor(input: Tensor, *, hermitian: bool = False) -> Any:
    """LAPACK's factors and pivots of symmetric matrices, by the lower triangle."""
    return named("linalg_ldl_factor", *_ldl(input, True)[:2])


def _ldl(input: Tensor, check_errors: bool) -> tuple[Tensor, Tensor, Tensor]:
    array = check_matrices(input, "torch.linalg.ldl_factor_ex")
    sytrf = routine("sytrf", array)
    factors = np.zeros(array.shape, array.dtype)
    pivots = np.zeros(array.shape[:-1], np.int32)
    info = np.zeros(array.shape[:-2], np.int32)
    for index in np.ndindex(*info.shape):
        found, pivots[index], info[index] = sytrf(array[index], lower=1)
        factors[index] = np.tril(found)
    if check_errors and (fault := first_fault(info)):
        raise LinAlgError(f"torch.linalg.ldl_factor: the diagonal element {fault[1]} of D is zero")
    return wrap(factors), wrap(pivots), wrap(info)


@op(name="linalg_ldl_solve", more=OUT)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The solutions of equations with symmetric matrices, which `ldl_factor` has factored."""
    array, exchanged, right = check_matrices(LD, "torch.linalg.ldl_solve"), pivots.array, B.array
    wrap_dim(-2, right.ndim)
    _check_ldl(array, exchanged, B, LD)
    sytrs = routine("sytrs", array)

    def solve(factors: Array, rows: Array, side: Array) -> Any:
        return sytrs(factors, rows, side, lower=1)[0] if side.size else side

    return wrap(for_each(solve, "(n,n),(n),(n,k)->(n,k)", array, exchanged, right))


def _check_ldl(array: Array, pivots: Array, B: Tensor, LD: Tensor) -> None:
    if pivots.dtype.kind not in "iu":
        kind = wrap(pivots).dtype.scalar
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected pivots to be integers. Got {kind}")
    if pivots.shape != array.shape[:-1]:
        raise RuntimeError(
            f"torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but "
            f"got pivots with shape {listed(pivots.shape)} instead"
        )
    check_one_type("", ".", b=B, A=LD)
    check_heights(array, B.array, "torch.linalg.ldl_solve")
    if not all(_are_pivots(pivots[at].tolist()) for at in np.ndindex(pivots.shape[:-1])):
        raise RuntimeError("torch.linalg.ldl_solve: pivots are not those of ldl_factor")


def _are_pivots(pivots: list[int]) -> bool:
    """Whether LAPACK stays within the matrix: negative pivots come in pairs, for blocks of two."""
    negative = 0
    for pivot in pivots:
        if not 1 <= abs(pivot) <= len(pivots) or (pivot > 0 and negative % 2):
            return False
        negative += pivot < 0
    return negative % 2 == 0
