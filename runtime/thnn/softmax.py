"""SoftMax and LogSoftMax: along the first dimension of a frame, which may be one of a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from runtime.compute.pieces import PIECE
from runtime.compute.thread_pool import LARGE, share
from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor, describe
from runtime.ops._operands import partly_shared
from runtime.thnn.checks import check, check_shapes
from runtime.thnn.table import Call, thnn

_FORWARD = "THTensor *input, THTensor *output"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *output"

_MIN_POSITIONS = 64  # of a part: those whose memory lies side by side


def _frames(tensor: Tensor) -> tuple[int, int, int]:
    """The sizes of a tensor of one to four dimensions as frames, classes, positions."""
    sizes = tensor.sizes if tensor.ndim % 2 == 0 else (1, *tensor.sizes)
    return sizes[0], sizes[1], tensor.nelement // (sizes[0] * sizes[1])


def _parts(shape: tuple[int, int, int]) -> list[tuple[slice, slice, slice]]:
    """Indices of parts with all classes, that stay in the processor's cache."""
    frames, classes, positions = shape
    columns = positions if positions * classes <= PIECE else max(PIECE // classes, _MIN_POSITIONS)
    rows = max(PIECE // (classes * columns), 1)
    return [
        (slice(i, i + rows), slice(None), slice(k, k + columns))
        for i in range(0, frames, rows)
        for k in range(0, positions, columns)
    ]


def _by_parts(result: Tensor, compute: Callable[..., None], like: Tensor, *sources: Tensor) -> None:
    """result = compute(*sources) with the sizes of a tensor; sources have as many elements."""
    shape = _frames(like)
    count = like.nelement
    arrays = [source.flat[:count].reshape(shape) for source in sources]
    result.resize(like.sizes)
    out = result.flat.reshape(shape)
    if partly_shared(out, arrays):
        arrays = [x.copy() for x in arrays]
    if count <= PIECE:
        compute(*arrays, out=out)
    else:
        parts = _parts(shape)

        def some(at: slice) -> None:
            for part in parts[at]:
                compute(*[x[part] for x in arrays], out=out[part])

        share(some, len(parts), large=2 if count >= LARGE else len(parts) + 1)
    if not np.may_share_memory(out, result.array):
        result.array[...] = out.reshape(result.sizes)


@thnn("LogSoftMax_updateOutput", _FORWARD)
def log_softmax(call: Call) -> None:
    """output = input - log(sum(exp(input))), of each position's classes."""
    check(1 <= call.input.ndim <= 4, 2, "1D, 2D, 3D or 4D tensor expected")

    def compute(x: Array, out: Array) -> None:
        largest = x.max(axis=1, keepdims=True)
        terms = x - largest
        sums = np.exp(terms, out=terms).sum(axis=1, keepdims=True)
        np.subtract(x, largest + np.log(sums, out=sums), out=out)

    _by_parts(call.output, compute, call.input, call.input)


@thnn("LogSoftMax_updateGradInput", _BACKWARD)
def log_softmax_backward(call: Call) -> None:
    """gradInput = gradOutput - exp(output) * sum(gradOutput), of each position's classes."""
    _check_gradients(call.input, call.gradOutput, call.output)

    def compute(g: Array, y: Array, out: Array) -> None:
        factor = np.exp(y)
        np.multiply(factor, g.sum(axis=1, keepdims=True), out=factor)
        np.subtract(g, factor, out=out)

    _by_parts(call.gradInput, compute, call.output, call.gradOutput, call.output)


@thnn("SoftMax_updateOutput", _FORWARD)
def softmax(call: Call) -> None:
    """output = exp(input) / sum(exp(input)), of each position's classes."""
    check(1 <= call.input.ndim <= 4, 2, "1D, 2D, 3D or 4D tensor expected")

    def compute(x: Array, out: Array) -> None:
        terms = x - x.max(axis=1, keepdims=True)
        sums = np.exp(terms, out=terms).sum(axis=1, keepdims=True)
        np.multiply(terms, np.reciprocal(sums, out=sums), out=out)

    _by_parts(call.output, compute, call.input, call.input)


@thnn("SoftMax_updateGradInput", _BACKWARD)
def softmax_backward(call: Call) -> None:
    """gradInput = output * (gradOutput - sum(gradOutput * output)), of each position's classes."""
    _check_gradients(call.input, call.gradOutput, call.output)

    def compute(g: Array, y: Array, out: Array) -> None:
        terms = g * y
        np.subtract(g, terms.sum(axis=1, keepdims=True), out=terms)
        np.multiply(terms, y, out=out)

    _by_parts(call.gradInput, compute, call.output, call.gradOutput, call.output)


def _check_gradients(input: Tensor, grad_output: Tensor, output: Tensor) -> None:
    check_shapes(input=input, gradOutput=grad_output)
    if not 1 <= output.ndim <= 4:
        raise TorchError("1D, 2D, 3D or 4D tensor expected")
    # Torch7: where gradOutput has more elements than output, its first ones count.
    if grad_output.nelement < output.nelement:
        raise TorchError(
            f"gradOutput has too few elements: {describe(grad_output.sizes)}, output is of shape: "
            f"{describe(output.sizes)}"
        )
