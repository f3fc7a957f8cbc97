"""Factorizations of matrices and batches of them: LU, Cholesky, QR, singular values, eigenvalues.

PyTorch's documentation: torch.linalg.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.torch.base.results import named
from th_shell.torch.calls.schema import OUT, OUTS
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import FLOATS, check_types
from th_shell.torch.compute.matrices import (
    LinAlgError,
    check_matrices,
    converged,
    first_minor,
    matrices,
    places,
)
from th_shell.torch.tensors.tensor import Tensor, wrap

# -- symmetric matrices


# -- Cholesky, QR, singular values and eigenvalues


@op(name="linalg_cholesky", more=OUT)
def cholesky(input: Tensor, *, upper: bool = False) -> Tensor:
    """Return the triangular factors L of ``L @ L.T``. Raises LinAlgError for what has none."""
    array = check_matrices(input, "linalg.cholesky")
    if upper:
        array = np.swapaxes(array, -1, -2)
    try:
        factor = np.linalg.cholesky(array)
        if np.isnan(factor).any():
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        index, order = first_minor(array)
        raise LinAlgError(
            f"linalg.cholesky: {places(array.shape[:-2], index)}The factorization could not be "
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


def _check_driver(driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )


@op(name="linalg_svd", more=OUTS)
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """Return the singular values S, and U and Vh with ``A = U @ diag(S) @ Vh``."""
    _check_driver(driver)
    parts = converged(np.linalg.svd, matrices(A, "linalg.svd"), full_matrices)
    return named("linalg_svd", *map(wrap, parts))


@op(name="linalg_svdvals", more=OUT)
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Return the singular values, in descending order."""
    _check_driver(driver)
    return wrap(converged(np.linalg.svd, matrices(A, "linalg.svd"), compute_uv=False))


@op(name="svd", more=OUTS)
def old_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """Return the singular values S, and U and V with ``input = U @ diag(S) @ V.T``."""
    array = matrices(input, "linalg.svd")
    u, s, v = converged(np.linalg.svd, array, full_matrices=not (some and compute_uv))
    if not compute_uv:
        u, v = np.zeros_like(u), np.zeros_like(v)
    return named("svd", wrap(u), wrap(s), wrap(np.swapaxes(v, -1, -2)))


def _of_symmetric(compute: Callable[..., Any], tensor: Tensor, triangle: str) -> Any:
    """Return a numpy function's results for symmetric matrices, of which it reads one triangle."""
    is_square = tensor.array.ndim > 1 and tensor.array.shape[-1] == tensor.array.shape[-2]
    if is_square:
        check_types("linalg_eigh_cpu", FLOATS, tensor.array.dtype)
    array = check_matrices(tensor, "linalg.eigh")
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
