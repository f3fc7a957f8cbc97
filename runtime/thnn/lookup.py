"""LookupTable: the gradient of rows of a matrix, and the limit of their norms."""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Tensor, describe
from runtime.thnn._sums import add_rows
from runtime.thnn.table import thnn


@thnn(
    "LookupTable_accGradParameters",
    "THIndexTensor *input, THTensor *gradOutput, THTensor *gradWeight, THIntegerTensor *count, "
    "THTensor *sorted?, THIndexTensor *indices?, bool scaleGradByFreq, int paddingValue, "
    "accreal scale",
)
def accumulate(
    input: Tensor,
    grad_output: Tensor,
    grad_weight: Tensor,
    count: Tensor,
    _sorted: Tensor | None,
    _indices: Tensor | None,
    scale_by_frequency: bool,
    padding: int,
    scale: float,
) -> None:
    """Add scale times each row of gradOutput to the row of gradWeight that input names.

    scale_by_frequency: divided by how often the row is named; count gets these numbers.
    padding: rows that input names by this number get nothing.
    """
    if not grad_weight.is_contiguous:
        raise TorchError("gradWeight must be contiguous")
    if not input.is_contiguous:
        raise TorchError("input must be contiguous")
    if input.ndim not in (1, 2):
        raise TorchError(
            f"input must be a vector or matrix, but is of shape: {describe(input.sizes)}"
        )
    rows = _checked_rows("inputs need", input, grad_weight)
    weights = grad_weight.array.reshape(grad_weight.sizes[0], -1)
    needed = len(rows) * weights.shape[1]
    if grad_output.nelement < needed:
        raise TorchError(f"gradOutput has too few elements: {describe(grad_output.sizes)}")
    gradients = grad_output.flat[:needed].reshape(len(rows), -1)
    factor = np.full(len(rows), scale, weights.dtype)
    if scale_by_frequency:
        counts = np.bincount(rows, minlength=len(weights))
        count.resize((len(weights),))
        count.array[rows] = counts[rows]
        factor /= counts[rows]
    used = np.flatnonzero(rows != padding - 1)
    add_rows(weights, rows[used], gradients, used, factor[used])


@thnn(
    "LookupTable_renorm",
    "THIndexTensor *idx, THTensor *weight, accreal maxNorm, accreal normType",
)
def renorm(indices: Tensor, weight: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows of weight that idx names down to a norm of max_norm where it is greater.

    Torch7: idx is sorted.
    """
    if not weight.is_contiguous:
        raise TorchError("weight must be contiguous")
    if not indices.is_contiguous:
        raise TorchError("input must be contiguous")
    if indices.ndim != 1:
        raise TorchError("idx must be a vector")
    if norm_type <= 0:
        raise TorchError("non-positive-norm not supported")
    rows = np.unique(_checked_rows("input need", indices, weight))
    indices.array.sort()
    indices.array[: len(rows)] = rows + 1
    values = weight.array.reshape(weight.sizes[0], -1)
    norms = (np.abs(values[rows]) ** norm_type).sum(axis=1) ** (1 / norm_type)
    large = norms > max_norm
    values[rows[large]] *= (max_norm / (norms[large] + 1e-7))[:, None].astype(values.dtype)


def _checked_rows(message: str, input: Tensor, weight: Tensor) -> Array:
    """The numbers of rows of weight, from 0, in the order of input's elements."""
    if not weight.ndim:
        raise ArgError(2, "dimension 1 out of range of 0D tensor")
    count = weight.sizes[0]
    rows = input.flat - 1
    wrong = (rows < 0) | (rows >= count)
    if wrong.any():
        value = int(rows[wrong.argmax()]) + 1
        raise TorchError(
            f"{message} to be in the range 1 <= input < {count + 1}, but got input of value: "
            f"{value}"
        )
    return rows
