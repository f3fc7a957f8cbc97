"""BatchNormalization: each channel, the second dimension, is brought to mean 0 and variance 1.

The loops are jobs of ``lua/parallel/nn_channels.lua``.
"""

from __future__ import annotations

from math import prod
from typing import Any

from runtime.core.errors import ArgError
from runtime.core.tensor import Tensor
from runtime.thnn._jobs import run
from runtime.thnn.checks import check_shapes
from runtime.thnn.table import Call, thnn

_STATISTICS = "running_mean, running_var, save_mean, save_std, bool train"


def _channels(input: Tensor, *vectors: Tensor | None) -> dict[str, Any]:
    """How the channels of a tensor lie, as the jobs get it; checks vectors with numbers for each.

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
    lie = _channels(call.input, call.weight, call.bias, *running, *saved)
    x = call.read(call.input)
    weight, bias = call.given(call.weight), call.given(call.bias)
    statistics: list[Any] = [call.change(t) if call.train else call.read(t) for t in running]
    kept: list[Any] = [call.change(t) for t in saved] or [0, 0]
    run(
        "nn_normalize",
        lie["channels"],
        work=x.size,
        size=x.itemsize,
        input=x,
        output=call.write(call.output, call.input.sizes),
        weight=weight,
        bias=bias,
        means=statistics[0],
        variances=statistics[1],
        keptMeans=kept[0],
        keptScales=kept[1],
        train=call.train,
        momentum=call.momentum,
        eps=call.eps,
        **lie,
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
    lie = _channels(call.input, call.weight, *statistics, *gradients)
    x, g, weight = call.read(call.input), call.read(call.gradOutput), call.given(call.weight)
    means, scales = map(call.read, statistics)
    out: Any = 0
    if call.gradInput is not None:
        out = call.write(call.gradInput, call.input.sizes)
    to_weight, to_bias = (0 if t is None else call.change(t) for t in gradients)
    run(
        "nn_normalize_back",
        lie["channels"],
        work=x.size,
        size=x.itemsize,
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
        **lie,
    )
