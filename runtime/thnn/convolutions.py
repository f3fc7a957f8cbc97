"""Convolutions of images and volumes: those that keep their columns, dilated and full ones.

SpatialConvolutionMM and VolumetricConvolutionMM keep the columns of all samples in finput, where
accGradParameters reads them; fgradInput gets their gradients. For the others ``columns`` is memory
for the columns of one sample, and holds those of the last one afterwards; ``ones`` is at least as
large as a map, and has only ones. Both are what the original leaves there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.tensor import Sizes, Tensor
from th_shell.runtime.thnn._columns import Windows
from th_shell.runtime.thnn._convolution import (
    Check,
    Columns,
    Given,
    Shape,
    accumulate,
    check_columns,
    check_contiguous,
    check_found,
    check_gradient,
    count_places,
    expand,
    inner_windows,
    of_weight,
    reduce,
    remembered,
)
from th_shell.runtime.thnn._jobs import refuse_recording
from th_shell.runtime.thnn.checks import (
    check,
    check_batch,
    check_size,
    check_steps,
    in_order,
)
from th_shell.runtime.thnn.table import BACKWARD, GRADIENTS, Call, thnn

_IMAGE_WEIGHT = "2D or 4D weight tensor expected, but got: %s"
_VOLUME_WEIGHT = (
    "5D (nOutputPlane x nInputPlane x kT x kH x kW) tensor expected for weight, but got: %s"
)


def _check_bias(bias: Tensor | None, count: int) -> None:
    if bias is not None:
        check_size("bias", bias, 1, 0, count)


# -- the sizes of those that keep their columns


@remembered
def _check_image(operands: Given) -> Shape:
    input, weight = operands.input, operands.weight
    kernel, stride, padding = in_order(operands.numbers, 2)
    check_steps(9, kernel, stride)
    check(weight.ndim in (2, 4), 5, _IMAGE_WEIGHT, weight)
    maps, size = weight.sizes[0], input.sizes[-2:]
    _check_bias(operands.bias, maps)
    check_batch(input, 2, plain=True)
    planes = weight.nelement // maps // prod(kernel)
    count = count_places(size, kernel, stride, padding, (1, 1))
    check_found(size, count, maps, planes)
    check_size("input", input, input.ndim, input.ndim - 3, planes)
    check_gradient(operands.grad_output, input, (maps, *count))
    windows = inner_windows(size, kernel, stride, padding, count)
    return of_weight(weight, Shape(input.sizes[:-3], planes, maps, size, count, windows))


@remembered
def _check_volume(operands: Given) -> Shape:
    input, weight = operands.input, operands.weight
    check_batch(input, 3)
    kernel, stride, padding = in_order(operands.numbers, 3)
    check_steps(8, kernel, stride)
    planes, maps = input.sizes[-4], weight.sizes[0] if weight.ndim else 0
    size = input.sizes[-3:]
    count = count_places(size, kernel, stride, padding, (1, 1, 1))
    check_found(size, count, maps, planes)
    check(weight.ndim in (2, 5), 4, f"weight tensor should be 2D or 5D - got {weight.ndim}")
    _check_bias(operands.bias, maps)
    check_gradient(operands.grad_output, input, (maps, *count))
    windows = inner_windows(size, kernel, stride, padding, count)
    return of_weight(weight, Shape(input.sizes[:-4], planes, maps, size, count, windows))


# -- the sizes of dilated and full ones


@remembered
def _check_dilated(operands: Given) -> Shape:
    input, weight = operands.input, operands.weight
    dims = len(operands.numbers) // 4
    kernel, stride, padding, dilation = in_order(operands.numbers, dims)
    if dims == 2:
        message = "4D weight tensor (nOutputPlane,nInputPlane,kH,kW) expected, but got: %s"
        check(weight.ndim == 4, 4, message, weight)
        check_steps(9, kernel, stride, dilation)
        _check_bias(operands.bias, weight.sizes[0])
        check_batch(input, 2, plain=True)
    else:
        check_batch(input, 3)
        check(weight.ndim == 5, 4, _VOLUME_WEIGHT, weight)
        check_steps(8, kernel, stride, dilation)
        _check_bias(operands.bias, weight.sizes[0])
    (maps, planes), size = weight.sizes[:2], input.sizes[-dims:]
    count = count_places(size, kernel, stride, padding, dilation)
    check_found(size, count, maps, planes)
    check_size("input", input, input.ndim, input.ndim - dims - 1, planes)
    check_gradient(operands.grad_output, input, (maps, *count))
    windows = Windows.of(size, kernel, stride, padding, dilation, count)
    return of_weight(weight, Shape(input.sizes[: -dims - 1], planes, maps, size, count, windows))


@remembered
def _check_full_image(operands: Given) -> Shape:
    input, weight = operands.input, operands.weight
    kernel, stride, padding, extra = in_order(operands.numbers, 2)
    check_steps(9, kernel, stride)
    _check_extra(extra, stride, ("adjH", "adjW", "dH", "dW", "dilationH", "dilationW"))
    check(weight.ndim in (2, 4), 5, _IMAGE_WEIGHT, weight)
    _check_bias(operands.bias, weight.sizes[1])
    check_batch(input, 2, plain=True)
    return _full_shape(operands, kernel, stride, padding, extra)


@remembered
def _check_full_volume(operands: Given) -> Shape:
    input, weight = operands.input, operands.weight
    check_batch(input, 3)
    check(weight.ndim == 5, 4, _VOLUME_WEIGHT, weight)
    stride, padding, extra = in_order(operands.numbers, 3)
    kernel = weight.sizes[2:]
    check_steps(8, kernel, stride)
    names = [f"{what}{d}" for what in ("a", "d", "dilation") for d in "THW"]
    _check_extra(extra, stride, names)
    _check_bias(operands.bias, weight.sizes[1])
    return _full_shape(operands, kernel, stride, padding, extra)


def _check_extra(extra: Sizes, stride: Sizes, names: Sequence[str]) -> None:
    """Raise an error where what is added to the size of a result is too large."""
    if not all(e < s or e < 1 for e, s in zip(extra, stride, strict=True)):
        values = zip(names, (*extra, *stride, *(1,) * len(extra)), strict=True)
        got = " ".join(f"{name}: {number}" for name, number in values)
        message = f"output padding must be smaller than either stride or dilation, but got {got}"
        raise ArgError(15, message)


def _full_shape(
    operands: Given, kernel: Sizes, stride: Sizes, padding: Sizes, extra: Sizes
) -> Shape:
    """The sizes of a full convolution, whose maps are the input."""
    input, weight, dims = operands.input, operands.weight, len(kernel)
    (maps, planes), count = weight.sizes[:2], input.sizes[-dims:]
    numbers = zip(count, kernel, stride, padding, extra, strict=True)
    size = tuple((n - 1) * s - 2 * p + k + e for n, k, s, p, e in numbers)
    check_found(count, size, planes, maps)
    check_size("input", input, input.ndim, input.ndim - dims - 1, maps)
    check_gradient(operands.grad_output, input, (planes, *size))
    windows = Windows.of(size, kernel, stride, padding, (1,) * dims, count)
    return of_weight(weight, Shape(input.sizes[: -dims - 1], planes, maps, size, count, windows))


# -- the functions


@dataclass(frozen=True)
class _Layer:
    """A layer. numbers: the parameters that are numbers. check: gives the sizes of a call.

    buffers: the parameters for tensors that are neither input nor result, in updateOutput,
    updateGradInput and accGradParameters. columns: the tensors that get columns in the first two
    of these. kept: whether columns of all samples are kept. full: whether maps are the input.
    dense: whether gradients must be contiguous. Torch7: of volumes, others stay as they are.
    """

    name: str
    numbers: str
    check: Check
    buffers: tuple[str, str, str] = ("columns, ones", "columns", "columns, ones")
    columns: tuple[str, str] = ("columns", "columns")
    kept: bool = False
    full: bool = False
    dense: bool = True

    def columns_of(self, call: Call, back: bool = False) -> Columns:
        """Return the memory for the columns."""
        return Columns(getattr(call, self.columns[back]), self.kept)

    def check_kept(self, call: Call, shape: Shape) -> None:
        """Raise an error unless columns that are kept are there."""
        if self.kept:
            check_columns(call.finput, shape)

    def fill_ones(self, call: Call, shape: Shape) -> None:
        """Have enough ones for a map of the result, where these have a tensor."""
        if self.kept:
            return
        ones: Tensor = getattr(call, self.buffers[0].split(", ")[1])
        count = shape.size if self.full else shape.count
        if ones.ndim != len(count) or ones.nelement < prod(count):
            refuse_recording("ones are filled")
            ones.resize(count)
            ones.array[...] = 1


def _add_rows(layer: _Layer) -> None:
    """Add the rows of a layer."""
    name, numbers = layer.name, layer.numbers
    forward_pass, backward_pass = (expand, reduce) if layer.full else (reduce, expand)
    of_output, of_input, of_weight = layer.buffers

    @thnn(f"{name}_updateOutput", f"input, output, weight, bias?, {of_output}, {numbers}")
    def forward(call: Call) -> None:
        """output = bias + the convolution of input with weight."""
        shape = layer.check(call)
        forward_pass(call, shape, call.input, call.output, layer.columns_of(call))
        layer.fill_ones(call, shape)

    @thnn(f"{name}_updateGradInput", f"{BACKWARD}, weight, {of_input}, {numbers}")
    def backward(call: Call) -> None:
        """gradInput from gradOutput and weight."""
        shape = layer.check(call)
        layer.check_kept(call, shape)
        columns = layer.columns_of(call, back=True)
        backward_pass(call, shape, call.gradOutput, call.gradInput, columns)

    @thnn(f"{name}_accGradParameters", f"{GRADIENTS}?, {of_weight}, {numbers}, accreal scale")
    def gradients(call: Call) -> None:
        """Add scale times the gradients to gradWeight and gradBias."""
        if layer.dense:
            check_contiguous(call)
        shape = layer.check(call)
        layer.check_kept(call, shape)
        accumulate(call, shape, layer.columns_of(call), layer.full)
        layer.fill_ones(call, shape)


_KERNEL = "int kT, int kW, int kH"
_STEPS = "int dT, int dW, int dH, int pT, int pW, int pH"
_IMAGE = "int kW, int kH, int dW, int dH, int padW, int padH"
_VOLUME = f"{_KERNEL}, int dT, int dW, int dH, int padT, int padW, int padH"
_DILATION, _APART = "int dilationW, int dilationH", "int dilationT, int dilationW, int dilationH"
_EXTRA, _VOLUME_EXTRA = "int adjW, int adjH", "int aT, int aW, int aH"

for _layer in (
    _Layer("SpatialDilatedConvolution", f"{_IMAGE}, {_DILATION}", _check_dilated),
    _Layer("VolumetricDilatedConvolution", f"{_VOLUME}, {_APART}", _check_dilated),
    _Layer(
        "SpatialConvolutionMM",
        _IMAGE,
        _check_image,
        buffers=("finput, fgradInput",) * 3,
        columns=("finput", "fgradInput"),
        kept=True,
    ),
    _Layer(
        "VolumetricConvolutionMM",
        f"{_KERNEL}, {_STEPS}",
        _check_volume,
        buffers=("finput", "finput, fgradInput", "finput"),
        columns=("finput", "fgradInput"),
        kept=True,
        dense=False,
    ),
):
    _add_rows(_layer)

_add_rows(_Layer("SpatialFullConvolution", f"{_IMAGE}, {_EXTRA}", _check_full_image, full=True))
_add_rows(
    _Layer(
        "VolumetricFullConvolution",
        f"{_STEPS}, {_VOLUME_EXTRA}",
        _check_full_volume,
        buffers=("finput, fgradInput",) * 3,
        columns=("finput", "finput"),
        full=True,
    )
)
