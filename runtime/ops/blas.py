"""Manual, Math Functions: BLAS operations."""

from __future__ import annotations

import numpy as np

from runtime.dispatch import op
from runtime.errors import ArgError, TorchError
from runtime.ops._operands import check_counts
from runtime.tensor import Tensor, describe


@op("dot", method="T T", function="T T")
def dot(a: Tensor, b: Tensor) -> float:
    """The sum of the products of the elements, in order."""
    if a.sizes != b.sizes:
        check_counts(tensor=a, src=b)
    x, y = a.flat, b.flat
    if not a.dtype.is_float:
        x, y = x.astype(np.int64), y.astype(np.int64)
    return np.dot(x, y).item()  # type: ignore[no-any-return]


@op("mv", method="*T* T~2D T~1D", function="[*T*] T~2D T~1D")
def mv(r: Tensor, mat: Tensor, vec: Tensor) -> None:
    """r = mat * vec."""
    if mat.sizes[1] != vec.sizes[0]:
        raise TorchError(f"size mismatch, {describe(mat.sizes)}, {describe(vec.sizes)}")
    result = np.matmul(mat.array, vec.array)
    r.resize((mat.sizes[0],))
    r.array[...] = result


@op("mm", method="*T* T~2D T~2D", function="[*T*] T~2D T~2D")
def mm(r: Tensor, m1: Tensor, m2: Tensor) -> None:
    """r = m1 * m2."""
    if m1.sizes[1] != m2.sizes[0]:
        raise TorchError(f"size mismatch, m1: {describe(m1.sizes)}, m2: {describe(m2.sizes)}")
    result = np.matmul(m1.array, m2.array)
    r.resize((m1.sizes[0], m2.sizes[1]))
    r.array[...] = result


def multiply(a: Tensor, b: Tensor) -> Tensor | float:
    """The product that `a * b` means: dot, matrix-vector or matrix-matrix."""
    result = type(a)()
    if (a.ndim, b.ndim) == (1, 1):
        return dot(a, b)
    if (a.ndim, b.ndim) == (2, 1):
        mv(result, a, b)
    elif (a.ndim, b.ndim) == (2, 2):
        mm(result, a, b)
    else:
        message = f"multiplication between {a.ndim}D and {b.ndim}D tensors not yet supported"
        raise TorchError(message)
    return result


@op("trace", method="T", function="T")
def trace(t: Tensor) -> float:
    """The sum of the diagonal."""
    if t.ndim != 2:
        raise ArgError(1, "expected a matrix")
    return np.trace(t.array, dtype=np.float64 if t.dtype.is_float else np.int64).item()  # type: ignore[no-any-return]
