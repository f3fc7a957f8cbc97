"""Least squares by LAPACK's four routines. PyTorch's documentation: torch.linalg.lstsq."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.results import named
from runtime.pytorch.base.shapes import broadcast
from runtime.pytorch.calls.schema import OUTS
from runtime.pytorch.calls.table import op
from runtime.pytorch.compute.matrices import LinAlgError, places
from runtime.pytorch.ops.products import multiply
from runtime.pytorch.tensors.tensor import Tensor, wrap

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
    if a.ndim < 2:
        raise RuntimeError(f"{_NAME}: input must have at least 2 dimensions.")
    if not right.ndim:
        raise RuntimeError(f"{_NAME}: other must have at least 1 dimension.")
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
    from scipy.linalg import lapack  # loaded at the first use

    rows, columns = a.shape
    padded = np.zeros((max(rows, columns), b.shape[-1]), a.dtype)
    padded[:rows] = b
    gels = lapack.sgels if a.dtype == np.float32 else lapack.dgels
    found: Array
    _, found, info = gels(a, padded)
    if not a.any():
        return np.zeros_like(found[:columns])
    if info:
        raise LinAlgError(
            f"{_NAME}: {place}The least squares solution could not be computed because the input "
            f"matrix does not have full rank (error code: {info})."
        )
    return found[:columns]
