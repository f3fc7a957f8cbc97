"""PReLU: a slope for negative elements that is learned, one for all or one for each plane.

nOutputPlane is the number of planes, the second dimension of a batch, or the first of a vector; 0
stands for one slope for all. The loops are jobs of ``lua/parallel/nn_channels.lua``.
"""

from __future__ import annotations

from typing import Any

from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Tensor, describe
from runtime.thnn._jobs import run
from runtime.thnn.checks import check_counts
from runtime.thnn.table import Call, thnn


def _planes(call: Call, slopes: Tensor) -> tuple[int, dict[str, Any]]:
    """How many frames the input has, and how they lie, as the jobs get it; checks the slopes."""
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
    _, lie = _planes(call, call.weight)
    x, g = call.read(call.input), call.read(values)
    slopes = call.read(call.weight)
    out = call.write(result, call.input.sizes)
    run(
        "nn_slopes",
        x.size,
        work=x.size,
        size=x.itemsize,
        input=x,
        source=g,
        output=out,
        slopes=slopes,
        **lie,
    )


@thnn(
    "PReLU_updateOutput",
    "input, output, weight, THIndex_t nOutputPlane",
)
def prelu(call: Call) -> None:
    """output = input where it is positive, input * weight elsewhere."""
    _scale(call, call.input, call.output)


@thnn(
    "PReLU_updateGradInput",
    "input, gradOutput, gradInput, weight, THIndex_t nOutputPlane",
)
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
    frames, lie = _planes(call, call.gradWeight)
    x, g = call.read(call.input), call.read(call.gradOutput)
    sums = call.change(call.gradWeight)
    run(
        "nn_slope_sums",
        lie["channels"],
        work=x.size,
        size=x.itemsize,
        input=x,
        grads=g,
        sums=sums,
        scale=call.scale,
        frames=frames,
        **lie,
    )
