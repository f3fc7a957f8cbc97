"""Layers by channels: SoftMax, LogSoftMax, BatchNormalization and PReLU.

SoftMax and LogSoftMax go along the first dimension of a frame, which may be one of a batch.
BatchNormalization brings each channel, the second dimension, to mean 0 and variance 1. PReLU has a
slope for negative elements that is learned, one for all or one for each plane: nOutputPlane is the
number of planes, the second dimension of a batch, or the first of a vector; 0 stands for one slope
for all. The loops are jobs of ``thnn/softmax.lua`` and ``thnn/channels.lua``.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor, describe
from th_shell.runtime.thnn._jobs import find_asum, loops, run, working
from th_shell.runtime.thnn.checks import check, check_counts, check_shapes
from th_shell.runtime.thnn.table import BACKWARD, FORWARD, Call, thnn

# -- SoftMax and LogSoftMax


_DOUBLE = np.dtype(np.float64)


def _forward_loops(dtype: np.dtype[Any]) -> dict[str, Any]:
    functions = loops(dtype, np.maximum, np.subtract, np.exp)
    wide = loops(_DOUBLE, np.add, np.log, np.multiply, np.reciprocal)
    return functions | wide | {"minus": loops(_DOUBLE, np.subtract)["subtract"]}


def _add_softmax(name: str, *, logarithms: bool) -> None:
    """Add the rows of a layer."""

    @thnn(f"{name}_updateOutput", FORWARD)
    def forward(call: Call) -> None:
        """output = exp(input) / sum(exp(input)) of each position's classes, or its logarithm."""
        check(1 <= call.input.ndim <= 4, 2, "1D, 2D, 3D or 4D tensor expected")
        frames, layout = _frames(call.input)
        x = call.read(call.input)
        out = call.write(call.output, call.input.sizes)
        run(
            "nn_softmax",
            frames,
            work=x.size,
            input=x,
            output=out,
            wide=working(x.size if x.itemsize == 4 else 0, np.float64),
            most=working(frames * layout["inner"], x.dtype),
            sums=working(frames * layout["inner"], np.float64),
            logarithms=logarithms,
            **layout,
            **_forward_loops(x.dtype),
        )

    @thnn(f"{name}_updateGradInput", f"{BACKWARD}, output")
    def backward(call: Call) -> None:
        """gradInput = output * (gradOutput - sum(gradOutput * output)), or LogSoftMax's."""
        _check_softmax(call.input, call.gradOutput, call.output)
        frames, layout = _frames(call.output)
        y, g = call.read(call.output), call.read(call.gradOutput)
        out = call.write(call.gradInput, call.output.sizes)
        run(
            "nn_softmax_back",
            frames,
            work=y.size,
            output=y,
            grads=g,
            gradient=out,
            wide=working(2 * y.size if y.itemsize == 4 else 0, np.float64),
            sums=working(frames * layout["inner"], np.float64),
            logarithms=logarithms,
            **layout,
            **(loops(y.dtype, np.exp) | loops(_DOUBLE, np.subtract, np.add, np.multiply)),
        )


def _frames(tensor: Tensor) -> tuple[int, dict[str, Any]]:
    """Return the frames of a tensor of one to four dimensions, and their layout for the jobs.

    A frame is a vector of classes, or an image with a number for each class at each position.
    """
    sizes = tensor.sizes if tensor.ndim % 2 == 0 else (1, *tensor.sizes)
    return sizes[0], {
        "classes": sizes[1],
        "inner": tensor.nelement // (sizes[0] * sizes[1]),
    }


def _check_softmax(input: Tensor, grad_output: Tensor, output: Tensor) -> None:
    check_shapes(input=input, gradOutput=grad_output)
    if not 1 <= output.ndim <= 4:
        raise TorchError("1D, 2D, 3D or 4D tensor expected")
    # Torch7: where gradOutput has more elements than output, its first ones count.
    if grad_output.nelement < output.nelement:
        raise TorchError(
            f"gradOutput has too few elements: {describe(grad_output.sizes)}, output is of shape: "
            f"{describe(output.sizes)}"
        )


_add_softmax("SoftMax", logarithms=False)
_add_softmax("LogSoftMax", logarithms=True)


# -- BatchNormalization and PReLU


_STATISTICS = "running_mean, running_var, save_mean, save_std, bool train"


def _channels(input: Tensor, *vectors: Tensor | None) -> dict[str, Any]:
    """Return the layout of a tensor's channels for the jobs. Check vectors with a number for each.

    Torch7: all vectors are looked at for one channel after the other.
    """
    if input.ndim < 2:
        raise ArgError(2, f"dimension 2 out of range of {input.ndim}D tensor")
    frames, channels = input.sizes[:2]
    lengths = [v.sizes[0] if v.ndim == 1 else 0 for v in vectors if v is not None]
    if lengths and min(lengths) < channels:
        if min(lengths):
            raise ArgError(2, "out of range")
        raise ArgError(1, "tensor must have one dimension")
    return {"frames": frames, "channels": channels, "inner": prod(input.sizes[2:])}


@thnn(
    "BatchNormalization_updateOutput",
    "input, output, weight?, bias?, " + _STATISTICS + ", double momentum, double eps",
)
def batch_norm(call: Call) -> None:
    """output = (input - mean) / sqrt(variance + eps) * weight + bias, for each channel.

    train: the mean and the variance are the input's; the running ones move towards them by
    momentum, and save_mean and save_std keep the mean and the factor 1 / sqrt(variance + eps).
    Otherwise they are the running ones.
    """
    running = (call.running_mean, call.running_var)
    saved = (call.save_mean, call.save_std) if call.train else ()
    layout = _channels(call.input, call.weight, call.bias, *running, *saved)
    x = call.read(call.input)
    weight, bias = call.given(call.weight), call.given(call.bias)
    statistics: list[Any] = [call.change(t) if call.train else call.read(t) for t in running]
    saved_arrays: list[Any] = [call.change(t) for t in saved] or [0, 0]
    run(
        "nn_normalize",
        layout["channels"],
        work=x.size,
        asum=find_asum(x),
        input=x,
        output=call.write(call.output, call.input.sizes),
        weight=weight,
        bias=bias,
        means=statistics[0],
        variances=statistics[1],
        keptMeans=saved_arrays[0],
        keptScales=saved_arrays[1],
        train=call.train,
        momentum=call.momentum,
        eps=call.eps,
        **layout,
    )


@thnn(
    "BatchNormalization_backward",
    "input, gradOutput, gradInput?, gradWeight?, "
    "gradBias?, weight?, " + _STATISTICS + ", double scale, double eps",
)
def batch_norm_backward(call: Call) -> None:
    """gradInput, and scale times the gradients of weight and bias, added to theirs.

    train: the mean and the factor are those of save_mean and save_std, and depend on the input;
    otherwise they follow from the running ones.
    """
    check_shapes(input=call.input, gradOutput=call.gradOutput)
    statistics = (
        (call.save_mean, call.save_std) if call.train else (call.running_mean, call.running_var)
    )
    gradients = (call.gradWeight, call.gradBias)
    layout = _channels(call.input, call.weight, *statistics, *gradients)
    x, g, weight = call.read(call.input), call.read(call.gradOutput), call.given(call.weight)
    means, scales = map(call.read, statistics)
    out: Any = 0
    if call.gradInput is not None:
        out = call.write(call.gradInput, call.input.sizes)
    to_weight, to_bias = (0 if t is None else call.change(t) for t in gradients)
    run(
        "nn_normalize_back",
        layout["channels"],
        work=x.size,
        asum=find_asum(x),
        input=x,
        grads=g,
        gradient=out,
        weight=weight,
        means=means,
        scales=scales,
        toWeight=to_weight,
        toBias=to_bias,
        train=call.train,
        scale=call.scale,
        eps=call.eps,
        **layout,
    )


def _planes(call: Call, slopes: Tensor) -> tuple[int, dict[str, Any]]:
    """Return the number of frames, and their layout for the jobs. Check the slopes."""
    input, count = call.input, call.nOutputPlane
    frames, planes = 1, 1
    if count:
        if not input.ndim:
            raise TorchError("PReLU: the input is empty")
        planes = input.sizes[min(input.ndim - 1, 1)]
        if planes != count:
            raise TorchError(f"Wrong number of input planes. Expected {count} but got {planes}.")
        frames = input.sizes[0] if input.ndim > 1 else 1
    if slopes.nelement < planes:
        raise TorchError(
            f"{planes} weights are needed, but weight is of shape: {describe(slopes.sizes)}"
        )
    return frames, {"channels": planes, "inner": input.nelement // (frames * planes)}


def _scale(call: Call, values: Tensor, result: Tensor) -> None:
    """result = values where input is positive, values * slope elsewhere."""
    _, layout = _planes(call, call.weight)
    x, g = call.read(call.input), call.read(values)
    slopes = call.read(call.weight)
    out = call.write(result, call.input.sizes)
    run("nn_slopes", x.size, work=x.size, input=x, source=g, output=out, slopes=slopes, **layout)


@thnn("PReLU_updateOutput", "input, output, weight, THIndex_t nOutputPlane")
def prelu(call: Call) -> None:
    """output = input where it is positive, input * weight elsewhere."""
    _scale(call, call.input, call.output)


@thnn("PReLU_updateGradInput", "input, gradOutput, gradInput, weight, THIndex_t nOutputPlane")
def prelu_backward(call: Call) -> None:
    """gradInput = gradOutput where input is positive, gradOutput * weight elsewhere."""
    check_counts(input=call.input, gradOutput=call.gradOutput)
    _scale(call, call.gradOutput, call.gradInput)


@thnn(
    "PReLU_accGradParameters",
    "input, gradOutput, gradInput?, weight?, "
    "gradWeight, gradWeightBuf?, gradWeightBuf2?, "
    "THIndex_t nOutputPlane, accreal scale",
)
def prelu_accumulate(call: Call) -> None:
    """Add scale * input * gradOutput of the elements that are not positive to gradWeight."""
    check_counts(input=call.input, gradOutput=call.gradOutput)
    if call.nOutputPlane and not call.gradWeight.is_contiguous:
        raise ArgError(6, "gradWeight needs to be contiguous")
    frames, layout = _planes(call, call.gradWeight)
    x, g = call.read(call.input), call.read(call.gradOutput)
    sums = call.change(call.gradWeight)
    run(
        "nn_slope_sums",
        layout["channels"],
        work=x.size,
        input=x,
        grads=g,
        sums=sums,
        scale=call.scale,
        frames=frames,
        **layout,
    )
