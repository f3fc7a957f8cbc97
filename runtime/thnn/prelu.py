"""PReLU: a slope for negative elements that is learned, one for all or one for each plane.

nOutputPlane is the number of planes, the second dimension of a batch, or the first of a vector; 0
stands for one slope for all.
"""

from __future__ import annotations

import numpy as np

from runtime.compute.thread_pool import LARGE, share
from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Tensor, describe
from runtime.ops._operands import partly_shared
from runtime.thnn._elements import choose, keep
from runtime.thnn.checks import check_counts
from runtime.thnn.table import thnn

__all__: list[str] = []


def _planes(input: Tensor, count: int) -> tuple[int, int, int]:
    """The input's frames, planes, and elements of a plane."""
    if not input.ndim:
        raise TorchError("PReLU: the input is empty")
    if not count:
        return 1, 1, input.nelement
    planes = input.sizes[min(input.ndim - 1, 1)]
    if planes != count:
        raise TorchError(f"Wrong number of input planes. Expected {count} but got {planes}.")
    frames = input.sizes[0] if input.ndim > 1 else 1
    return frames, planes, input.nelement // (frames * planes)


def _slopes(weight: Tensor, planes: int) -> Array:
    """A slope for each plane, as a column."""
    if weight.nelement < planes:
        raise TorchError(
            f"a weight for each of {planes} planes is needed, got {describe(weight.sizes)}"
        )
    return weight.flat[:planes, None].copy()


def _scale(
    result: Tensor, input: Tensor, values: Tensor, slopes: Array, shape: tuple[int, ...]
) -> None:
    """result = values where input is positive, values * slope elsewhere."""
    x, g = input.flat.reshape(shape), values.flat.reshape(shape)
    result.resize(input.sizes)
    out = result.array.reshape(shape) if result.is_contiguous else np.empty(shape, x.dtype)
    if partly_shared(out, [x, g]):
        x, g = x.copy(), g.copy()

    def frame(at: slice) -> None:
        for i in range(at.start, at.stop):
            factor = np.empty_like(x[i])
            choose(x[i] > 0, 1, slopes, factor)
            np.multiply(g[i], factor, out=out[i])

    share(frame, shape[0], large=-(-shape[0] * LARGE // max(input.nelement, 1)))
    if not result.is_contiguous:
        result.array[...] = out.reshape(result.sizes)


@thnn(
    "PReLU_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THIndex_t nOutputPlane",
)
def prelu(input: Tensor, output: Tensor, weight: Tensor, planes: int) -> None:
    """output = input where it is positive, input * weight elsewhere."""
    shape = _planes(input, planes)
    _scale(output, input, input, _slopes(weight, shape[1]), shape)


@thnn(
    "PReLU_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
    "THIndex_t nOutputPlane",
)
def prelu_backward(
    input: Tensor, grad_output: Tensor, gradient: Tensor, weight: Tensor, planes: int
) -> None:
    """gradInput = gradOutput where input is positive, gradOutput * weight elsewhere."""
    check_counts(input=input, gradOutput=grad_output)
    shape = _planes(input, planes)
    _scale(gradient, input, grad_output, _slopes(weight, shape[1]), shape)


@thnn(
    "PReLU_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput?, THTensor *weight?, "
    "THTensor *gradWeight, THTensor *gradWeightBuf?, THTensor *gradWeightBuf2?, "
    "THIndex_t nOutputPlane, accreal scale",
)
def prelu_accumulate(
    input: Tensor,
    grad_output: Tensor,
    _gradient: Tensor | None,
    _weight: Tensor | None,
    grad_weight: Tensor,
    _buffer: Tensor | None,
    _buffer2: Tensor | None,
    planes: int,
    scale: float,
) -> None:
    """Add scale * input * gradOutput of the elements that are not positive to gradWeight."""
    check_counts(input=input, gradOutput=grad_output)
    if planes and not grad_weight.is_contiguous:
        raise ArgError(6, "gradWeight needs to be contiguous")
    shape = _planes(input, planes)
    sums = np.zeros(shape[1])
    if grad_weight.nelement < shape[1]:
        raise TorchError(
            f"a weight for each of {shape[1]} planes is needed, got {describe(grad_weight.sizes)}"
        )
    x, g = input.flat.reshape(shape), grad_output.flat.reshape(shape)
    for frame, gradients in zip(x, g, strict=True):
        products = frame * gradients
        keep(frame <= 0, products, products)
        sums += products.sum(axis=1, dtype=np.float64)
    sums *= cast_scalar(scale, input.dtype)
    grad_weight.array.reshape(-1)[: shape[1]] += sums.astype(x.dtype)
