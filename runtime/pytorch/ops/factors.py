"""Matrices: inverses, equations, determinants, factors and eigenvalues, also of whole batches.

PyTorch's documentation: torch.linalg. numpy's LAPACK computes what has batches, scipy's the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base import results
from runtime.pytorch.base.dtypes import Category, bool_
from runtime.pytorch.base.quiet import quietly
from runtime.pytorch.base.shapes import Shape, wrap_dim
from runtime.pytorch.calls.kinds import kind_of
from runtime.pytorch.calls.table import op
from runtime.pytorch.compute.convergence import LinAlgError, converged
from runtime.pytorch.compute.promotion import result_type
from runtime.pytorch.ops.norms import vector_norm_of
from runtime.pytorch.ops.products import check_scalars, multiply
from runtime.pytorch.tensors.tensor import Tensor, wrap

__all__ = ["check_matrices", "first_minor", "matrices", "zero_pivot"]

_OUT = "Tensor out = None"
_OUTS = "tuple of Tensors out = None"


def matrices(tensor: Tensor, name: str) -> Array:
    """A tensor's elements, whose last two dimensions are those of matrices.

    Raises RuntimeError where there are fewer dimensions, NotImplementedError for other than
    floating-point numbers.
    """
    array = tensor.array
    if array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if tensor.dtype.category < Category.FLOAT:
        raise NotImplementedError(
            f"{name}: Expected a floating point or complex tensor as input. "
            f"Got {tensor.dtype.scalar}"
        )
    if array.dtype == np.float16:
        raise NotImplementedError(f"{name}: Low precision dtypes not supported. Got Half")
    return array


def check_matrices(tensor: Tensor, name: str) -> Array:
    """The elements of square matrices. Raises RuntimeError for others."""
    array = tensor.array
    if array.ndim >= 2 and array.shape[-1] != array.shape[-2]:
        rows, columns = array.shape[-2:]
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} "
            f"matrices"
        )
    return matrices(tensor, name)


def _named(name: str, *parts: Any) -> Any:
    return tuple.__new__(results.RESULTS[name], parts)


def _places(batch: Shape, index: int) -> str:
    """Where in a batch a matrix is, as messages have it."""
    return f"(Batch element {index}): " if batch else ""


def zero_pivot(array: Array) -> tuple[int, int] | None:
    """The first matrix without an inverse, and which pivot of it is 0, counted from 1."""
    from scipy.linalg import lapack  # loaded at the first use

    for index, matrix in enumerate(array.reshape(-1, *array.shape[-2:])):
        getrf = lapack.sgetrf if matrix.dtype == np.float32 else lapack.dgetrf
        info = int(getrf(matrix)[2])
        if info > 0:
            return index, info
    return None


# -- inverses and equations


@op(f"linalg_inv(Tensor A, *, {_OUT})", method=False)
def inv(A: Tensor) -> Tensor:
    """The inverses of matrices. Raises LinAlgError where there is none."""
    array = check_matrices(A, "linalg.inv")
    try:
        with np.errstate(all="ignore"):
            return wrap(np.linalg.inv(array))
    except np.linalg.LinAlgError:
        index, pivot = zero_pivot(array) or (0, 1)
        raise LinAlgError(
            f"linalg.inv: {_places(array.shape[:-2], index)}The diagonal element {pivot} is zero, "
            f"the inversion could not be completed because the input matrix is singular."
        ) from None


@op(f"inverse(Tensor input, *, {_OUT})")
def inverse(input: Tensor) -> Tensor:
    """The inverses of matrices. Raises LinAlgError where there is none."""
    return inv(input)


@op(f"linalg_solve(Tensor A, Tensor B, *, bool left = True, {_OUT})", method=False)
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
            f"torch.linalg.solve: {_places(a.shape[:-2], index)}The solver failed because the "
            f"input matrix is singular."
        ) from None
    if is_vector:
        return wrap(found[..., 0])
    return wrap(found if left else np.ascontiguousarray(np.swapaxes(found, -1, -2)))


@op(
    f"linalg_solve_triangular(Tensor input, Tensor B, *, bool upper, bool left = True, "
    f"bool unitriangular = False, {_OUT})",
    method=False,
)
def solve_triangular(
    input: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """The solutions of equations of which one triangle alone counts."""
    array = check_matrices(input, "linalg.solve_triangular")
    triangle = np.triu(array) if upper else np.tril(array)
    if unitriangular:
        index = np.arange(array.shape[-1])
        triangle[..., index, index] = 1
    b = B.array
    with np.errstate(all="ignore"):
        if left:
            return wrap(np.linalg.solve(triangle, b))
        turned = np.linalg.solve(np.swapaxes(triangle, -1, -2), np.swapaxes(b, -1, -2))
        return wrap(np.swapaxes(turned, -1, -2))


@op("linalg_lstsq(Tensor input, Tensor b, float rcond = None, *, str driver = None)", method=False)
def lstsq(input: Tensor, b: Tensor, rcond: float | None = None, *, driver: Any = None) -> Any:
    """The solutions of least squares of ``input @ X = b``."""
    a, right = matrices(input, "linalg.lstsq"), b.array
    if right.shape[0] != a.shape[-2] and a.ndim == 2:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    if a.ndim != 2:
        batch = np.broadcast_shapes(a.shape[:-2], right.shape[:-2])
        systems = np.broadcast_to(a, batch + a.shape[-2:]).reshape(-1, *a.shape[-2:])
        sides = np.broadcast_to(right, batch + right.shape[-2:]).reshape(-1, *right.shape[-2:])
        parts = [np.linalg.lstsq(x, y, rcond)[0] for x, y in zip(systems, sides, strict=True)]
        found = np.stack(parts).reshape(*batch, a.shape[-1], right.shape[-1])
        rank = np.full(batch, min(a.shape[-2:]))
    else:
        found, _, number, _ = np.linalg.lstsq(a, right, rcond)
        rank = np.asarray(int(number))
    rows, columns = a.shape[-2:]
    rest = np.empty(0, a.dtype)
    if rows > columns and rank == columns and right.ndim == 2:
        rest = ((multiply(a, found) - right) ** 2).sum(-2)
    empty = wrap(np.empty(0, a.dtype))
    return _named("linalg_lstsq", wrap(found), wrap(rest), wrap(np.asarray(rank)), empty)


@op(
    f"linalg_pinv(Tensor input, *, float atol = None, float rtol = None, "
    f"bool hermitian = False, {_OUT})",
    method=False,
)
@op(f"linalg_pinv(Tensor input, float rtol, bool hermitian = False, *, {_OUT})", method=False)
def pinv(
    input: Tensor, rtol: Any = None, hermitian: bool = False, *, atol: float | None = None
) -> Tensor:
    """The pseudo-inverses of matrices (Moore and Penrose's)."""
    array = matrices(input, "linalg.pinv")
    if rtol is None:
        rtol = max(array.shape[-2:]) * np.finfo(array.dtype).eps if atol is None else 0.0
    return wrap(converged(np.linalg.pinv, array, rtol, hermitian).astype(array.dtype, copy=False))


@op("pinverse(Tensor input, float rcond = 1e-15)")
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverses of matrices."""
    return wrap(converged(np.linalg.pinv, matrices(input, "linalg.pinv"), rcond))


# -- determinants


@op(f"linalg_det(Tensor A, *, {_OUT})", method=False)
def det(A: Tensor) -> Tensor:
    """The determinants of matrices: products of the pivots of their LU factors.

    As in PyTorch the factors are those of the transposed matrix where its rows lie in memory one
    after another. The last digits depend on that, and numpy's go by way of logarithms.
    """
    array = check_matrices(A, "linalg.det")
    if array.flags.c_contiguous:
        array = np.swapaxes(array, -1, -2)
    factors, pivots = _factored(array)
    exchanged = (pivots != np.arange(1, array.shape[-1] + 1)).sum(-1)
    with np.errstate(all="ignore"):
        found = np.diagonal(factors, axis1=-2, axis2=-1).prod(-1, dtype=array.dtype)
        return wrap(np.asarray(found * np.where(exchanged % 2, -1, 1), array.dtype))


@op("det(Tensor input)")
def old_det(input: Tensor) -> Tensor:
    """The determinants of matrices."""
    return det(input)


def _signs(input: Tensor, name: str) -> tuple[Tensor, Tensor]:
    with np.errstate(all="ignore"):
        sign, logarithm = np.linalg.slogdet(check_matrices(input, name))
    return wrap(sign), wrap(logarithm)


@op(f"linalg_slogdet(Tensor A, *, {_OUTS})", method=False)
def linalg_slogdet(A: Tensor) -> Any:
    """The signs of determinants and the logarithms of their absolute values."""
    return _named("linalg_slogdet", *_signs(A, "linalg.slogdet"))


@op("slogdet(Tensor input)")
def slogdet(input: Tensor) -> Any:
    """The signs of determinants and the logarithms of their absolute values."""
    return _named("slogdet", *_signs(input, "linalg.slogdet"))


@op("logdet(Tensor input)")
def logdet(input: Tensor) -> Tensor:
    """The logarithms of determinants; nan for negative ones."""
    sign, logarithm = _signs(input, "linalg.slogdet")
    return wrap(np.where(sign.array < 0, np.nan, logarithm.array).astype(input.array.dtype))


# -- factors


@op(f"linalg_cholesky(Tensor input, *, bool upper = False, {_OUT})", method=False)
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
            f"linalg.cholesky: {_places(array.shape[:-2], index)}The factorization could not be "
            f"completed because the input is not positive-definite (the leading minor of order "
            f"{order} is not positive-definite)."
        ) from None
    return wrap(np.swapaxes(factor, -1, -2) if upper else factor)


def first_minor(array: Array) -> tuple[int, int]:
    """The first matrix that is not positive-definite, and the order of the minor that tells so."""
    from scipy.linalg import lapack  # loaded at the first use

    for index, matrix in enumerate(array.reshape(-1, *array.shape[-2:])):
        potrf = lapack.spotrf if matrix.dtype == np.float32 else lapack.dpotrf
        info = int(potrf(matrix, lower=1)[1])
        if info > 0:
            return index, info
    return 0, 1


@op(f"cholesky_solve(Tensor input, Tensor input2, bool upper = False, *, {_OUT})")
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """The solutions X of ``A @ X = input``, where input2 is the factor of A."""
    factor = input2.array
    whole = np.swapaxes(factor, -1, -2) if upper else factor
    lower = np.tril(whole)
    return wrap(np.linalg.solve(multiply(lower, np.swapaxes(lower, -1, -2)), input.array))


@op(f"cholesky_inverse(Tensor input, bool upper = False, *, {_OUT})")
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """The inverses of matrices whose factors are given."""
    whole = np.swapaxes(input.array, -1, -2) if upper else input.array
    lower = np.tril(whole)
    return wrap(np.linalg.inv(multiply(lower, np.swapaxes(lower, -1, -2))))


@op(f"linalg_qr(Tensor A, str mode = reduced, *, {_OUTS})", method=False)
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """The factors Q, whose columns are orthonormal, and R, which is an upper triangle."""
    array = matrices(A, "linalg.qr")
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', "
            f"or 'complete'"
        )
    if mode == "r":
        return _named("linalg_qr", wrap(np.empty(0, array.dtype)), wrap(np.linalg.qr(array, "r")))
    q, r = np.linalg.qr(array, "complete" if mode == "complete" else "reduced")
    return _named("linalg_qr", wrap(q), wrap(r))


@op(f"linalg_svd(Tensor A, bool full_matrices = True, *, str driver = None, {_OUTS})", method=False)
def svd(A: Tensor, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """The singular values S, and U and Vh with ``A = U @ diag(S) @ Vh``."""
    parts = converged(np.linalg.svd, matrices(A, "linalg.svd"), full_matrices)
    return _named("linalg_svd", *map(wrap, parts))


@op(f"linalg_svdvals(Tensor A, *, str driver = None, {_OUT})", method=False)
def svdvals(A: Tensor, *, driver: Any = None) -> Tensor:
    """The singular values, in descending order."""
    return wrap(converged(np.linalg.svd, matrices(A, "linalg.svd"), compute_uv=False))


@op(f"svd(Tensor input, bool some = True, bool compute_uv = True, *, {_OUTS})")
def old_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """The singular values S, and U and V with ``input = U @ diag(S) @ V.T``."""
    array = matrices(input, "linalg.svd")
    u, s, v = converged(np.linalg.svd, array, full_matrices=not some)
    if not compute_uv:
        u, v = np.zeros_like(u), np.zeros_like(v)
    return _named("svd", wrap(u), wrap(s), wrap(np.swapaxes(v, -1, -2)))


def _check_triangle(UPLO: str) -> Any:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


def _symmetric(tensor: Tensor) -> Array:
    kind = tensor.dtype
    is_square = tensor.array.ndim > 1 and tensor.array.shape[-1] == tensor.array.shape[-2]
    if is_square and kind.category < Category.FLOAT:
        raise NotImplementedError(f"\"linalg_eigh_cpu\" not implemented for '{kind.scalar}'")
    return check_matrices(tensor, "linalg.eigh")


@op(f"linalg_eigh(Tensor input, str UPLO = L, *, {_OUTS})", method=False)
def eigh(input: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues, ascending, and eigenvectors of symmetric matrices, by one triangle."""
    array = _symmetric(input)
    values, vectors = converged(np.linalg.eigh, array, _check_triangle(UPLO))
    return _named("linalg_eigh", wrap(values), wrap(vectors))


@op(f"linalg_eigvalsh(Tensor input, str UPLO = L, *, {_OUT})", method=False)
def eigvalsh(input: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices, ascending, by one triangle."""
    array = _symmetric(input)
    return wrap(converged(np.linalg.eigvalsh, array, _check_triangle(UPLO)))


def _missing_complex(A: Tensor) -> Any:
    """Eigenvalues of any matrix are complex numbers."""
    raise NotImplementedError("complex numbers are not provided here: use torch.linalg.eigh")


op(f"linalg_eig(Tensor A, *, {_OUTS})", method=False)(_missing_complex)
op(f"linalg_eigvals(Tensor A, *, {_OUT})", method=False)(_missing_complex)


def _factored(array: Array) -> tuple[Array, Array]:
    """LAPACK's LU factors and pivots, counted from 1, of each matrix."""
    from scipy.linalg import lapack  # loaded at the first use

    getrf = lapack.sgetrf if array.dtype == np.float32 else lapack.dgetrf
    flat = array.reshape(-1, *array.shape[-2:])
    parts = [getrf(matrix)[:2] for matrix in flat]
    rank = min(array.shape[-2:])
    factors = np.array([p[0] for p in parts], array.dtype).reshape(array.shape)
    pivots = np.array([p[1] for p in parts], np.int32).reshape(*array.shape[:-2], rank)
    return factors, pivots + np.int32(1)


@op(f"linalg_lu_factor(Tensor A, *, bool pivot = True, {_OUTS})", method=False)
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """Both triangular factors in one matrix, and the rows that were exchanged."""
    factors, pivots = _factored(matrices(A, "linalg.lu_factor"))
    return _named("linalg_lu_factor", wrap(factors), wrap(pivots))


@op(f"linalg_lu(Tensor A, *, bool pivot = True, {_OUTS})", method=False)
def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A permutation P, and triangles L and U, with ``A = P @ L @ U``."""
    array = matrices(A, "linalg.lu")
    factors, pivots = _factored(array)
    rows, columns = array.shape[-2:]
    rank = min(rows, columns)
    lower = np.tril(factors[..., :rank], -1)
    index = np.arange(rank)
    lower[..., index, index] = 1
    flat = [_permutation(p, rows) for p in pivots.reshape(-1, rank)]
    exchanged = np.array(flat, array.dtype).reshape(*array.shape[:-2], rows, rows)
    return _named("linalg_lu", wrap(exchanged), wrap(lower), wrap(np.triu(factors[..., :rank, :])))


def _permutation(pivots: Array, rows: int) -> Array:
    order = list(range(rows))
    for at, other in enumerate(pivots.tolist()):
        order[at], order[other - 1] = order[other - 1], order[at]
    found = np.zeros((rows, rows))
    found[order, np.arange(rows)] = 1
    return found


# -- powers, and how large a matrix is


@op(f"linalg_matrix_power(Tensor input, int n, *, {_OUT})", method=False)
@op(f"matrix_power(Tensor input, int n, *, {_OUT})")
def matrix_power(input: Tensor, n: int) -> Tensor:
    """The product of n of the same matrices; of their inverses for negative n."""
    array = input.array
    if array.ndim >= 2 and array.shape[-1] != array.shape[-2]:
        check_matrices(input, "linalg.matrix_power")
    base = inv(input).array if n < 0 else array
    with np.errstate(all="ignore"):
        return wrap(np.linalg.matrix_power(base, abs(n)))


@op("linalg_matrix_exp(Tensor input)", method=False)
@op("matrix_exp(Tensor input)")
def matrix_exp(input: Tensor) -> Tensor:
    """The exponential function of matrices."""
    from scipy.linalg import expm  # loaded at the first use

    array = check_matrices(input, "linalg.matrix_exp")
    return wrap(np.asarray(expm(array), array.dtype))


@op(
    f"linalg_matrix_rank(Tensor input, *, float atol = None, float rtol = None, "
    f"bool hermitian = False, {_OUT})",
    f"linalg_matrix_rank(Tensor input, float tol, bool hermitian = False, *, {_OUT})",
    method=False,
)
def matrix_rank(
    input: Tensor,
    tol: float | None = None,
    hermitian: bool = False,
    *,
    atol: float | None = None,
    rtol: float | None = None,
) -> Tensor:
    """How many singular values are above the limit."""
    array = matrices(input, "linalg.matrix_rank")
    values = np.abs(converged(np.linalg.svd, array, compute_uv=False))
    least = tol if tol is not None else atol or 0.0
    if rtol is None and tol is None and atol is None:
        rtol = max(array.shape[-2:]) * float(np.finfo(array.dtype).eps)
    largest = values.max(-1, keepdims=True) if values.size else values
    return wrap(np.asarray((values > np.maximum(least, (rtol or 0.0) * largest)).sum(-1)))


@op(
    f"linalg_cond(Tensor input, Number p = None, *, {_OUT})",
    f"linalg_cond(Tensor input, str p, *, {_OUT})",
    method=False,
)
def cond(input: Tensor, p: Any = None) -> Tensor:
    """How much errors in the right side of an equation may grow in its solution."""
    array = matrices(input, "linalg.cond")
    return wrap(np.asarray(converged(np.linalg.cond, array, p), array.dtype))


def multi_dot(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications."""
    arrays = [tensor.array for tensor in tensors]
    if len(arrays) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(arrays)}")
    return wrap(np.linalg.multi_dot(arrays))


def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications."""
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    return matrices[0] if len(matrices) == 1 else multi_dot(matrices)


@op(f"linalg_vecdot(Tensor x, Tensor y, *, int dim = -1, {_OUT})", method=False)
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of products along a dimension."""
    return wrap(np.asarray((x.array * y.array).sum(dim)))


@op(f"linalg_cross(Tensor input, Tensor other, *, int dim = -1, {_OUT})", method=False)
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross products of vectors of three elements."""
    x, y = input.array, other.array
    if x.ndim != y.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    wrap_dim(dim, x.ndim)
    if x.shape[dim] != 3 or y.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[dim]} and "
            f"{y.shape[dim]}"
        )
    if input.dtype is bool_:
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    check_scalars(input, other)
    return wrap(np.cross(x, y, axis=dim))


@op(f"cross(Tensor input, Tensor other, int dim = None, *, {_OUT})")
def old_cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The cross products of vectors of three elements, along the first such dimension."""
    if dim is None:
        dim = next((d for d, n in enumerate(input.array.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return cross(input, other, dim=dim)


@op(
    "triangular_solve(Tensor input, Tensor A, bool upper = True, bool transpose = False, "
    f"bool unitriangular = False, *, {_OUTS})"
)
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
    return _named("triangular_solve", found, wrap(A.array.copy()))


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = None) -> Tensor:
    """The distances between all rows of two matrices, by the norm of an order."""
    for position, (name, value) in enumerate((("x1", x1), ("x2", x2))):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"cdist(): argument '{name}' (position {position + 1}) must be Tensor, not "
                f"{kind_of(value)}"
            )
    a, b = x1.array, x2.array
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}"
        )
    differences = a[..., :, None, :] - b[..., None, :, :]
    return wrap(vector_norm_of(differences, p, (-1,), False))


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with others along its diagonal."""
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"expected Tensor as element {position} in argument 0, but got "
                f"{type(tensor).__name__}"
            )
        if tensor.array.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{position} has {tensor.array.ndim} dimensions"
            )
    arrays = [np.atleast_2d(tensor.array) for tensor in tensors] or [np.empty((1, 0), np.float32)]
    kind = result_type(*tensors).numpy if tensors else arrays[0].dtype
    found = np.zeros([sum(n) for n in zip(*(a.shape for a in arrays), strict=True)], kind)
    row = column = 0
    for array in arrays:
        rows, columns = array.shape
        found[row : row + rows, column : column + columns] = array
        row, column = row + rows, column + columns
    return wrap(found)


@op("vander(Tensor x, int N = None, bool increasing = False)", method=False)
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """A matrix of powers of a vector's elements."""
    if x.array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    if N is not None and N < 0:
        raise RuntimeError("N must be non-negative.")
    values = x.array if x.array.dtype.kind == "f" else x.array.astype(np.int64)
    count = len(values) if N is None else N
    powers = np.ones((len(values), count), values.dtype)
    powers[:, 1:] = values[:, None]
    powers = quietly.run(np.multiply.accumulate, powers, axis=1)
    return wrap(powers if increasing else np.ascontiguousarray(powers[:, ::-1]))
