"""The matrices that a tensor has in its last two dimensions, and what is wrong with one.

Functions of numpy.linalg that iterate have PyTorch's error where they find nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import Category
from th_shell.torch.base.shapes import Shape
from th_shell.torch.tensors.tensor import Tensor


def matrices(tensor: Tensor, name: str) -> Array:
    """Return a tensor's elements, whose last two dimensions are those of matrices.

    Raises RuntimeError where there are fewer dimensions, NotImplementedError for other than
    floating-point numbers.
    """
    array = tensor.array
    check_rank(array, name)
    check_floats(tensor, name)
    check_wide(array, name)
    return array


def check_wide(array: Array, name: str) -> None:
    """Raise NotImplementedError for elements of 16 bits."""
    if array.dtype == np.float16:
        raise NotImplementedError(f"{name}: Low precision dtypes not supported. Got Half")


def check_one_type(prefix: str, end: str = "", **two: Tensor) -> None:
    """Raise RuntimeError where two tensors, by the names that the message has, differ in type."""
    (a, x), (b, y) = two.items()
    if x.dtype is not y.dtype:
        raise RuntimeError(
            f"{prefix}Expected {a} and {b} to have the same dtype, but found {a} of type "
            f"{x.dtype.scalar} and {b} of type {y.dtype.scalar} instead{end}"
        )


def check_rank(array: Array, name: str, what: str = "A") -> None:
    """Raise RuntimeError where there are too few dimensions for matrices."""
    if array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {what} must have at least 2 dimensions.")


def check_floats(tensor: Tensor, name: str) -> None:
    """Raise NotImplementedError for other than floating-point numbers."""
    if tensor.dtype.category < Category.FLOAT:
        raise NotImplementedError(
            f"{name}: Expected a floating point or complex tensor as input. "
            f"Got {tensor.dtype.scalar}"
        )


def check_matrices(tensor: Tensor, name: str) -> Array:
    """Return the elements of square matrices. Raises RuntimeError for others."""
    check_square(tensor.array, f"{name}: ")
    return matrices(tensor, name)


def check_square(array: Array, prefix: str = "") -> None:
    """Raise RuntimeError for matrices that are not square. prefix: the start of the message."""
    if array.ndim >= 2 and array.shape[-1] != array.shape[-2]:
        rows, columns = array.shape[-2:]
        raise RuntimeError(
            f"{prefix}A must be batches of square matrices, but they are {rows} by {columns} "
            f"matrices"
        )


def check_equation(array: Array, sides: Array, left: bool, name: str) -> None:
    """Raise RuntimeError where right sides do not go with square matrices."""
    check_rank(sides, name, "B")
    if sides.shape[-2 if left else -1] != array.shape[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} "
            f"({array.shape[-2]}x{array.shape[-1]} and {sides.shape[-2]}x{sides.shape[-1]})"
        )


def places(batch: Shape, index: int) -> str:
    """Return the position of a matrix in a batch, as messages have it.

    '' where there is no batch.
    """
    return f"(Batch element {index}): " if batch else ""


def routine(name: str, array: Array) -> Any:
    """Return a routine of LAPACK's, or of BLAS's, for the elements of an array."""
    from scipy.linalg import blas, lapack  # loaded at the first use

    full = ("s" if array.dtype == np.float32 else "d") + name
    return getattr(lapack, full, None) or getattr(blas, full)


def for_each(compute: Callable[..., Any], signature: str, *operands: Array) -> Any:
    """Return a function's values for each matrix, and vector, of batches that are broadcast.

    signature: numpy's, of their dimensions. The result has the type of the first operand.
    """
    vectorized = np.vectorize(compute, otypes=[operands[0].dtype], signature=signature)
    return vectorized(*operands)


def first_fault(infos: Array) -> tuple[int, int] | None:
    """Return the first matrix of a batch with a number above 0, and the number."""
    at = np.flatnonzero(infos > 0)
    return (int(at[0]), int(infos.reshape(-1)[at[0]])) if at.size else None


def first_minor(array: Array) -> tuple[int, int]:
    """Return the first matrix that is not positive-definite, and the order of its bad minor."""
    potrf = routine("potrf", array)
    infos = [potrf(matrix, lower=1)[1] for matrix in array.reshape(-1, *array.shape[-2:])]
    return first_fault(np.array(infos)) or (0, 1)


def factored(array: Array) -> tuple[Array, Array, Array]:
    """Return LAPACK's LU factors and pivots of each matrix, and the first pivot that is 0, or 0.

    Rows and pivots are counted from 1.
    """
    getrf = routine("getrf", array)
    batch, rank = array.shape[:-2], min(array.shape[-2:])
    factors, pivots = np.array(array), np.empty((*batch, rank), np.int32)
    zeros = np.zeros(batch, np.int32)
    for at in np.ndindex(batch if rank else (0,)):
        factors[at], pivots[at], zeros[at] = getrf(array[at])
    return factors, pivots + np.int32(1), zeros


class LinAlgError(RuntimeError):
    """A matrix for which a function of torch.linalg has no result."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "torch._C"


def singular(name: str, batch: Shape, index: int, pivot: int) -> LinAlgError:
    """Return the error of a matrix without an inverse, of whose factors an element is 0."""
    return LinAlgError(
        f"{name}: {places(batch, index)}The diagonal element {pivot} is zero, the inversion could "
        f"not be completed because the input matrix is singular."
    )


_FAILED = "The algorithm failed to converge because the input matrix"
_SINGULAR_VALUES = f"linalg.svd: {_FAILED} contained non-finite values."
_EIGENVALUES = f"linalg.eigh: {_FAILED} is ill-conditioned or has too many repeated eigenvalues."


def converged(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call numpy's eigh or eigvalsh, or a function that needs singular values.

    Raises LinAlgError where the algorithm does not converge, as for elements that are nan.
    """
    try:
        return function(*args, **options)
    except np.linalg.LinAlgError:
        is_eigen = function in (np.linalg.eigh, np.linalg.eigvalsh)
        raise LinAlgError(_EIGENVALUES if is_eigen else _SINGULAR_VALUES) from None
