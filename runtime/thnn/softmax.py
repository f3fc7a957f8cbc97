"""SoftMax and LogSoftMax: along the first dimension of a frame, which may be one of a batch."""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.tensor import Tensor
from runtime.thnn.checks import check, check_shapes
from runtime.thnn.table import thnn

__all__: list[str] = []

_FORWARD = "THTensor *input, THTensor *output"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *output"


def _frames(tensor: Tensor) -> Array:
    """The elements of a tensor of one to four dimensions as frames x classes x positions.

    Copies those of a tensor that is not contiguous.
    """
    sizes = tensor.sizes if tensor.ndim % 2 == 0 else (1, *tensor.sizes)
    return tensor.flat.reshape(sizes[0], sizes[1], -1)


@thnn("LogSoftMax_updateOutput", _FORWARD)
def log_softmax(input: Tensor, output: Tensor) -> None:
    """output = input - log(sum(exp(input))), of each position's classes."""
    check(1 <= input.ndim <= 4, 2, "1D, 2D, 3D or 4D tensor expected")
    x = _frames(input)
    shifted = x - x.max(axis=1, keepdims=True)
    sums = np.exp(shifted).sum(axis=1, keepdims=True)
    _store(output, input, np.subtract(shifted, np.log(sums, out=sums), out=shifted))


@thnn("LogSoftMax_updateGradInput", _BACKWARD)
def log_softmax_backward(
    input: Tensor, grad_output: Tensor, gradient: Tensor, output: Tensor
) -> None:
    """gradInput = gradOutput - exp(output) * sum(gradOutput), of each position's classes."""
    check_shapes(input=input, gradOutput=grad_output)
    check_shapes(output=output, gradOutput=grad_output)
    check(1 <= output.ndim <= 4, 2, "1D, 2D, 3D or 4D tensor expected")
    g = _frames(grad_output)
    factor = np.exp(_frames(output))
    np.multiply(factor, g.sum(axis=1, keepdims=True), out=factor)
    _store(gradient, output, np.subtract(g, factor, out=factor))


def _store(result: Tensor, like: Tensor, values: Array) -> None:
    result.resize(like.sizes)
    result.array[...] = values.reshape(like.sizes)
