"""Inverses, equations, determinants and factors of matrices, also of whole batches.

PyTorch's documentation: torch.linalg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.results import named
from th_shell.torch.base.shapes import broadcast
from th_shell.torch.calls.schema import OUT, OUTS
from th_shell.torch.calls.table import op
from th_shell.torch.compute.matrices import (
    LinAlgError,
    check_equation,
    check_matrices,
    check_one_type,
    converged,
    factored,
    first_fault,
    matrices,
    places,
    singular,
)
from th_shell.torch.tensors.tensor import Tensor, wrap


@op(f"inverse(Tensor input, *, {OUT})")
@op(name="linalg_inv", more=OUT)
def inv(A: Tensor) -> Tensor:
    """Return the inverses of matrices. Raises LinAlgError where there is none."""
    array = check_matrices(A, "linalg.inv")
    try:
        with np.errstate(all="ignore"):
            return wrap(np.linalg.inv(array))
    except np.linalg.LinAlgError:
        index, pivot = first_fault(factored(array)[2]) or (0, 1)
        raise singular("linalg.inv", array.shape[:-2], index, pivot) from None


@op(name="linalg_solve", more=OUT)
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """Return the solutions X of ``A @ X = B``, or, where left is false, of ``X @ A = B``."""
    a, b = check_matrices(A, "linalg.solve"), B.array
    check_one_type("linalg.solve: ", A=A, B=B)
    is_vector = b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])
    sides = b[..., None] if is_vector else b
    check_equation(a, sides, left, "linalg.solve")
    broadcast(sides.shape[:-2], a.shape[:-2])
    if not left:
        a, sides = np.swapaxes(a, -1, -2), np.swapaxes(sides, -1, -2)
    try:
        with np.errstate(all="ignore"):
            solution = np.linalg.solve(a, sides)
    except np.linalg.LinAlgError:
        index, _ = first_fault(factored(a)[2]) or (0, 1)
        raise LinAlgError(
            f"torch.linalg.solve: {places(a.shape[:-2], index)}The solver failed because the "
            f"input matrix is singular."
        ) from None
    solution = solution if left else np.ascontiguousarray(np.swapaxes(solution, -1, -2))
    return wrap(solution[..., 0] if is_vector else solution)


@op("det(Tensor input)")
@op(name="linalg_det", more=OUT)
def det(A: Tensor) -> Tensor:
    """Return the determinants of matrices: products of the pivots of their LU factors.

    As in PyTorch the factors are those of the transposed matrix where its rows lie in memory one
    after another. The last digits depend on that, and numpy's go by way of logarithms.
    """
    array = check_matrices(A, "linalg.det")
    if array.flags.c_contiguous:
        array = np.swapaxes(array, -1, -2)
    factors, pivots, _ = factored(array)
    exchanged = (pivots != np.arange(1, array.shape[-1] + 1)).sum(-1)
    with np.errstate(all="ignore"):
        products = np.diagonal(factors, axis1=-2, axis2=-1).prod(-1, dtype=array.dtype)
        return wrap(np.asarray(products * np.where(exchanged % 2, -1, 1), array.dtype))


@op(more=OUTS, method=False)
def linalg_slogdet(A: Tensor) -> Any:
    """Return the signs of determinants and the logarithms of their absolute values."""
    with np.errstate(all="ignore"):
        signs, logarithms = np.linalg.slogdet(check_matrices(A, "linalg.slogdet"))
        signs = signs * ~np.isnan(logarithms)
    return named("linalg_slogdet", wrap(signs), wrap(logarithms))


@op()
def slogdet(input: Tensor) -> Any:
    """Return the signs of determinants and the logarithms of their absolute values."""
    return named("slogdet", *linalg_slogdet(input))


# -- least squares


# -- what counts as zero


def with_tolerances(name: str, old: str) -> list[str]:
    """Return the signatures of a function with tolerances. old: the old name of the limit."""
    options = f"bool hermitian = False, {OUT})"
    kinds = ("Tensor", "float")
    return [
        *(f"{name}(Tensor input, *, {k} atol = None, {k} rtol = None, {options}" for k in kinds),
        *(f"{name}(Tensor input, {k} {old}, {options.replace(', ', ', *, ', 1)}" for k in kinds),
    ]


def least_value(values: Array, array: Array, atol: Any, rtol: Any) -> Array:
    """Return the limit of singular values that count: atol, or rtol times the largest one.

    Either is a number, a tensor with one for each matrix, or None.
    """
    largest = values.max(-1, keepdims=True, initial=0)
    least, part = (_one_each(0.0 if x is None else x, array) for x in (atol, rtol))
    if rtol is None:
        usual = max(array.shape[-2:]) * float(np.finfo(array.dtype).eps)
        part = np.where(least > 0, part, array.dtype.type(usual))
    broadcast(part.shape, largest.shape)
    broadcast(least.shape, (part * largest).shape)
    return np.asarray(np.maximum(least, part * largest))


def _one_each(tolerance: Any, array: Array) -> Array:
    return np.asarray(getattr(tolerance, "array", tolerance), array.dtype)[..., None]


@op(*with_tolerances("linalg_pinv", "rcond"), casts=True)
def pinv(
    input: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """Return Moore and Penrose's pseudo-inverses; small singular values count as zeros."""
    array = matrices(input, "linalg.pinv")
    if hermitian:
        check_matrices(input, "linalg.eigh")
    u, values, v = converged(np.linalg.svd, array, full_matrices=False, hermitian=hermitian)
    least = least_value(values, array, atol, rtol if rcond is None else rcond)
    with np.errstate(all="ignore"):
        inverse = np.where(values > least, 1 / values, 0)
    inverses = np.swapaxes(v, -1, -2) @ (inverse[..., None] * np.swapaxes(u, -1, -2))
    return wrap(inverses.astype(array.dtype, copy=False))


@op(*with_tolerances("linalg_matrix_rank", "tol"), casts=True)
def matrix_rank(
    input: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """Return the ranks of matrices: the numbers of singular values above the limit.

    hermitian: the matrices are symmetric, of which the lower triangle alone counts.
    """
    array = matrices(input, "linalg.matrix_rank")
    if hermitian:
        values = np.abs(converged(np.linalg.eigvalsh, check_matrices(input, "linalg.eigh")))
    else:
        values = np.abs(converged(np.linalg.svd, array, compute_uv=False))
    if tol is not None:
        atol, rtol = tol, 0.0
    return wrap(np.asarray((values > least_value(values, array, atol, rtol)).sum(-1)))
