"""SpatialSubSampling and TemporalSubSampling: the sums of windows, times a weight.

Images have a weight for each plane, sequences for each of a frame's elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, describe
from th_shell.runtime.thnn._columns import add_sums
from th_shell.runtime.thnn._convolution import fill_rows
from th_shell.runtime.thnn._jobs import loops, run, working
from th_shell.runtime.thnn.checks import check, check_batch, check_size, positive
from th_shell.runtime.thnn.table import BACKWARD, GRADIENTS, Call, thnn

_IMAGE = "int kW, int kH, int dW, int dH"
_SEQUENCE = "int kW, int dW"


@dataclass(frozen=True)
class _Windows:
    """Windows on planes. size: of a plane. count: the number of windows in each dimension.

    weights: how many there are. inner: for how many results, one after the other, a weight counts.
    """

    size: Sizes
    count: Sizes
    kernel: Sizes
    stride: Sizes
    weights: int
    inner: int

    def add(self, windows: Array, planes: Array, back: bool = False) -> None:
        """Add to each window's number what lies under it; back: add this number to that."""
        width, each = self.size[-1], prod(self.size)
        (dy, dx), (ny, nx) = self.stride, self.count
        first = np.arange(ny)[:, None] * (dy * width) + np.arange(nx) * dx
        run(
            "nn_add_windows",
            planes.size // each,
            work=planes.size,
            size=planes.itemsize,
            windows=windows,
            planes=planes,
            places=np.ascontiguousarray(first.reshape(-1), np.int32),
            each=prod(self.count),
            count=each,
            width=width,
            kH=self.kernel[0],
            kW=self.kernel[1],
            back=back,
        )

    def scale(self, out: Array, source: Array, factors: Array, terms: Array | int = 0) -> None:
        """out = the results in source times their weights, plus terms."""
        # Rows are the results of a weight; if these have one each, those of all weights.
        count, planes = (self.inner, self.weights) if self.inner > 1 else (self.weights, 1)
        run(
            "nn_scale_rows",
            out.size // count,
            work=out.size,
            size=out.itemsize,
            out=out,
            source=source,
            factors=factors,
            terms=terms,
            planes=planes,
            count=count,
            step=0 if self.inner > 1 else out.itemsize,
            **loops(out.dtype, np.multiply, np.add),
        )


def _forward(call: Call, windows: _Windows) -> None:
    """output = bias + weight * the sums of windows."""
    x, w, b = (call.read(t) for t in (call.input, call.weight, call.bias))
    out = call.write(call.output, (*call.input.sizes[:-2], *windows.count))
    fill_rows(out.reshape(1, 1, -1))
    windows.add(out, x)
    windows.scale(out, out, w, b)


def _backward(call: Call, windows: _Windows) -> None:
    """gradInput from gradOutput and weight."""
    g, w = call.read(call.gradOutput), call.read(call.weight)
    products = working(g.size, g.dtype)
    windows.scale(products, g, w)
    out = call.write(call.gradInput, call.input.sizes)
    fill_rows(out.reshape(1, 1, -1))
    windows.add(products, out, back=True)


def _accumulate(call: Call, windows: _Windows) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    x, g = call.read(call.input), call.read(call.gradOutput)
    products = working(g.size, g.dtype)
    fill_rows(products.reshape(1, 1, -1))
    windows.add(products, x)
    run("nn_multiply", g.size, work=g.size, size=g.itemsize, out=products, source=g)
    for tensor, added in ((call.gradWeight, products), (call.gradBias, g)):
        sums = call.change(tensor).reshape(-1)
        add_sums(sums, added.reshape(-1, windows.weights, windows.inner), call.scale)


# -- images


@thnn("SpatialSubSampling_updateOutput", f"input, output, weight, bias, {_IMAGE}")
def forward(call: Call) -> None:
    """output = bias + weight * the sums of windows."""
    check(call.bias.is_contiguous, 5, "bias must be contiguous")
    windows = _check_image(call, call.weight)
    _check_count("bias", call.bias, windows.weights)
    _forward(call, windows)


@thnn("SpatialSubSampling_updateGradInput", f"{BACKWARD}, weight, {_IMAGE}")
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    windows = _check_image(call, call.weight)
    _check_gradient(call, windows)
    _backward(call, windows)


@thnn("SpatialSubSampling_accGradParameters", f"{GRADIENTS}, {_IMAGE}, accreal scale")
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    windows = _check_image(call, call.gradWeight)
    _check_gradient(call, windows)
    _check_count("gradBias", call.gradBias, windows.weights)
    _accumulate(call, windows)


def _check_image(call: Call, weight: Tensor) -> _Windows:
    check_batch(call.input, 2, plain=True)
    check(weight.is_contiguous, 4, "weight must be contiguous")
    if min(call.numbers) < 1 or weight.ndim < 1:
        raise TorchError("sizes and strides of windows should be greater than zero")
    kernel, stride = (call.kH, call.kW), (call.dH, call.dW)
    planes, size = weight.sizes[0], call.input.sizes[-2:]
    check(call.input.sizes[-3] == planes, 2, "invalid number of input planes")
    fits = size[0] >= kernel[0] and size[1] >= kernel[1]
    check(fits, 2, "input image smaller than kernel size")
    numbers = zip(size, kernel, stride, strict=True)
    count = tuple((n - k) // d + 1 for n, k, d in numbers)
    return _Windows(size, count, kernel, stride, planes, prod(count))


def _check_count(name: str, tensor: Tensor, count: int) -> None:
    if tensor.nelement < count:
        raise TorchError(f"{count} elements of {name} expected, got {describe(tensor.sizes)}")


def _check_gradient(call: Call, windows: _Windows) -> None:
    expected = (*call.input.sizes[:-2], *windows.count)
    if call.gradOutput.sizes != expected:
        actual = describe(call.gradOutput.sizes)
        raise TorchError(f"gradOutput of size {describe(expected)} expected, got {actual}")


# -- sequences


@thnn(
    "TemporalSubSampling_updateOutput",
    f"input, output, weight, bias, {_SEQUENCE}, int inputFrameSize",
)
def sample(call: Call) -> None:
    """output = bias + weight * the sums of the frames of each window."""
    check(call.weight.is_contiguous, 4, "weight must be contiguous")
    check(call.bias.is_contiguous, 4, "bias must be contiguous")
    windows = _check_sequence(call, call.inputFrameSize)
    _check_frame(windows, weight=call.weight, bias=call.bias)
    _forward(call, windows)


@thnn("TemporalSubSampling_updateGradInput", f"{BACKWARD}, weight, {_SEQUENCE}")
def sample_backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    check(call.weight.is_contiguous, 4, "weight must be contiguous")
    windows = _check_sequence(call)
    _check_frame(windows, weight=call.weight)
    check_size("gradOutput", call.gradOutput, 2, 1, windows.weights)
    _backward(call, windows)


@thnn("TemporalSubSampling_accGradParameters", f"{GRADIENTS}, {_SEQUENCE}, accreal scale")
def sample_accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    windows = _check_sequence(call)
    _check_frame(windows, gradWeight=call.gradWeight, gradBias=call.gradBias)
    check_size("gradOutput", call.gradOutput, 2, 1, windows.weights)
    _accumulate(call, windows)


def _check_frame(windows: _Windows, **tensors: Tensor) -> None:
    for name, tensor in tensors.items():
        if tensor.nelement != windows.weights:
            raise TorchError(
                f"inconsistent tensor size, expected {name} {describe(tensor.sizes)} to have "
                f"{windows.weights} elements"
            )


def _check_sequence(call: Call, frame: int | None = None) -> _Windows:
    input, width, step = call.input, call.kW, call.dW
    positive(6, "kernel size", "k", (width,))
    positive(7, "stride", "d", (step,))
    message = "2D or 3D (batch mode) tensor expected for input, but got: %s"
    check(input.ndim == 2, 2, message, input)
    length, size = input.sizes
    if frame is not None:
        check(size == frame, 2, f"invalid input frame size.  Got: {size}, Expected: {frame}")
    message = f"input sequence smaller than kernel size.  Got {length}, Expected: {width}"
    check(length >= width, 2, message)
    count = (length - width) // step + 1
    if frame is None:
        check_size("gradOutput", call.gradOutput, 2, 0, count)
    return _Windows((length, size), (count, size), (width, 1), (step, 1), size, 1)
