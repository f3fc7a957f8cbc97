"""PReLU: a slope for negative elements that is learned, one for all or one for each plane.

nOutputPlane is the number of planes, the second dimension of a batch, or the first of a vector; 0
stands for one slope for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.compute.thread_pool import LARGE, share
from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Tensor, describe
from runtime.ops._operands import elementwise, partly_shared
from runtime.thnn._elements import choose, keep, total
from runtime.thnn.checks import check_counts
from runtime.thnn.table import Call, thnn


def _planes(input: Tensor, count: int) -> tuple[int, int, int]:
    """The input's frames, planes, and elements of a plane."""
    if not input.ndim:
        raise TorchError("PReLU: the input is empty")
    planes = input.sizes[min(input.ndim - 1, 1)]
    if planes != count:
        raise TorchError(f"Wrong number of input planes. Expected {count} but got {planes}.")
    frames = input.sizes[0] if input.ndim > 1 else 1
    return frames, planes, input.nelement // (frames * planes)


def _slopes(weight: Tensor, count: int) -> Array:
    """The slopes as an array that no program can write to."""
    if weight.nelement < count:
        raise TorchError(
            f"{count} weights are needed, but weight is of shape: {describe(weight.sizes)}"
        )
    return weight.flat[:count].copy()


def _scale_each(x: Array, g: Array, slopes: Any, out: Array) -> None:
    """out = g where x is positive, g * slope elsewhere."""
    factor = np.empty_like(x)
    choose(x > 0, 1, slopes, factor)
    np.multiply(g, factor, out=out)


def _scale(result: Tensor, input: Tensor, values: Tensor, weight: Tensor, count: int) -> None:
    """result = values where input is positive, values * slope elsewhere."""
    if count == 0:
        slope = _slopes(weight, 1)[0]
        result.resize(input.sizes)
        elementwise(result, lambda x, g, out: _scale_each(x, g, slope, out), input, values)
        return
    shape = _planes(input, count)
    slopes = _slopes(weight, count)[:, None]
    x, g = input.flat.reshape(shape), values.flat.reshape(shape)
    result.resize(input.sizes)
    out = result.flat.reshape(shape)
    if partly_shared(out, [x, g]):
        x, g = x.copy(), g.copy()

    def some(at: slice) -> None:
        for i in range(at.start, at.stop):
            _scale_each(x[i], g[i], slopes, out[i])

    share(some, shape[0], large=-(-shape[0] * LARGE // input.nelement))
    if not np.may_share_memory(out, result.array):
        result.array[...] = out.reshape(result.sizes)


@thnn(
    "PReLU_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THIndex_t nOutputPlane",
)
def prelu(call: Call) -> None:
    """output = input where it is positive, input * weight elsewhere."""
    _scale(call.output, call.input, call.input, call.weight, call.nOutputPlane)


@thnn(
    "PReLU_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
    "THIndex_t nOutputPlane",
)
def prelu_backward(call: Call) -> None:
    """gradInput = gradOutput where input is positive, gradOutput * weight elsewhere."""
    check_counts(input=call.input, gradOutput=call.gradOutput)
    _scale(call.gradInput, call.input, call.gradOutput, call.weight, call.nOutputPlane)


@thnn(
    "PReLU_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput?, THTensor *weight?, "
    "THTensor *gradWeight, THTensor *gradWeightBuf?, THTensor *gradWeightBuf2?, "
    "THIndex_t nOutputPlane, accreal scale",
)
def prelu_accumulate(call: Call) -> None:
    """Add scale * input * gradOutput of the elements that are not positive to gradWeight."""
    check_counts(input=call.input, gradOutput=call.gradOutput)
    if call.nOutputPlane and not call.gradWeight.is_contiguous:
        raise ArgError(6, "gradWeight needs to be contiguous")
    shape = _planes(call.input, call.nOutputPlane) if call.nOutputPlane else None
    _slopes(call.gradWeight, call.nOutputPlane or 1)

    def products(x: Array, g: Array) -> Array:
        terms: Array = x * g
        keep(x <= 0, terms, terms)
        return terms

    if shape is None:
        sums = np.array([total(products, call.input, call.gradOutput)])
    else:
        x, g = call.input.flat.reshape(shape), call.gradOutput.flat.reshape(shape)
        sums = np.zeros(call.nOutputPlane)
        for frame, gradients in zip(x, g, strict=True):
            sums += products(frame, gradients).sum(axis=1, dtype=np.float64)
    sums *= cast_scalar(call.scale, call.input.dtype)
    call.gradWeight.array.reshape(-1)[: len(sums)] += sums.astype(call.input.dtype.numpy)
