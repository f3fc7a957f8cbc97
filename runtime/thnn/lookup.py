"""LookupTable: the gradient of rows of a matrix, and the limit of their norms."""

from __future__ import annotations

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor, describe
from th_shell.runtime.thnn._jobs import blas, check_range, is_recording, refuse_recording, run
from th_shell.runtime.thnn.table import Call, thnn

_LONG = 64  # elements of rows that are worth cutting


@thnn(
    "LookupTable_accGradParameters",
    "THIndexTensor *input, gradOutput, gradWeight, THIntegerTensor *count, sorted?, "
    "THIndexTensor *indices?, bool scaleGradByFreq, int paddingValue, accreal scale",
)
def accumulate(call: Call) -> None:
    """Add scale times each row of gradOutput to the row of gradWeight that input names.

    scale_by_frequency: divided by how often the row is named; count gets these numbers.
    padding: rows that input names by this number get nothing.
    """
    weight, count, length = call.gradWeight, call.input.nelement, _check_gradients(call)
    factors: Array | int = 0
    if not is_recording():
        rows = _checked_rows("inputs need", call.input, weight)
        if call.scaleGradByFreq:
            factors = call.scale / _frequencies(call, rows)
    elif call.scaleGradByFreq:
        refuse_recording("how often rows are named depends on elements")
    at, g = call.read(call.input), call.read(call.gradOutput)
    if is_recording():
        check_range(at, most=weight.sizes[0])
    gradients = call.change(weight)
    run(
        "nn_add_to_named",
        length,
        work=length * count // 10 if length >= _LONG else 0,
        run=blas("axpy", g.itemsize),
        at=at,
        grads=g,
        gradients=gradients,
        scale=call.scale,
        factors=factors,
        count=count,
        rows=weight.sizes[0],
        length=length,
        padding=call.paddingValue,
    )


def _check_gradients(call: Call) -> int:
    """The length of a row."""
    weight, input = call.gradWeight, call.input
    if not weight.is_contiguous:
        raise TorchError("gradWeight must be contiguous")
    if not input.is_contiguous:
        raise TorchError("input must be contiguous")
    if input.ndim not in (1, 2):
        raise TorchError(
            f"input must be a vector or matrix, but is of shape: {describe(input.sizes)}"
        )
    if not weight.ndim:
        raise ArgError(2, "dimension 1 out of range of 0D tensor")
    length: int = weight.nelement // weight.sizes[0]
    if call.gradOutput.nelement < input.nelement * length:
        raise TorchError(f"gradOutput has too few elements: {describe(call.gradOutput.sizes)}")
    return length


def _frequencies(call: Call, rows: Array) -> Array:
    """Count how often each of the rows is named; `count` gets the numbers of all rows."""
    counts = np.bincount(rows, minlength=call.gradWeight.sizes[0])
    call.count.resize((len(counts),))
    call.count.array[rows] = counts[rows]
    return counts[rows]


@thnn(
    "LookupTable_renorm",
    "THIndexTensor *idx, weight, accreal maxNorm, accreal normType",
    repeats=False,
)
def renorm(call: Call) -> None:
    """Scale the rows of weight that idx names down to a norm of max_norm where it is greater.

    Torch7: idx is sorted.
    """
    if not call.weight.is_contiguous:
        raise TorchError("weight must be contiguous")
    if not call.idx.is_contiguous:
        raise TorchError("input must be contiguous")
    if call.idx.ndim != 1:
        raise TorchError("idx must be a vector")
    if call.normType <= 0:
        raise TorchError("non-positive-norm not supported")
    rows = np.unique(_checked_rows("input need", call.idx, call.weight))
    call.idx.array.sort()
    call.idx.array[: len(rows)] = rows + 1
    values = call.weight.array.reshape(call.weight.sizes[0], -1)
    norms = (np.abs(values[rows]) ** call.normType).sum(axis=1) ** (1 / call.normType)
    large = norms > call.maxNorm
    values[rows[large]] *= (call.maxNorm / (norms[large] + 1e-7))[:, None].astype(values.dtype)


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
