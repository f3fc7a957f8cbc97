"""BatchNormalization: each channel, the second dimension, is brought to mean 0 and variance 1.

Work goes by groups of channels, and of the frames of a group, that stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from runtime.compute.pieces import PIECE
from runtime.compute.thread_pool import LARGE, share
from runtime.core.dtypes import Array
from runtime.core.errors import ArgError
from runtime.core.tensor import Tensor
from runtime.ops._operands import partly_shared
from runtime.thnn.checks import check_shapes
from runtime.thnn.table import Call, thnn

_GROUP = 2 * PIECE  # elements of channels that are computed together
_LONG = 16  # positions from which on a row is summed by BLAS

_STATISTICS = (
    "THTensor *running_mean, THTensor *running_var, THTensor *save_mean, THTensor *save_std, "
    "bool train"
)


class _Channels:
    """The elements of tensors of one shape as frames x channels x positions, in parts."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        if len(shape) < 2:
            raise ArgError(2, f"dimension 2 out of range of {len(shape)}D tensor")
        self.frames, self.count = shape[:2]
        self.positions = max(int(np.prod(shape[2:])), 1)
        self.n = self.frames * self.positions  # elements of a channel

    def values(self, tensor: Tensor) -> Array:
        """A tensor's elements; a copy where its dimensions from the third on have gaps."""
        if tensor.ndim == 2 or tensor.is_contiguous:
            return tensor.array.reshape(self.frames, self.count, self.positions)
        return tensor.flat.reshape(self.frames, self.count, self.positions)

    def vectors(self, *tensors: Tensor | None) -> list[Array | None]:
        """Tensors with a number for each channel, as arrays.

        Torch7: all are looked at for one channel after the other.
        """
        given = [t for t in tensors if t is not None]
        lengths = [t.sizes[0] if t.ndim == 1 else 0 for t in given]
        if given and min(lengths) < self.count:
            if min(lengths):
                raise ArgError(2, "out of range")
            raise ArgError(1, "tensor must have one dimension")
        return [None if t is None else t.array[: self.count] for t in tensors]

    def groups(self, at: slice, dtype: np.dtype[Any]) -> Iterator[tuple[slice, Array]]:
        """The channels of a range in groups, each with memory for as many elements."""
        step = max(1, _GROUP // self.n)
        memory = np.empty((self.frames, min(step, at.stop - at.start), self.positions), dtype)
        for first in range(at.start, at.stop, step):
            last = min(first + step, at.stop)
            yield slice(first, last), memory[:, : last - first]


def _sum(x: Array) -> Array:
    """The sums of the channels, in float64."""
    if x.shape[2] < _LONG:
        return x.sum(axis=(0, 2), dtype=np.float64)  # type: ignore[no-any-return]
    return np.matmul(x, np.ones(x.shape[2], x.dtype)).sum(axis=0, dtype=np.float64)  # type: ignore[no-any-return]


def _product(x: Array, y: Array) -> Array:
    """The sums of the products of elements of the channels, in float64."""
    if x.shape[2] < _LONG:
        return _sum(x * y)
    rows = np.matmul(x[:, :, None, :], y[:, :, :, None])
    return rows.sum(axis=(0, 2, 3), dtype=np.float64)  # type: ignore[no-any-return]


def _column(x: Array | float) -> Array:
    return np.asarray(x)[..., None]


@thnn(
    "BatchNormalization_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight?, THTensor *bias?, "
    + _STATISTICS
    + ", double momentum, double eps",
)
def batch_norm(call: Call) -> None:
    """output = (input - mean) / sqrt(variance + eps) * weight + bias, for each channel.

    train: the mean and the variance are the input's; the running ones move towards them by
    momentum, and save_mean and save_std keep the mean and the factor 1 / sqrt(variance + eps).
    Otherwise they are the running ones.
    """
    channels = _Channels(call.input.sizes)
    saved = (call.save_mean, call.save_std) if call.train else ()
    w, b, means, variances, *kept = channels.vectors(
        call.weight, call.bias, call.running_mean, call.running_var, *saved
    )
    assert means is not None and variances is not None
    x = channels.values(call.input)
    call.output.resize(call.input.sizes)
    out = channels.values(call.output)
    if partly_shared(out, [x]):
        x = x.copy()
    if call.train:
        mean, squares = np.empty(channels.count, x.dtype), np.empty(channels.count)
    else:
        mean = means.copy()
    scale = 1 / np.sqrt(variances.astype(np.float64) + call.eps)

    def group(at: slice, distance: Array) -> None:
        part = x[:, at]
        if call.train:
            mean[at] = _sum(part) / channels.n
        np.subtract(part, mean[at, None], out=distance)
        if call.train:
            squares[at] = _product(distance, distance)
            scale[at] = _inverse_deviation(squares[at] / channels.n + call.eps)
        factor = scale[at, None].astype(x.dtype)
        if w is not None:
            factor *= w[at, None]
        if b is None:
            np.multiply(distance, factor, out=out[:, at])
        else:
            np.multiply(distance, factor, out=distance)
            np.add(distance, b[at, None], out=out[:, at])

    _share(channels, x.dtype, group)
    for vector, values in zip(kept, (mean, scale), strict=False):
        vector[...] = values  # type: ignore[index]
    if call.train:
        means[...] = call.momentum * mean + (1 - call.momentum) * means.astype(np.float64)
        unbiased = squares / np.float64(channels.n - 1)
        variances[...] = call.momentum * unbiased + (1 - call.momentum) * variances.astype(
            np.float64
        )
    if not np.may_share_memory(out, call.output.array):  # a copy, since the layout has gaps
        call.output.array[...] = out.reshape(call.output.sizes)


def _inverse_deviation(variance: Array) -> Array:
    """1 / sqrt(variance), and 0 of a variance of 0."""
    inverse = 1 / np.sqrt(variance)
    inverse[variance == 0] = 0
    return inverse


def _share(
    channels: _Channels, dtype: np.dtype[Any], group: Callable[[slice, Array], None]
) -> None:
    def groups(at: slice) -> None:
        for part, memory in channels.groups(at, dtype):
            group(part, memory)

    share(groups, channels.count, large=-(-LARGE // channels.n))


@thnn(
    "BatchNormalization_backward",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput?, THTensor *gradWeight?, "
    "THTensor *gradBias?, THTensor *weight?, " + _STATISTICS + ", double scale, double eps",
)
def batch_norm_backward(call: Call) -> None:
    """gradInput, and scale times the gradients of weight and bias, added to theirs.

    train: the mean and the factor are those of save_mean and save_std, and depend on the input;
    otherwise they follow from the running ones.
    """
    check_shapes(input=call.input, gradOutput=call.gradOutput)
    channels = _Channels(call.input.sizes)
    statistics = (
        (call.save_mean, call.save_std) if call.train else (call.running_mean, call.running_var)
    )
    vectors = channels.vectors(call.weight, *statistics, call.gradWeight, call.gradBias)
    w, means, factors, to_weight, to_bias = vectors
    x, g = channels.values(call.input), channels.values(call.gradOutput)
    out = None
    if call.gradInput is not None:
        call.gradInput.resize(call.input.sizes)
        out = channels.values(call.gradInput)
        if partly_shared(out, [x, g]):
            x, g = x.copy(), g.copy()

    def group(at: slice, distance: Array) -> None:
        assert means is not None and factors is not None
        mean, inverse = _column(means[at]), factors[at]
        if not call.train:
            inverse = (1 / np.sqrt(inverse.astype(np.float64) + call.eps)).astype(x.dtype)
        source, upper = x[:, at], g[:, at]
        np.subtract(source, mean, out=distance)
        total, product = _sum(upper), _product(distance, upper)
        if out is not None:
            target = out[:, at]
            factor = _column(inverse if w is None else inverse * w[at])
            if call.train:
                slope = (product * inverse * inverse / channels.n).astype(x.dtype)
                np.multiply(distance, _column(slope), out=distance)
                np.add(distance, _column((total / channels.n).astype(x.dtype)), out=distance)
                np.multiply(np.subtract(upper, distance, out=distance), factor, out=target)
            else:
                np.multiply(upper, factor, out=target)
        if to_weight is not None:
            to_weight[at] += call.scale * product * inverse
        if to_bias is not None:
            to_bias[at] += call.scale * total

    _share(channels, x.dtype, group)
    if (
        call.gradInput is not None
        and out is not None
        and not np.may_share_memory(out, call.gradInput.array)
    ):
        call.gradInput.array[...] = out.reshape(call.gradInput.sizes)
