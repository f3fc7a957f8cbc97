"""Inverses, equations, determinants and factors of matrices, also of whole batches.

PyTorch's documentation: torch.linalg.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.results import named
from th_shell.torch.base.shapes import broadcast
from th_shell.torch.calls.schema import OUT, OUTS
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import FLOATS, WIDE_FLOATS, check_types
from th_shell.torch.compute.matrices import (
    LinAlgError,
    check_equation,
    check_heights,
    check_matrices,
    check_one_type,
    check_rank,
    check_square,
    converged,
    factored,
    first_fault,
    first_minor,
    for_each,
    matrices,
    places,
    routine,
    singular,
)
from th_shell.torch.ops.parts import diagonal as diagonal_view
from th_shell.torch.ops.products import multiply
from th_shell.torch.tensors.tensor import Tensor, wrap


@op(f"inverse(Tensor input, *, {OUT})")
@op(name="linalg_inv", more=OUT)
def inv(A: Tensor) -> Tensor:
    """The inverses of matrices. Raises LinAlgError where there is none."""
    array = check_matrices(A, "linalg.inv")
    try:
        with np.errstate(all="ignore"):
            return wrap(np.linalg.inv(array))
    except np.linalg.LinAlgError:
        index, pivot = first_fault(factored(array)[2]) or (0, 1)
        raise singular("linalg.inv", array.shape[:-2], index, pivot) from None


@op(name="linalg_solve", more=OUT)
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solutions X of ``A @ X = B``, or, where left is false, of ``X @ A = B``."""
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
            found = np.linalg.solve(a, sides)
    except np.linalg.LinAlgError:
        index, _ = first_fault(factored(a)[2]) or (0, 1)
        raise LinAlgError(
            f"torch.linalg.solve: {places(a.shape[:-2], index)}The solver failed because the "
            f"input matrix is singular."
        ) from None
    found = found if left else np.ascontiguousarray(np.swapaxes(found, -1, -2))
    return wrap(found[..., 0] if is_vector else found)


@op(name="linalg_solve_triangular", more=OUT)
def solve_triangular(
    input: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """The solutions of equations of which one triangle alone counts."""
    array = check_matrices(input, "linalg.solve_triangular")
    check_equation(array, B.array, left, "linalg.solve_triangular")
    broadcast(array.shape[:-2], B.array.shape[:-2])
    return wrap(_substituted(array, B.array, upper, left, unitriangular))


def _substituted(array: Array, sides: Array, upper: bool, left: bool, unit: bool) -> Array:
    """What substitution by BLAS makes of right sides; zeros on the diagonal make infinities."""
    trsm = routine("trsm", array)

    def solve(triangle: Array, right: Array) -> Any:
        if not right.size:
            return right
        return trsm(1.0, triangle, right, side=not left, lower=not upper, diag=unit)

    found: Array = for_each(solve, "(n,n),(m,k)->(m,k)", array, sides)
    return found


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
    factors, pivots, _ = factored(array)
    exchanged = (pivots != np.arange(1, array.shape[-1] + 1)).sum(-1)
    with np.errstate(all="ignore"):
        found = np.diagonal(factors, axis1=-2, axis2=-1).prod(-1, dtype=array.dtype)
        return wrap(np.asarray(found * np.where(exchanged % 2, -1, 1), array.dtype))


@op(more=OUTS, method=False)
def linalg_slogdet(A: Tensor) -> Any:
    """The signs of determinants and the logarithms of their absolute values."""
    with np.errstate(all="ignore"):
        signs, logarithms = np.linalg.slogdet(check_matrices(A, "linalg.slogdet"))
        signs = signs * ~np.isnan(logarithms)
    return named("linalg_slogdet", wrap(signs), wrap(logarithms))


@op()
def slogdet(input: Tensor) -> Any:
    """The signs of determinants and the logarithms of their absolute values."""
    return named("slogdet", *linalg_slogdet(input))


@op()
def logdet(input: Tensor) -> Tensor:
    """The logarithms of determinants; nan for negative ones."""
    sign, logarithm = linalg_slogdet(input)
    return wrap(np.where(sign.array < 0, np.nan, logarithm.array).astype(input.array.dtype))


def _check_sides(input: Tensor, A: Tensor, name: str) -> None:
    """Raise the errors of an equation whose right sides do not go with the matrices."""
    b, array = input.array, A.array
    check_square(array)
    check_heights(array, b, name)
    check_one_type("", ".", b=input, A=A)
    check_types(f"{name}_cpu", WIDE_FLOATS, b.dtype)
    broadcast(array.shape[:-2], b.shape[:-2])


@op(more=OUTS)
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Any:
    """The solutions of ``A @ X = input``, of which one triangle alone counts; and a copy of A."""
    for name, tensor in (("b", input), ("A", A)):
        if (ndim := tensor.array.ndim) < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it "
                f"has {ndim} dimensions instead"
            )
    _check_sides(input, A, "triangular_solve")
    turned = wrap(np.swapaxes(A.array, -1, -2)) if transpose else A
    upper = upper is not transpose
    found = solve_triangular(turned, input, upper=upper, unitriangular=unitriangular)
    return named("triangular_solve", found, wrap(A.array.copy()))


@op(name="linalg_cholesky", more=OUT)
def cholesky(input: Tensor, *, upper: bool = False) -> Tensor:
    """The triangular factors L of ``L @ L.T``. Raises LinAlgError for what has none."""
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


def _product_of_factors(factor: Array, upper: bool) -> Array:
    lower = np.tril(np.swapaxes(factor, -1, -2) if upper else factor)
    return multiply(lower, np.swapaxes(lower, -1, -2))


@op(more=OUT, casts=True)
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """The solutions X of ``A @ X = input``, where input2 is the factor of A."""
    b, factor = input.array, input2.array
    for name, array in (("b", b), ("u", factor)):
        if array.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {array.ndim} dimensions instead"
            )
    _check_sides(input, input2, "cholesky_solve")
    turned = np.swapaxes(factor, -1, -2)
    lower, higher = (turned, factor) if upper else (factor, turned)
    half = _substituted(lower, b, False, True, False)
    return wrap(_substituted(higher, half, True, True, False))


@op(more=OUT, casts=True)
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """The inverses of matrices whose factors are given. Raises LinAlgError where there is none."""
    array = input.array
    check_rank(array, "cholesky_inverse")
    check_square(array, "cholesky_inverse: ")
    check_types("cholesky_inverse_out_cpu", WIDE_FLOATS, array.dtype)
    zeros = np.argwhere(np.diagonal(array, axis1=-2, axis2=-1) == 0)
    if len(zeros):
        index = (
            np.ravel_multi_index(tuple(zeros[0][:-1]), array.shape[:-2]) if array.ndim > 2 else 0
        )
        raise singular("cholesky_inverse", array.shape[:-2], int(index), int(zeros[0][-1]) + 1)
    return wrap(np.linalg.inv(_product_of_factors(array, upper)))


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


def _check_driver(driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )


@op(name="linalg_svd", more=OUTS)
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """The singular values S, and U and Vh with ``A = U @ diag(S) @ Vh``."""
    _check_driver(driver)
    parts = converged(np.linalg.svd, matrices(A, "linalg.svd"), full_matrices)
    return named("linalg_svd", *map(wrap, parts))


@op(name="linalg_svdvals", more=OUT)
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values, in descending order."""
    _check_driver(driver)
    return wrap(converged(np.linalg.svd, matrices(A, "linalg.svd"), compute_uv=False))


@op(name="svd", more=OUTS)
def old_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """The singular values S, and U and V with ``input = U @ diag(S) @ V.T``."""
    array = matrices(input, "linalg.svd")
    u, s, v = converged(np.linalg.svd, array, full_matrices=not (some and compute_uv))
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


@op(name="linalg_diagonal")
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of matrices."""
    return diagonal_view(A, offset, dim1, dim2)
