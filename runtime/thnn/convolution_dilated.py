"""Dilated and full (transposed) convolutions of images and volumes.

``columns`` is memory for the columns of one sample, and holds those of the last one afterwards;
``ones`` is at least as large as a map, and has only ones. Both are what the original leaves there.
"""

from __future__ import annotations

from math import prod

from runtime.core.tensor import Sizes, Tensor
from runtime.thnn import _columns
from runtime.thnn._convolution import Check, Shape
from runtime.thnn._dilated_sizes import (
    check_dilated_image,
    check_dilated_volume,
    check_full_image,
    check_full_volume,
    undilated,
)
from runtime.thnn._jobs import adding, read, refuse_recording, writing
from runtime.thnn.checks import check
from runtime.thnn.table import Call, thnn

# -- what is computed: `reduce` makes maps of images, `expand` images of maps


def _reduce(
    shape: Shape,
    source: Tensor,
    result: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    columns: Tensor,
) -> None:
    """result = bias + weight * the columns of source."""
    results = (result, columns)
    x, w = read(source, *results), read(weight, *results)
    b = None if bias is None else read(bias, *results)
    sizes = (*shape.batch, shape.maps, *shape.count)
    with writing((result, sizes), (columns, shape.columns)) as (out, memory):
        _columns.correlate(
            shape.windows,
            x.reshape(-1, *shape.images[1:])[: shape.images[0]],
            w.reshape(shape.maps, -1),
            b,
            out.reshape(shape.results),
            memory,
        )


def _expand(
    shape: Shape,
    source: Tensor,
    result: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    columns: Tensor,
) -> None:
    """result = bias + transposed(weight) * source, added up as columns of the result."""
    results = (result, columns)
    g, w = read(source, *results), read(weight, *results)
    b = None if bias is None else read(bias, *results)
    sizes = (*shape.batch, shape.planes, *shape.size)
    with writing((result, sizes), (columns, shape.columns)) as (out, memory):
        _columns.spread(
            shape.windows,
            g.reshape(-1, *shape.results[1:]),
            w.reshape(shape.maps, -1),
            b,
            out.reshape(shape.images),
            memory,
        )


def _accumulate(
    shape: Shape,
    images: Tensor,
    maps: Tensor,
    grad_output: Tensor,
    gradients: tuple[Tensor, Tensor | None],
    scale: float,
    columns: Tensor,
) -> None:
    """Add scale times maps * the columns of images to weights, and sums of gradOutput to biases."""
    grad_weight, grad_bias = gradients
    results = (*(g for g in gradients if g is not None), columns)
    samples = shape.images[0]
    x = read(images, *results).reshape(-1, *shape.images[1:])[:samples]
    g = read(maps, *results).reshape(-1, *shape.results[1:])[:samples]
    with writing((columns, shape.columns)) as (memory,), adding(grad_weight) as out:
        _columns.weigh(shape.windows, x, g, out.reshape(shape.maps, -1), scale, memory)
    if grad_bias is not None:
        gradient = g if grad_output is maps else x.reshape(samples, shape.planes, -1)
        with adding(grad_bias) as sums:
            _columns.add_sums(sums, gradient, scale)


def _fill_ones(ones: Tensor, count: Sizes) -> None:
    if ones.ndim != len(count) or ones.nelement < prod(count):
        refuse_recording("ones are filled")
        ones.resize(count)
        ones.array[...] = 1


def _check_contiguous(grad_weight: Tensor, grad_bias: Tensor | None) -> None:
    check(grad_weight.is_contiguous, 4, "gradWeight needs to be contiguous")
    if grad_bias is not None:
        check(grad_bias.is_contiguous, 5, "gradBias needs to be contiguous")


# -- the functions


def _add_rows(
    name: str,
    numbers: str,
    sizes_of: Check,
    buffers: tuple[str, str],
    full: bool,
    ones_in_backward: bool = False,
) -> None:
    """Add the rows of a layer.

    numbers: the parameters that are numbers. buffers: the names of the columns in updateGradInput,
    and of what follows it there, if that is a parameter. full: whether maps are the input.
    """
    forward_pass, backward_pass = (_expand, _reduce) if full else (_reduce, _expand)
    columns, ones = buffers

    @thnn(
        f"{name}_updateOutput",
        "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias?, "
        f"THTensor *{columns}, THTensor *{ones}, {numbers}",
        repeats=True,
    )
    def forward(call: Call) -> None:
        """output = bias + the convolution of input with weight."""
        shape = sizes_of(call.input, None, call.weight, call.bias, call.numbers)
        forward_pass(shape, call.input, call.output, call.weight, call.bias, getattr(call, columns))
        _fill_ones(getattr(call, ones), shape.size if full else shape.count)

    ones_parameter = f"THTensor *{ones}, " if ones_in_backward else ""

    @thnn(
        f"{name}_updateGradInput",
        "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, "
        f"THTensor *{columns}, {ones_parameter}{numbers}",
        repeats=True,
    )
    def backward(call: Call) -> None:
        """gradInput from gradOutput and weight."""
        shape = sizes_of(call.input, call.gradOutput, call.weight, None, call.numbers)
        backward_pass(
            shape, call.gradOutput, call.gradInput, call.weight, None, getattr(call, columns)
        )

    @thnn(
        f"{name}_accGradParameters",
        "THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias?, "
        f"THTensor *{columns}, THTensor *{ones}, {numbers}, accreal scale",
        repeats=True,
    )
    def accumulate(call: Call) -> None:
        """Add scale times the gradients to gradWeight and gradBias."""
        shape = sizes_of(call.input, call.gradOutput, call.gradWeight, call.gradBias, call.numbers)
        _check_contiguous(call.gradWeight, call.gradBias)
        images, maps = (call.gradOutput, call.input) if full else (call.input, call.gradOutput)
        gradients = (call.gradWeight, call.gradBias)
        _accumulate(
            shape, images, maps, call.gradOutput, gradients, call.scale, getattr(call, columns)
        )
        _fill_ones(getattr(call, ones), shape.size if full else shape.count)


_IMAGE_NUMBERS = "int kW, int kH, int dW, int dH, int padW, int padH"
_VOLUME_STEPS = "int dT, int dW, int dH, int pT, int pW, int pH"
_DILATION = ", int dilationW, int dilationH"
_VOLUME_DILATION = ", int dilationT, int dilationW, int dilationH"

_add_rows(
    "SpatialDilatedConvolution",
    _IMAGE_NUMBERS + _DILATION,
    check_dilated_image,
    ("columns", "ones"),
    full=False,
)
_add_rows(
    "VolumetricDilatedConvolution",
    "int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH"
    + _VOLUME_DILATION,
    check_dilated_volume,
    ("columns", "ones"),
    full=False,
)
_add_rows(
    "SpatialFullDilatedConvolution",
    _IMAGE_NUMBERS + _DILATION + ", int adjW, int adjH",
    check_full_image,
    ("columns", "ones"),
    full=True,
)
_add_rows(
    "SpatialFullConvolution",
    _IMAGE_NUMBERS + ", int adjW, int adjH",
    undilated(check_full_image, 2),
    ("columns", "ones"),
    full=True,
)
_add_rows(
    "VolumetricFullDilatedConvolution",
    _VOLUME_STEPS + _VOLUME_DILATION + ", int aT, int aW, int aH",
    check_full_volume,
    ("finput", "fgradInput"),
    full=True,
    ones_in_backward=True,
)
_add_rows(
    "VolumetricFullConvolution",
    _VOLUME_STEPS + ", int aT, int aW, int aH",
    undilated(check_full_volume, 3),
    ("finput", "fgradInput"),
    full=True,
    ones_in_backward=True,
)
