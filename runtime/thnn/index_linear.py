"""IndexLinear: products with sparse rows whose entries are keys, which name rows of the weight.

The entries of all samples lie in one vector of keys and one of values; `sizes` tells how many each
sample has. A row of the weight may begin with numbers that normalize the values of its key
(lua/parallel/nn_index.lua, which has the loops, tells which).
"""

from __future__ import annotations

import numpy as np

from runtime.compute.thread_pool import LARGE, run
from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor, describe
from runtime.thnn.checks import check
from runtime.thnn.table import Call, thnn

_MIN_EXTRA = 4  # numbers that rows begin with, if with any


class _Shape:
    """The sizes of the weight's rows: `outputs` weights behind `extra` other numbers."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        if weight.ndim != 2 or bias.ndim != 1:
            raise TorchError(
                "a matrix of weights and a vector of biases are needed, but they are of shape: "
                f"{describe(weight.sizes)}, {describe(bias.sizes)}"
            )
        self.rows, self.width = weight.sizes
        self.outputs = bias.sizes[0]
        self.extra = self.width - self.outputs
        if self.extra and self.extra < _MIN_EXTRA:
            raise TorchError(f"weights of {self.width} columns do not suit {self.outputs} outputs")

    def places(self, keys: Tensor, offset: int) -> Array:
        """Where the keys' rows begin, in elements."""
        rows = keys.flat + offset
        if rows.size and (rows.min() < 0 or rows.max() >= self.rows):
            raise TorchError(f"keys are not among the {self.rows} rows of the weight")
        return rows * self.width


def _check_entries(keys: Tensor, values: Tensor) -> None:
    same = keys.ndim == 1 and values.ndim == 1 and keys.nelement == values.nelement
    check(same, 1, "Keys and values should have the same number of elements")


def _starts(sizes: Tensor, starts: Array, count: int) -> tuple[Array, Array]:
    """The samples' first entries and their numbers, as arrays that no program can write to."""
    lengths = np.maximum(sizes.flat, 0)
    if len(starts) < len(lengths):
        raise TorchError(f"cumSumSizes has {len(starts)} elements for {len(lengths)} samples")
    starts = np.concatenate(([0], starts[: len(lengths) - 1])).astype(np.int64)
    used = lengths > 0
    if (starts[used] < 0).any() or (starts + lengths)[used].max(initial=0) > count:
        raise TorchError(f"sizes name more entries than there are: {count}")
    return starts, lengths


@thnn(
    "IndexLinear_updateOutput",
    "THIndexTensor *keys, long keysOffset, values, THIndexTensor *sizes, "
    "THIndexTensor *cumSumSizes, output, weight, bias, "
    "normalizedValues, int train",
    repeats=False,
)
def index_linear(call: Call) -> None:
    """output = bias + the sum of each sample's values times the weights of its keys.

    With normalization the values are brought between -1 and 1 first; normalizedValues gets them,
    and in training the weight's rows keep the greatest values.
    """
    shape = _Shape(call.weight, call.bias)
    check(call.keys.is_contiguous, 1, "keys vector must be contiguous")
    check(call.values.is_contiguous, 3, "values vector must be contiguous")
    check(call.weight.is_contiguous, 7, "weight matrix must be contiguous")
    check(call.bias.is_contiguous, 8, "bias vector must be contiguous")
    _check_entries(call.keys, call.values)
    at = shape.places(call.keys, call.keysOffset)
    starts, lengths = _starts(call.sizes, call.cumSumSizes.flat, call.keys.nelement)
    if shape.extra:
        call.normalizedValues.resize((call.keys.nelement,))
    call.output.resize((len(lengths), shape.outputs))
    check(call.output.is_contiguous, 6, "output vector must be contiguous")
    check(call.normalizedValues.is_contiguous, 9, "normalizedValues vector must be contiguous")
    v, w, b, out, kept = (
        t.array for t in (call.values, call.weight, call.bias, call.output, call.normalizedValues)
    )
    run(
        "index_forward",
        len(lengths),
        large=call.keys.nelement * shape.outputs > LARGE and not (shape.extra and call.train),
        size=call.weight.dtype.size,
        at=at.ctypes.data,
        starts=starts.ctypes.data,
        sizes=lengths.ctypes.data,
        values=v.ctypes.data,
        weight=w.ctypes.data,
        bias=b.ctypes.data,
        output=out.ctypes.data,
        kept=kept.ctypes.data if shape.extra else 0,
        outputs=shape.outputs,
        extra=shape.extra,
        train=call.train,
    )


@thnn(
    "IndexLinear_accGradParameters",
    "THIndexTensor *keys, long keysOffset, values, THIndexTensor *sizes, "
    "THIndexTensor *cumSumSizes?, gradOutput, gradWeight, gradBias, "
    "weight, bias, valuesBuffer, accreal weightDecay, accreal scale",
    repeats=False,
)
def index_linear_gradients(call: Call) -> None:
    """gradWeight = a row for each entry: scale * gradOutput * value; gradBias gets its part added.

    With normalization, scale * gradOutput stands before it in each row.
    """
    shape = _Shape(call.weight, call.bias)
    _check_entries(call.keys, call.values)
    check(call.keys.is_contiguous, 1, "keys vector must be contiguous")
    check(call.values.is_contiguous, 3, "values vector must be contiguous")
    check(call.gradOutput.is_contiguous, 6, "gradOutput vector must be contiguous")
    check(call.gradBias.is_contiguous, 8, "gradBias vector must be contiguous")
    check(call.weight.is_contiguous, 9, "weight must be contiguous")
    check(call.bias.is_contiguous, 10, "bias vector must be contiguous")
    check(call.valuesBuffer.is_contiguous, 11, "valuesBuffer must be contiguous")
    lengths = np.maximum(call.sizes.flat, 0)
    starts, lengths = _starts(call.sizes, np.cumsum(lengths), call.keys.nelement)
    g = _gradients(call.gradOutput, len(lengths), shape.outputs)
    if call.gradBias.nelement < shape.outputs:
        raise TorchError(f"gradBias is too small: {describe(call.gradBias.sizes)}")
    scaled = g * g.dtype.type(cast_scalar(call.scale, call.weight.dtype))
    call.gradWeight.resize((call.keys.nelement, shape.outputs * (2 if shape.extra else 1)))
    v, out = call.values.array, call.gradWeight.array
    run(
        "index_gradients",
        len(lengths),
        large=int(lengths.sum()) * shape.outputs >= LARGE,
        size=call.weight.dtype.size,
        starts=starts.ctypes.data,
        sizes=lengths.ctypes.data,
        values=v.ctypes.data,
        gradients=scaled.ctypes.data,
        output=out.ctypes.data,
        outputs=shape.outputs,
        extra=shape.extra,
    )
    call.gradBias.array.reshape(-1)[: shape.outputs] += scaled.sum(axis=0)


def _gradients(grad_output: Tensor, samples: int, outputs: int) -> Array:
    if grad_output.nelement < samples * outputs:
        raise TorchError(
            f"gradOutput is too small for {samples} samples of {outputs} outputs: "
            f"{describe(grad_output.sizes)}"
        )
    return grad_output.flat[: samples * outputs].reshape(samples, outputs)


@thnn(
    "IndexLinear_accUpdateGradParameters",
    "THIndexTensor *keys, long keysOffset, values, THIndexTensor *sizes, "
    "THIndexTensor *cumSumSizes?, gradOutput, weight, bias, "
    "accreal weightDecay, accreal scale",
    repeats=False,
)
def index_linear_accumulate(call: Call) -> None:
    """weight and bias -= scale times their gradients, and weightDecay times the keys' weights."""
    scale = call.scale
    shape = _Shape(call.weight, call.bias)
    _check_entries(call.keys, call.values)
    check(call.keys.is_contiguous, 1, "keys vector must be contiguous")
    check(call.values.is_contiguous, 3, "values vector must be contiguous")
    check(call.gradOutput.is_contiguous, 6, "gradOutput vector must be contiguous")
    check(call.weight.is_contiguous, 7, "weight matrix must be contiguous")
    check(call.bias.is_contiguous, 8, "bias matrix must be contiguous")
    at = shape.places(call.keys, call.keysOffset)
    starts, lengths = _starts(
        call.sizes, np.cumsum(np.maximum(call.sizes.flat, 0)), call.keys.nelement
    )
    g = _gradients(call.gradOutput, len(lengths), shape.outputs)
    scale = cast_scalar(scale, call.weight.dtype)
    call.bias.array[...] -= scale * g.sum(axis=0)
    v, w = call.values.array, call.weight.array
    run(
        "index_accumulate",
        len(lengths),
        large=False,
        size=call.weight.dtype.size,
        at=at.ctypes.data,
        starts=starts.ctypes.data,
        sizes=lengths.ctypes.data,
        values=v.ctypes.data,
        weight=w.ctypes.data,
        gradients=g.ctypes.data,
        outputs=shape.outputs,
        extra=shape.extra,
        decay=cast_scalar(call.weightDecay, call.weight.dtype),
        scale=scale,
    )
    if shape.extra and shape.outputs == 1:  # Torch7: only then
        used = at[: int(lengths.sum())]
        call.weight.array.reshape(-1)[used + shape.extra - 2] = 0


@thnn(
    "IndexLinear_updateParameters",
    "gradWeight, gradBias, weight, bias, "
    "THIndexTensor *runningKeys, THIndexTensor *cumSumSizes?, long keysOffset, "
    "accreal weightDecay, accreal learningRate",
    repeats=False,
)
def index_linear_update(call: Call) -> None:
    """weight and bias -= learningRate times their gradients; gradWeight has a row for each key."""
    rate = call.learningRate
    shape = _Shape(call.weight, call.bias)
    check(call.gradWeight.is_contiguous, 1, "gradWeight must be contiguous")
    check(call.gradBias.is_contiguous, 2, "gradBias vector must be contiguous")
    check(call.weight.is_contiguous, 3, "gradBias vector must be contiguous")
    check(call.bias.is_contiguous, 4, "gradBias vector must be contiguous")
    check(call.runningKeys.is_contiguous, 5, "keys vector must be contiguous")
    at = shape.places(call.runningKeys, call.keysOffset)
    needed = len(at) * shape.outputs * (2 if shape.extra else 1)
    if call.gradWeight.nelement < needed or call.gradBias.nelement < shape.outputs:
        found = f"{describe(call.gradWeight.sizes)}, {describe(call.gradBias.sizes)}"
        raise TorchError(f"gradients are too small: {found}")
    rate = cast_scalar(rate, call.weight.dtype)
    call.bias.array[...] -= rate * call.gradBias.flat[: shape.outputs]
    g, w = call.gradWeight.array, call.weight.array
    run(
        "index_update",
        len(at),
        large=False,
        size=call.weight.dtype.size,
        at=at.ctypes.data,
        gradients=g.ctypes.data,
        weight=w.ctypes.data,
        outputs=shape.outputs,
        extra=shape.extra,
        decay=cast_scalar(call.weightDecay, call.weight.dtype),
        rate=rate,
    )
