"""Sums of windows: SpatialSubSampling, TemporalSubSampling and FeatureLPPooling.

Sub-sampling multiplies the sum of each window with a weight: images have a weight for each plane,
sequences for each of a frame's elements. FeatureLPPooling takes norms of neighbouring features,
(sum of x^power)^(1/power); features are the first dimension of a tensor, or the second one of a
batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod

import numpy as np

from th_shell.runtime.compute.libm import c_loop, make_ufunc
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, describe
from th_shell.runtime.thnn._columns import add_sums
from th_shell.runtime.thnn.checks import check, check_batch, check_size, positive
from th_shell.runtime.thnn.table import BACKWARD, FORWARD, GRADIENTS, Call, unrepeated

_IMAGE = "int kW, int kH, int dW, int dH"
_SEQUENCE = "int kW, int dW"


@dataclass(frozen=True)
class _Windows:
    """Windows on the last two dimensions of arrays."""

    #: The number of windows in each dimension.
    count: Sizes
    #: The elements of a window in each dimension, and how far windows are apart.
    kernel: Sizes
    stride: Sizes
    #: How many weights there are.
    weights: int
    #: Whether a weight is for all results of a plane, and not for those of the last dimension.
    by_plane: bool

    def parts(self, planes: Array) -> Iterator[Array]:
        """For each place in a window the elements of planes that all windows have there."""
        for place in product(*map(range, self.kernel)):
            numbers = zip(place, self.count, self.stride, strict=True)
            y, x = (slice(k, k + (n - 1) * d + 1, d) for k, n, d in numbers)
            yield planes[..., y, x]

    def sums(self, planes: Array) -> Array:
        """The sum of each window's elements."""
        sums = np.zeros((*planes.shape[:-2], *self.count), planes.dtype)
        for part in self.parts(planes):
            sums += part
        return sums

    def spread(self, weights: Array) -> Array:
        """Weights, or biases, as results are multiplied with them."""
        return weights.reshape(-1)[: self.weights].reshape(-1, *(1, 1) * self.by_plane)


def _forward(call: Call, windows: _Windows) -> None:
    """output = bias + weight * the sums of windows."""
    x, w, b = (call.read(t) for t in (call.input, call.weight, call.bias))
    sums = windows.sums(x)
    call.write(call.output, sums.shape)[...] = sums * windows.spread(w) + windows.spread(b)


def _backward(call: Call, windows: _Windows) -> None:
    """gradInput from gradOutput and weight."""
    products = call.read(call.gradOutput) * windows.spread(call.read(call.weight))
    out = call.write(call.gradInput, call.input.sizes)
    out.fill(0)
    for part in windows.parts(out):
        part += products


def _accumulate(call: Call, windows: _Windows) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    x, g = call.read(call.input), call.read(call.gradOutput)
    inner = prod(windows.count) if windows.by_plane else 1
    for tensor, added in ((call.gradWeight, windows.sums(x) * g), (call.gradBias, g)):
        sums = call.change(tensor).reshape(-1)
        add_sums(sums, added.reshape(-1, windows.weights, inner), call.scale)


# -- images


@unrepeated("SpatialSubSampling_updateOutput", f"input, output, weight, bias, {_IMAGE}")
def forward(call: Call) -> None:
    """output = bias + weight * the sums of windows."""
    check(call.bias.is_contiguous, 5, "bias must be contiguous")
    windows = _check_image(call, call.weight)
    _check_count("bias", call.bias, windows.weights)
    _forward(call, windows)


@unrepeated("SpatialSubSampling_updateGradInput", f"{BACKWARD}, weight, {_IMAGE}")
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    windows = _check_image(call, call.weight)
    _check_gradient(call, windows)
    _backward(call, windows)


@unrepeated("SpatialSubSampling_accGradParameters", f"{GRADIENTS}, {_IMAGE}, accreal scale")
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
    return _Windows(count, kernel, stride, planes, by_plane=True)


def _check_count(name: str, tensor: Tensor, count: int) -> None:
    if tensor.nelement < count:
        raise TorchError(f"{count} elements of {name} expected, got {describe(tensor.sizes)}")


def _check_gradient(call: Call, windows: _Windows) -> None:
    expected = (*call.input.sizes[:-2], *windows.count)
    if call.gradOutput.sizes != expected:
        actual = describe(call.gradOutput.sizes)
        raise TorchError(f"gradOutput of size {describe(expected)} expected, got {actual}")


# -- sequences


@unrepeated(
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


@unrepeated("TemporalSubSampling_updateGradInput", f"{BACKWARD}, weight, {_SEQUENCE}")
def sample_backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    check(call.weight.is_contiguous, 4, "weight must be contiguous")
    windows = _check_sequence(call)
    _check_frame(windows, weight=call.weight)
    check_size("gradOutput", call.gradOutput, 2, 1, windows.weights)
    _backward(call, windows)


@unrepeated("TemporalSubSampling_accGradParameters", f"{GRADIENTS}, {_SEQUENCE}, accreal scale")
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
    return _Windows((count, size), (width, 1), (step, 1), size, by_plane=False)


# -- norms of features

_NUMBERS = "accreal power, int width, int stride, bool batchMode"


@unrepeated("FeatureLPPooling_updateOutput", f"{FORWARD}, {_NUMBERS}")
def lp_pooling(call: Call) -> None:
    """output = the norm of each `width` features, `stride` apart."""
    _check_dimensions(2, call.input, call.batchMode)
    shape = _upcast(call.input, call.batchMode)
    _check_window(3, 5, shape, call.width, call.stride)
    x = call.read(call.input).reshape(shape)
    windows = _count(shape, call)
    powers = _raise(x.astype(np.float64), call.power)
    sums = np.zeros((shape[0], windows, *shape[2:]))
    for part in _parts(powers, windows, call):
        sums += part
    sizes = list(call.input.sizes)
    sizes[1 if call.batchMode else 0] = windows
    out = call.write(call.output, tuple(sizes))
    out[...] = _raise(sums, 1 / call.power).reshape(sizes)


@unrepeated("FeatureLPPooling_updateGradInput", f"gradOutput, input, output, gradInput, {_NUMBERS}")
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
    windows = _count(shape, call)
    check(
        windows == output_shape[1],
        3,
        "input and output sizes do not match with respect to width and stride",
    )
    if shape[0] != output_shape[0] or shape[2:] != output_shape[2:]:  # Torch7 reads beyond the end
        raise TorchError("input and output sizes do not match")
    x = call.read(call.input).reshape(shape)
    g, z = (call.read(t).reshape(output_shape) for t in (call.gradOutput, call.output))
    out = call.write(call.gradInput, call.input.sizes)
    out.fill(0)
    pairs = zip(_parts(out.reshape(shape), windows, call), _parts(x, windows, call), strict=True)
    for gradient, part in pairs:
        powers = g * _raise((part / z).astype(np.float64), call.power - 1)
        powers[z == 0] = 0
        gradient += powers.astype(x.dtype)


def _count(shape: Sizes, call: Call) -> int:
    """Count the windows."""
    return int((shape[1] - call.width) // call.stride + 1)


def _parts(features: Array, windows: int, call: Call) -> Iterator[Array]:
    """For each place in a window the features that all windows have there."""
    for k in range(call.width):
        yield features[:, k : k + (windows - 1) * call.stride + 1 : call.stride]


def _raise(x: Array, power: float) -> Array:
    """Doubles to some power, by C's pow, as in the reference."""
    if power == 1:
        return x
    raised: Array = x * x if power == 2 else _pow()(x, power)
    return raised


@cache
def _pow() -> np.ufunc:
    return make_ufunc("pow", [c_loop("pow", "dd->d")])


def _check_dimensions(position: int, input: Tensor, batch: bool) -> None:
    if batch:
        check(2 <= input.ndim <= 4, position, "input must be 2-4 dimensions for batch mode")
    else:
        check(1 <= input.ndim <= 3, position, "input must be 1-3 dimensions for non-batch mode")


def _check_window(size_at: int, width_at: int, shape: Sizes, width: int, stride: int) -> None:
    check(shape[1] >= width, size_at, "input: feature dimension must be >= width")
    check(2 <= width <= 16, width_at, "width must be between 2 - 16")
    check(1 <= stride <= 4, width_at + 1, "stride must be between 1 - 4")


def _upcast(tensor: Tensor, batch: bool) -> Sizes:
    """The sizes as batch x features x two more dimensions."""
    if tensor.ndim - batch not in (1, 2, 3):
        raise TorchError("Assertion `batchMode' failed. ")
    sizes = tensor.sizes if batch else (1, *tensor.sizes)
    return (*sizes, *(1,) * (4 - len(sizes)))
