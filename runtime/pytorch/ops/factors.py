"""LDL factors of symmetric matrices, and what is solved with them.

PyTorch's documentation: torch.linalg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.results import named
from runtime.pytorch.base.shapes import listed, wrap_dim
from runtime.pytorch.calls.schema import OUT, OUTS
from runtime.pytorch.calls.table import op
from runtime.pytorch.compute.matrices import LinAlgError, check_matrices
from runtime.pytorch.tensors.tensor import Tensor, wrap


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
    sytrf = _routine("sytrf", array)
    factors = np.zeros(array.shape, array.dtype)
    pivots = np.zeros(array.shape[:-1], np.int32)
    info = np.zeros(array.shape[:-2], np.int32)
    for index in np.ndindex(*info.shape):
        found, pivots[index], info[index] = sytrf(array[index], lower=1)
        factors[index] = np.tril(found)
    if check_errors and info.any():
        first = info[info != 0].flat[0]
        raise LinAlgError(f"torch.linalg.ldl_factor: the diagonal element {first} of D is zero")
    return wrap(factors), wrap(pivots), wrap(info)


def _routine(name: str, array: Array) -> Any:
    """A routine of LAPACK for the type of an array."""
    from scipy.linalg import lapack  # loaded at the first use

    return getattr(lapack, ("s" if array.dtype == np.float32 else "d") + name)


@op(name="linalg_ldl_solve", more=OUT)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The solutions of equations with symmetric matrices, which `ldl_factor` has factored."""
    array, exchanged, right = check_matrices(LD, "torch.linalg.ldl_solve"), pivots.array, B.array
    wrap_dim(-2, right.ndim)
    _check_ldl(array, exchanged, B, LD)
    sytrs = _routine("sytrs", array)
    batch = np.broadcast_shapes(array.shape[:-2], right.shape[:-2])
    found = np.empty(batch + right.shape[-2:], array.dtype)
    operands = [
        np.broadcast_to(each, batch + each.shape[-kept:])
        for each, kept in ((array, 2), (exchanged, 1), (right, 2))
    ]
    for index in np.ndindex(*batch):
        factors, rows, side = (each[index] for each in operands)
        found[index] = sytrs(factors, rows, side, lower=1)[0] if side.size else side
    return wrap(found)


def _check_ldl(array: Array, pivots: Array, B: Tensor, LD: Tensor) -> None:
    n, right = array.shape[-1], B.array
    if pivots.dtype.kind not in "iu":
        kind = wrap(pivots).dtype.scalar
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected pivots to be integers. Got {kind}")
    if pivots.shape != array.shape[:-1]:
        raise RuntimeError(
            f"torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but "
            f"got pivots with shape {listed(pivots.shape)} instead"
        )
    if right.dtype != array.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {B.dtype.scalar} and A "
            f"of type {LD.dtype.scalar} instead."
        )
    if right.shape[-2] != n:
        raise RuntimeError(
            f"Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is {n} by {n} "
            f"but each b matrix is {right.shape[-2]} by {right.shape[-1]}"
        )
    if not all(
        _are_pivots(row.tolist()) for row in (pivots[at] for at in np.ndindex(pivots.shape[:-1]))
    ):
        raise RuntimeError("torch.linalg.ldl_solve: pivots are not those of ldl_factor")


def _are_pivots(pivots: list[int]) -> bool:
    """Whether LAPACK stays within the matrix: negative pivots come in pairs, for blocks of two."""
    negative = 0
    for pivot in pivots:
        if not 1 <= abs(pivot) <= len(pivots) or (pivot > 0 and negative % 2):
            return False
        negative += pivot < 0
    return negative % 2 == 0
