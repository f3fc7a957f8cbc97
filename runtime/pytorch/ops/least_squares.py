"""Least squares by LAPACK's four routines; ranks and pseudo-inverses, for which little is zero.

PyTorch's documentation: torch.linalg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.require import require
from th_shell.torch.base.results import named
from th_shell.torch.base.shapes import broadcast
from th_shell.torch.calls.schema import OUT, OUTS
from th_shell.torch.calls.table import op
from th_shell.torch.compute.matrices import (
    LinAlgError,
    check_matrices,
    converged,
    matrices,
    places,
    routine,
)
from th_shell.torch.ops.products import multiply
from th_shell.torch.tensors.tensor import Tensor, wrap

_NAME = "torch.linalg.lstsq"
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")
_WITH_VALUES = ("gelsd", "gelss")


@op(name="linalg_lstsq", more=OUTS, casts=True)
def lstsq(
    input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> Any:
    """The solutions of least squares of ``input @ X = b``, with what the driver tells of them.

    driver: LAPACK's routine. gelsd and gelss tell singular values, all but gels ranks, and all but
    gelsy (the default) residuals, where equations are more than unknowns and all ranks are full.
    """
    driver = driver or "gelsy"
    is_vector = _check(input, b, driver)
    a, right = input.array, b.array[..., None] if is_vector else b.array
    batch = broadcast(a.shape[:-2], b.array.shape[: a.ndim - 2])
    a, right = (np.broadcast_to(x, batch + x.shape[-2:]) for x in (a, right))
    limit = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps) if rcond is None else rcond
    solution, rank, values = _solved(a, right, limit, driver)
    own = tuple(map(slice, input.array.shape[:-2]))  # PyTorch: they are not broadcast
    rank, values = (told[own] if told.size else told for told in (rank, values))
    rest = np.empty(0, a.dtype)
    rows, columns = a.shape[-2:]
    if driver != "gelsy" and rows > columns and (rank == columns).all():
        rest = ((multiply(a, solution) - right) ** 2).sum(-2)
    found = solution[..., 0] if is_vector else solution
    return named("linalg_lstsq", *map(wrap, (found, rest, rank, values)))


def _check(input: Tensor, b: Tensor, driver: str) -> bool:
    """Raise RuntimeError for what fits no equation; tell whether b is a vector, or a batch of them.

    The words are PyTorch's.
    """
    a, right = input.array, b.array
    require(a.ndim >= 2, "{}: input must have at least 2 dimensions.", _NAME)
    require(right.ndim, "{}: other must have at least 1 dimension.", _NAME)
    if input.dtype is not b.dtype:
        raise RuntimeError(
            f"{_NAME}: Expected input and other to have the same dtype, but got input's dtype "
            f"{input.dtype.scalar} and other's dtype {b.dtype.scalar}"
        )
    if not 0 <= a.ndim - right.ndim <= 1:
        raise RuntimeError(
            f"{_NAME}: input.dim() must be greater or equal to other.dim() and "
            f"(input.dim() - other.dim()) <= 1"
        )
    is_vector = right.ndim == 1 or right.shape == a.shape[:-1]
    side = -1 if is_vector else -2
    if right.shape[side] != a.shape[-2]:
        raise RuntimeError(f"{_NAME}: input.size(-2) should match other.size({side})")
    if driver not in _DRIVERS:
        raise RuntimeError(f"{_NAME}: parameter `driver` should be one of ({', '.join(_DRIVERS)})")
    if a.dtype not in (np.float32, np.float64):
        raise RuntimeError("This function doesn't handle types other than float and double")
    return is_vector


def _solved(a: Array, b: Array, limit: float, driver: str) -> tuple[Array, Array, Array]:
    """Solutions, ranks and singular values; empty ones where the driver does not tell them."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise LinAlgError(f"{_NAME}: The input has elements that are not finite.")
    batch, least, sides = a.shape[:-2], min(a.shape[-2:]), b.shape[-1]
    solution = np.zeros((*batch, a.shape[-1], sides), a.dtype)
    rank = np.zeros(0 if driver == "gels" else batch, np.int64)
    values = np.zeros((*batch, least) if driver in _WITH_VALUES else 0, a.dtype)
    for index, at in enumerate(np.ndindex(batch if least and sides else (0,))):
        if driver == "gels":
            solution[at] = _of_full_rank(a[at], b[at], places(batch, index))
            continue
        from scipy.linalg import lstsq as solve  # loaded at the first use

        solution[at], _, rank[at], own = solve(a[at], b[at], limit, lapack_driver=driver)
        if driver in _WITH_VALUES:
            values[at] = own
    return solution, rank, values


def _of_full_rank(a: Array, b: Array, place: str) -> Array:
    """The solution by gels. Raises LinAlgError where the rank is not full."""
    rows, columns = a.shape
    padded = np.zeros((max(rows, columns), b.shape[-1]), a.dtype)
    padded[:rows] = b
    found: Array
    _, found, info = routine("gels", a)(a, padded)
    if not a.any():
        return np.zeros_like(found[:columns])
    if info:
        raise LinAlgError(
            f"{_NAME}: {place}The least squares solution could not be computed because the input "
            f"matrix does not have full rank (error code: {info})."
        )
    return found[:columns]


# -- what counts as zero


def with_tolerances(name: str, old: str) -> list[str]:
    """The signatures of what takes small singular values for zeros. old: the limit's old name."""
    rest = f"bool hermitian = False, {OUT})"
    kinds = ("Tensor", "float")
    return [
        *(f"{name}(Tensor input, *, {k} atol = None, {k} rtol = None, {rest}" for k in kinds),
        *(f"{name}(Tensor input, {k} {old}, {rest.replace(', ', ', *, ', 1)}" for k in kinds),
    ]


def least_value(values: Array, array: Array, atol: Any, rtol: Any) -> Array:
    """What singular values of matrices have to be above: atol, or rtol times the largest one.

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


def _one_each(given: Any, array: Array) -> Array:
    return np.asarray(getattr(given, "array", given), array.dtype)[..., None]


@op(*with_tolerances("linalg_pinv", "rcond"), casts=True)
def pinv(
    input: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """The pseudo-inverses of matrices (Moore and Penrose's): small singular values are zeros."""
    array = matrices(input, "linalg.pinv")
    if hermitian:
        check_matrices(input, "linalg.eigh")
    u, values, v = converged(np.linalg.svd, array, full_matrices=False, hermitian=hermitian)
    least = least_value(values, array, atol, rtol if rcond is None else rcond)
    with np.errstate(all="ignore"):
        inverse = np.where(values > least, 1 / values, 0)
    found = np.swapaxes(v, -1, -2) @ (inverse[..., None] * np.swapaxes(u, -1, -2))
    return wrap(found.astype(array.dtype, copy=False))


@op()
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverses of matrices."""
    return pinv(input, rcond)


@op(*with_tolerances("linalg_matrix_rank", "tol"), casts=True)
def matrix_rank(
    input: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """How many singular values are above the limit.

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
