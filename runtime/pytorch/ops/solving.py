"""Inverses, equations and determinants of matrices, also of whole batches.

PyTorch's documentation: torch.linalg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.results import named
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import OUT, OUTS
from runtime.pytorch.compute.matrices import (
    LinAlgError,
    check_matrices,
    converged,
    factored,
    matrices,
    places,
    zero_pivot,
)
from runtime.pytorch.ops.products import multiply
from runtime.pytorch.tensors.tensor import Tensor, wrap


@op(f"inverse(Tensor input, *, {OUT})")
@op(name="linalg_inv", more=OUT)
def inv(A: Tensor) -> Tensor:
    """The inverses of matrices. Raises LinAlgError where there is none."""
    array = check_matrices(A, "linalg.inv")
    try:
        with np.errstate(all="ignore"):
            return wrap(np.linalg.inv(array))
    except np.linalg.LinAlgError:
        index, pivot = zero_pivot(array) or (0, 1)
        raise LinAlgError(
            f"linalg.inv: {places(array.shape[:-2], index)}The diagonal element {pivot} is zero, "
            f"the inversion could not be completed because the input matrix is singular."
        ) from None


@op(name="linalg_solve", more=OUT)
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solutions X of ``A @ X = B``, or, where left is false, of ``X @ A = B``."""
    a, b = check_matrices(A, "linalg.solve"), B.array
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{A.dtype.scalar} and B of type {B.dtype.scalar} instead"
        )
    is_vector = b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])
    sides = b[..., None] if is_vector else b
    if not left:
        a, sides = np.swapaxes(a, -1, -2), sides if is_vector else np.swapaxes(sides, -1, -2)
    if sides.shape[-2] != a.shape[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {equation} "
            f"({a.shape[-2]}x{a.shape[-1]} and {sides.shape[-2]}x{sides.shape[-1]})"
        )
    try:
        with np.errstate(all="ignore"):
            found = np.linalg.solve(a, sides)
    except np.linalg.LinAlgError:
        index, _ = zero_pivot(a) or (0, 1)
        raise LinAlgError(
            f"torch.linalg.solve: {places(a.shape[:-2], index)}The solver failed because the "
            f"input matrix is singular."
        ) from None
    if is_vector:
        return wrap(found[..., 0])
    return wrap(found if left else np.ascontiguousarray(np.swapaxes(found, -1, -2)))


@op(name="linalg_solve_triangular", more=OUT)
def solve_triangular(
    input: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """The solutions of equations of which one triangle alone counts."""
    array = check_matrices(input, "linalg.solve_triangular")
    return wrap(_substituted(array, B.array, upper, left, unitriangular))


def _substituted(array: Array, sides: Array, upper: bool, left: bool, unit: bool) -> Array:
    """What substitution by BLAS makes of right sides; zeros on the diagonal make infinities."""
    from scipy.linalg import blas  # loaded at the first use

    trsm = blas.strsm if array.dtype == np.float32 else blas.dtrsm
    batch = np.broadcast_shapes(array.shape[:-2], sides.shape[:-2])
    found = np.empty(batch + sides.shape[-2:], array.dtype)
    if not found.size:
        return found
    triangles = np.broadcast_to(array, batch + array.shape[-2:])
    sides = np.broadcast_to(sides, found.shape)
    for at in np.ndindex(batch):
        found[at] = trsm(1.0, triangles[at], sides[at], side=not left, lower=not upper, diag=unit)
    return found


@op(name="linalg_lstsq")
def lstsq(
    input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> Any:
    """The solutions of least squares of ``input @ X = b``."""
    a, right = matrices(input, "linalg.lstsq"), b.array
    if right.shape[0] != a.shape[-2] and a.ndim == 2:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    found, rank = _least_squares(a, right, rcond)
    rows, columns = a.shape[-2:]
    rest = np.empty(0, a.dtype)
    if rows > columns and rank == columns and right.ndim == 2:
        rest = ((multiply(a, found) - right) ** 2).sum(-2)
    empty = wrap(np.empty(0, a.dtype))
    return named("linalg_lstsq", wrap(found), wrap(rest), wrap(rank), empty)


def _least_squares(a: Array, b: Array, rcond: float | None) -> tuple[Array, Array]:
    """The solutions, and the ranks of the matrices: of a batch, the greatest that they can have."""
    if a.ndim == 2:
        found, _, rank, _ = np.linalg.lstsq(a, b, rcond)
        return found, np.asarray(int(rank))
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    systems, sides = (
        np.broadcast_to(x, batch + x.shape[-2:]).reshape(-1, *x.shape[-2:]) for x in (a, b)
    )
    parts = [np.linalg.lstsq(x, y, rcond)[0] for x, y in zip(systems, sides, strict=True)]
    solutions = np.stack(parts).reshape(*batch, a.shape[-1], b.shape[-1])
    return solutions, np.full(batch, min(a.shape[-2:]))


@op(
    f"linalg_pinv(Tensor input, *, float atol = None, float rtol = None, "
    f"bool hermitian = False, {OUT})",
)
@op(f"linalg_pinv(Tensor input, float rtol, bool hermitian = False, *, {OUT})")
def pinv(
    input: Tensor, rtol: Any = None, hermitian: bool = False, *, atol: float | None = None
) -> Tensor:
    """The pseudo-inverses of matrices (Moore and Penrose's)."""
    array = matrices(input, "linalg.pinv")
    if rtol is None:
        rtol = max(array.shape[-2:]) * np.finfo(array.dtype).eps if atol is None else 0.0
    return wrap(converged(np.linalg.pinv, array, rtol, hermitian).astype(array.dtype, copy=False))


@op()
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverses of matrices."""
    return wrap(converged(np.linalg.pinv, matrices(input, "linalg.pinv"), rcond))


@op("det(Tensor input)")
@op(name="linalg_det", more=OUT)
def det(A: Tensor) -> Tensor:
    """The determinants of matrices: products of the pivots of their LU factors.

    As in PyTorch the factors are those of the transposed matrix where its rows lie in memory one
    after another. The last digits depend on that, and numpy's go by way of logarithms.
    """
    array = check_matrices(A, "linalg.det")
    if array.flags.c_contiguous:
        array = np.swapaxes(array, -1, -2)
    factors, pivots = factored(array)
    exchanged = (pivots != np.arange(1, array.shape[-1] + 1)).sum(-1)
    with np.errstate(all="ignore"):
        found = np.diagonal(factors, axis1=-2, axis2=-1).prod(-1, dtype=array.dtype)
        return wrap(np.asarray(found * np.where(exchanged % 2, -1, 1), array.dtype))


def _signs(input: Tensor, name: str) -> tuple[Tensor, Tensor]:
    with np.errstate(all="ignore"):
        sign, logarithm = np.linalg.slogdet(check_matrices(input, name))
    return wrap(sign), wrap(logarithm)


@op(more=OUTS, method=False)
def linalg_slogdet(A: Tensor) -> Any:
    """The signs of determinants and the logarithms of their absolute values."""
    return named("linalg_slogdet", *_signs(A, "linalg.slogdet"))


@op()
def slogdet(input: Tensor) -> Any:
    """The signs of determinants and the logarithms of their absolute values."""
    return named("slogdet", *_signs(input, "linalg.slogdet"))


@op()
def logdet(input: Tensor) -> Tensor:
    """The logarithms of determinants; nan for negative ones."""
    sign, logarithm = _signs(input, "linalg.slogdet")
    return wrap(np.where(sign.array < 0, np.nan, logarithm.array).astype(input.array.dtype))


@op(more=OUTS)
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Any:
    """The solutions of ``A @ X = input``, of which one triangle alone counts; and a copy of A."""
    turned = wrap(np.swapaxes(A.array, -1, -2)) if transpose else A
    upper = upper is not transpose
    found = solve_triangular(turned, input, upper=upper, unitriangular=unitriangular)
    return named("triangular_solve", found, wrap(A.array.copy()))
