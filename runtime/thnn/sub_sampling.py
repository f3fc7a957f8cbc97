"""SpatialSubSampling: the sums of windows of each plane, times a weight of the plane."""

from __future__ import annotations

from math import prod

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor, describe
from runtime.thnn._columns import add_sums
from runtime.thnn._jobs import run, working
from runtime.thnn.checks import check, check_batch
from runtime.thnn.table import BACKWARD, GRADIENTS, Call, thnn

_NUMBERS = "int kW, int kH, int dW, int dH"


@thnn("SpatialSubSampling_updateOutput", f"input, output, weight, bias, {_NUMBERS}")
def forward(call: Call) -> None:
    """output = bias + weight * the sums of windows."""
    check(call.bias.is_contiguous, 5, "bias must be contiguous")
    planes, count = _checked(call.input, call.weight, call.numbers)
    _check_count("bias", call.bias, planes)
    x, w, b = (call.read(t) for t in (call.input, call.weight, call.bias))
    out = call.write(call.output, (*call.input.sizes[:-2], *count))
    _add_windows(out, x, count, call.numbers)
    _scale(out, w, b, planes)


@thnn("SpatialSubSampling_updateGradInput", f"{BACKWARD}, weight, {_NUMBERS}")
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    planes, count = _checked(call.input, call.weight, call.numbers)
    _check_gradient(call.gradOutput, call.input, count)
    g, w = call.read(call.gradOutput), call.read(call.weight)
    products = working(g.size, g.dtype).reshape(g.shape)
    run("copy", g.nbytes, out=products, source=g)
    _scale(products, w, 0, planes)
    out = call.write(call.gradInput, call.input.sizes)
    _clear(out)
    _add_windows(products, out, count, call.numbers, back=True)


@thnn("SpatialSubSampling_accGradParameters", f"{GRADIENTS}, {_NUMBERS}, accreal scale")
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    planes, count = _checked(call.input, call.gradWeight, call.numbers)
    _check_gradient(call.gradOutput, call.input, count)
    _check_count("gradBias", call.gradBias, planes)
    x, g = call.read(call.input), call.read(call.gradOutput)
    products = working(g.size, g.dtype).reshape(g.shape)
    _add_windows(products, x, count, call.numbers)
    run("nn_multiply", g.size, size=g.itemsize, out=products, source=g)
    for tensor, added in ((call.gradWeight, products), (call.gradBias, g)):
        sums = call.change(tensor).reshape(-1)
        add_sums(sums, added.reshape(-1, planes, prod(count)), call.scale)


def _clear(out: Array) -> None:
    each = prod(out.shape[-2:])
    rows = out.size // each
    run("nn_fill_rows", rows, size=out.itemsize, out=out, values=0, planes=1, count=each)


def _add_windows(
    windows: Array, planes: Array, count: Sizes, numbers: tuple[int, ...], back: bool = False
) -> None:
    """windows = the sums of what lies under the kernel there; back: these are added to that."""
    if not back:
        _clear(windows)
    kw, kh, dw, dh = numbers
    each, width = prod(planes.shape[-2:]), planes.shape[-1]
    first = np.arange(count[0])[:, None] * (dh * width) + np.arange(count[1]) * dw
    run(
        "nn_add_windows",
        planes.size // each,
        work=planes.size,
        size=planes.itemsize,
        windows=windows,
        planes=planes,
        places=np.ascontiguousarray(first.reshape(-1), np.int32),
        each=prod(count),
        count=each,
        width=width,
        kW=kw,
        kH=kh,
        back=back,
    )


def _scale(out: Array, factors: Array, terms: Array | int, planes: int) -> None:
    """Multiply the planes of samples with factors, and add terms."""
    each = prod(out.shape[-2:])
    run(
        "nn_scale_rows",
        out.size // each,
        size=out.itemsize,
        out=out,
        factors=factors,
        terms=terms,
        planes=planes,
        count=each,
    )


def _checked(input: Tensor, weight: Tensor, numbers: tuple[int, ...]) -> tuple[int, Sizes]:
    """The number of planes, and of windows in each dimension."""
    check_batch(input, 2, plain=True)
    check(weight.is_contiguous, 4, "weight must be contiguous")
    if min(numbers) < 1 or weight.ndim < 1:
        raise TorchError("sizes and strides of windows should be greater than zero")
    kw, kh, dw, dh = numbers
    planes, (height, width) = weight.sizes[0], input.sizes[-2:]
    check(input.sizes[-3] == planes, 2, "invalid number of input planes")
    check(width >= kw and height >= kh, 2, "input image smaller than kernel size")
    return planes, ((height - kh) // dh + 1, (width - kw) // dw + 1)


def _check_count(name: str, tensor: Tensor, count: int) -> None:
    if tensor.nelement < count:
        raise TorchError(f"{count} elements of {name} expected, got {describe(tensor.sizes)}")


def _check_gradient(grad_output: Tensor, input: Tensor, count: Sizes) -> None:
    expected = (*input.sizes[:-2], *count)
    if grad_output.sizes != expected:
        raise TorchError(
            f"gradOutput of size {describe(expected)} expected, got {describe(grad_output.sizes)}"
        )
