"""FeatureLPPooling: norms of neighbouring features, (sum of x^power)^(1/power).

Features are the first dimension of a tensor, or the second one of a batch. The loops are jobs of
``thnn/norms.lua``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor
from th_shell.runtime.thnn._jobs import loops, run, working
from th_shell.runtime.thnn.checks import check
from th_shell.runtime.thnn.table import FORWARD, Call, thnn

_NUMBERS = "accreal power, int width, int stride, bool batchMode"


@thnn("FeatureLPPooling_updateOutput", f"{FORWARD}, {_NUMBERS}")
def lp_pooling(call: Call) -> None:
    """output = the norm of each `width` features, `stride` apart."""
    _check_dimensions(2, call.input, call.batchMode)
    shape = _upcast(call.input, call.batchMode)
    _check_window(3, 5, shape, call.width, call.stride)
    lie = _windows(shape, call.width, call.stride)
    sizes = list(call.input.sizes)
    sizes[1 if call.batchMode else 0] = lie["windows"]
    x = call.read(call.input)
    powers = working(lie["features"] * lie["inner"], np.float64)
    sums = working(lie["windows"] * lie["inner"], np.float64)
    out = call.write(call.output, tuple(sizes))
    run(
        "nn_norms",
        shape[0],
        size=x.itemsize,
        input=x,
        output=out,
        powers=powers,
        sums=sums,
        power=call.power,
        **lie,
        **loops(powers.dtype, np.add),
    )


@thnn(
    "FeatureLPPooling_updateGradInput",
    f"gradOutput, input, output, gradInput, {_NUMBERS}",
)
def lp_pooling_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput * (input / output)^(power - 1); 0 where output is 0."""
    _check_dimensions(3, call.input, call.batchMode)
    shape, gradient_shape, output_shape = (
        _upcast(t, call.batchMode) for t in (call.input, call.gradOutput, call.output)
    )
    _check_window(3, 7, shape, call.width, call.stride)
    if output_shape != gradient_shape:
        raise TorchError(
            "Assertion `outputDesc.size[i] == gradOutputDesc.size[i]' failed. output and "
            "gradOutput sizes do not match"
        )
    lie = _windows(shape, call.width, call.stride)
    check(
        lie["windows"] == output_shape[1],
        3,
        "input and output sizes do not match with respect to width and stride",
    )
    if shape[0] != output_shape[0] or shape[2:] != output_shape[2:]:  # Torch7 reads beyond the end
        raise TorchError("input and output sizes do not match")
    x, g, z = (call.read(t) for t in (call.input, call.gradOutput, call.output))
    n = lie["windows"] * lie["inner"]
    powers, upper = working(n, np.float64), working(n, np.float64)
    quotients = working(n, x.dtype)
    out = call.write(call.gradInput, call.input.sizes)
    run(
        "nn_norms_back",
        shape[0],
        size=x.itemsize,
        input=x,
        output=z,
        grads=g,
        gradient=out,
        powers=powers,
        upper=upper,
        quotients=quotients,
        power=call.power - 1,
        **lie,
        **loops(x.dtype, np.add, np.divide),
        **loops(powers.dtype, np.multiply),
    )


def _check_dimensions(position: int, input: Tensor, batch: bool) -> None:
    if batch:
        check(2 <= input.ndim <= 4, position, "input must be 2-4 dimensions for batch mode")
    else:
        check(1 <= input.ndim <= 3, position, "input must be 1-3 dimensions for non-batch mode")


def _check_window(size_at: int, width_at: int, shape: Sizes, width: int, stride: int) -> None:
    check(shape[1] >= width, size_at, "input: feature dimension must be >= width")
    check(2 <= width <= 16, width_at, "width must be between 2 - 16")
    check(1 <= stride <= 4, width_at + 1, "stride must be between 1 - 4")


def _windows(shape: Sizes, width: int, stride: int) -> dict[str, Any]:
    """Return the layout of windows for the jobs."""
    windows = (shape[1] - width) // stride + 1
    return {
        "features": shape[1],
        "inner": math.prod(shape[2:]),
        "width": width,
        "stride": stride,
        "windows": windows,
    }


def _upcast(tensor: Tensor, batch: bool) -> Sizes:
    """The sizes as batch x features x two more dimensions."""
    if tensor.ndim - batch not in (1, 2, 3):
        raise TorchError("Assertion `batchMode' failed. ")
    sizes = tensor.sizes if batch else (1, *tensor.sizes)
    return (*sizes, *(1,) * (4 - len(sizes)))
