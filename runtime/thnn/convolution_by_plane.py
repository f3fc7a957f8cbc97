"""Convolutions with kernels of its own for each plane of the input, or for each row of a sequence.

SpatialDepthWiseConvolution has the maps of one plane after those of the other. finput holds the
columns of all planes of all samples. TemporalRowConvolution has one map for each feature of a
sequence. Sequences have a row for each feature here (featFirst), or a row for each step in time.
"""

from math import prod

from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, contiguous_strides, describe
from th_shell.runtime.thnn._columns import Windows
from th_shell.runtime.thnn._convolution import (
    Columns,
    Given,
    Shape,
    accumulate,
    check_columns,
    check_found,
    count_places,
    expand,
    inner_windows,
    reduce,
)
from th_shell.runtime.thnn.checks import (
    Numbers,
    check,
    check_batch,
    check_size,
    check_steps,
    in_order,
    positive,
)
from th_shell.runtime.thnn.table import BACKWARD, GRADIENTS, Call, unrepeated

# -- SpatialDepthWiseConvolution

_IMAGE = "finput, fgradInput, int kW, int kH, int dW, int dH, int padW, int padH"


@unrepeated("SpatialDepthWiseConvolution_updateOutput", f"input, output, weight, bias?, {_IMAGE}")
def depthwise(call: Call) -> None:
    """output = bias + the correlations of each of input's planes with the kernels for it."""
    # Torch7: takes the width of an image for its height, and the other way round.
    shape = _turned(_check_image(call), call.numbers)
    reduce(call, shape, call.input, call.output, Columns(call.finput, kept=True))


@unrepeated("SpatialDepthWiseConvolution_updateGradInput", f"{BACKWARD}, weight, {_IMAGE}")
def depthwise_backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    shape = _check_image(call)
    _check_places(shape, _turned(shape, call.numbers))
    expand(call, shape, call.gradOutput, call.gradInput, Columns(call.fgradInput, kept=True))


@unrepeated(
    "SpatialDepthWiseConvolution_accGradParameters", f"{GRADIENTS}?, {_IMAGE}, accreal scale"
)
def depthwise_accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias.

    Torch7 leaves both with their memory turned, maps within planes, and at a second call loses
    gradients where there are as many maps as planes.
    """
    shape = _check_image(call)
    _check_places(shape, _turned(shape, call.numbers))
    check_columns(call.finput, shape)
    accumulate(call, shape, Columns(call.finput, kept=True))


def _check_places(shape: Shape, turned: Shape) -> None:
    if shape.windows.places != turned.windows.places:
        raise TorchError(
            f"size mismatch: {turned.windows.places} columns, {shape.windows.places} places"
        )


def _turned(shape: Shape, numbers: Numbers) -> Shape:
    """A shape with width for height, and height for width."""
    height, width = shape.size
    if height == width:
        return shape
    return _shape(shape.batch, shape.kinds, shape.maps, (width, height), numbers)


def _shape(batch: Sizes, planes: Sizes, maps: int, size: Sizes, numbers: Numbers) -> Shape:
    kernel, stride, padding = in_order(numbers, 2)
    count = count_places(size, kernel, stride, padding, (1, 1))
    check_found(size, count, maps * prod(planes), prod(planes))
    windows = inner_windows(size, kernel, stride, padding, count)
    return Shape(batch, 1, maps, size, count, windows, planes)


def _check_image(call: Call) -> Shape:
    """The sizes of a call. Torch7: weights with 2 dimensions get 4."""
    operands = Given.to(call)
    input, weight = operands.input, operands.weight
    kernel, stride, _ = in_order(call.numbers, 2)
    taps = prod(kernel)
    if min(kernel) > 0 and weight.ndim == 2 and weight.sizes[1] % taps == 0:
        weight.resize((weight.sizes[0], weight.sizes[1] // taps, *kernel))
    check_steps(9, kernel, stride)
    check(weight.ndim == 4, 5, "2D or 4D weight tensor expected, but got: %s", weight)
    maps, planes = weight.sizes[:2]
    if operands.bias is not None:
        check_size("bias", operands.bias, 2, 0, maps)
        check_size("bias", operands.bias, 2, 1, planes)
    check_batch(input, 2, plain=True)
    shape = _shape(input.sizes[:-3], (planes,), maps, input.sizes[-2:], call.numbers)
    check_size("input", input, input.ndim, input.ndim - 3, planes)
    if weight.sizes[2:] != kernel:
        kh, kw = kernel
        raise TorchError(f"weight of kernels {kh} x {kw} expected, got {describe(weight.sizes)}")
    if operands.grad_output is not None:
        _check_gradient(operands.grad_output, shape)
    return shape


def _check_gradient(grad_output: Tensor, shape: Shape) -> None:
    """Check the sizes of gradOutput, of which planes and maps may be one dimension."""
    dims = len(shape.batch) + 4
    actual = grad_output.sizes
    if len(actual) == dims - 1:
        actual = (*actual[: dims - 4], *shape.kinds, shape.maps, *actual[-2:])
    like = grad_output.view(grad_output.offset, actual, contiguous_strides(actual))
    for dim, size in enumerate((*shape.kinds, shape.maps, *shape.count), dims - 4):
        check_size("gradOutput", like, dims, dim, size)
    samples = actual[0] if shape.batch else 1
    if grad_output.nelement < samples * prod((*shape.kinds, *shape.results[1:])) or (
        shape.batch and samples < shape.batch[0]
    ):
        raise TorchError(f"gradOutput has too few elements: {describe(grad_output.sizes)}")


# -- TemporalRowConvolution

_ROWS = "finput, fgradInput, int kW, int dW, int padW, bool featFirst"


@unrepeated("TemporalRowConvolution_updateOutput", f"input, output, weight, bias?, {_ROWS}")
def rows(call: Call) -> None:
    """output = bias + the correlation of each row with its kernel."""
    shape = _check_rows(call)
    _make_dense(call, call.output)
    reduce(call, shape, _rows(call, call.input), call.output, Columns(call.finput, kept=True))
    _turn(call, call.output)


@unrepeated("TemporalRowConvolution_updateGradInput", f"{BACKWARD}, weight, {_ROWS}")
def rows_backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    shape = _check_rows(call)
    check_columns(call.finput, shape)
    _make_dense(call, call.gradInput)
    g = _rows(call, call.gradOutput)
    expand(call, shape, g, call.gradInput, Columns(call.fgradInput, kept=True))
    _turn(call, call.gradInput)


@unrepeated("TemporalRowConvolution_accGradParameters", f"{GRADIENTS}?, {_ROWS}, accreal scale")
def rows_accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    shape = _check_rows(call)
    check_columns(call.finput, shape)
    call.gradOutput = _rows(call, call.gradOutput)
    accumulate(call, shape, Columns(call.finput, kept=True))


def _rows(call: Call, tensor: Tensor) -> Tensor:
    """The sequence with a row for each feature."""
    return tensor if call.featFirst else tensor.transpose(tensor.ndim - 1, tensor.ndim - 2)


def _turn(call: Call, result: Tensor) -> None:
    """Let a result, with a row for each feature, have one for each step again."""
    call.finish()
    turned = _rows(call, result)
    result.set(turned.storage, turned.offset, turned.sizes, turned.strides)


def _make_dense(call: Call, result: Tensor) -> None:
    """Let a result that was turned be contiguous."""
    if not call.featFirst:
        strides = contiguous_strides(result.sizes)
        result.set_checked(result.storage, result.offset, result.sizes, strides)


def _check_rows(call: Call) -> Shape:
    """The sizes of a call. Torch7: padding adds places, at which it reads beyond the rows."""
    operands, width, step = Given.to(call), call.kW, call.dW
    input, weight = _rows(call, operands.input), operands.weight
    positive(5, "kernel size", "k", (width,))
    positive(6, "stride", "d", (step,))
    check(weight.ndim == 3, 3, "3D weight tensor expected, but got: %s", weight)
    check(weight.is_contiguous, 4, "weight must be contiguous")
    features = weight.sizes[0]
    if operands.bias is not None:
        check(operands.bias.is_contiguous, 5, "bias must be contiguous")
        check_size("bias", operands.bias, 1, 0, features)
    message = "2D or 3D (batch mode) input tensor expected, but got :%s"
    check(input.ndim in (2, 3), 1, message, input)
    *batch, _, length = input.sizes
    count = count_places((length,), (width,), (step,), (call.padW,), (1,))
    check_found((length,), count, features, features)
    check_size("input", input, input.ndim, input.ndim - 2, features)
    if operands.grad_output is not None:
        grad_output = _rows(call, operands.grad_output)
        for dim, size in enumerate((features, *count), input.ndim - 2):
            check_size("gradOutput", grad_output, input.ndim, dim, size)
        if grad_output.sizes[:-2] != input.sizes[:-2]:
            raise TorchError("gradOutput and input have different numbers of samples")
    if weight.sizes[1:] != (1, width):
        raise TorchError(f"weight of kernels 1 x {width} expected, got {describe(weight.sizes)}")
    if (count[0] - 1) * step + width > length:
        raise TorchError(f"{count[0]} places of the kernel do not fit into {length} frames")
    windows = Windows.of((length,), (width,), (step,), (0,), (1,), count)
    return Shape(tuple(batch), 1, 1, (length,), count, windows, (features,))
