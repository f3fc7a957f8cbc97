"""Convolutions of one, two and three dimensions, and their transposed forms."""

from __future__ import annotations

import numpy as np

from runtime.export.graph import BATCH, Value
from runtime.export.modules import Module, row
from runtime.export.operators.layers import linear
from runtime.export.operators.shaping import permute
from runtime.export.operators.windows import Windows, conv, conv_transpose
from runtime.export.parameters import Parameter

_PLANE, _VOLUME = "HW", "THW"


def _numbers(m: Module, prefix: str, axes: str, default: int | None = None) -> list[int]:
    """Fields such as dH and dW."""
    return m.wholes(*[f"{prefix}{axis}" for axis in axes], default=default)


def _windows(m: Module, axes: str) -> Windows:
    old = m.whole("padding", 0)  # of old files
    return Windows.of(
        _numbers(m, "k", axes),
        _numbers(m, "d", axes, 1),
        _numbers(m, "pad", axes, old),
        _numbers(m, "dilation", axes, 1),
    )


@row("nn.SpatialConvolution", "nn.SpatialConvolutionMM", "nn.SpatialDilatedConvolution")
def _spatial(m: Module, x: Value) -> Value:
    return _convolution(m, x, _PLANE)


@row("nn.VolumetricConvolution", "nn.VolumetricDilatedConvolution")
def _volumetric(m: Module, x: Value) -> Value:
    return _convolution(m, x, _VOLUME)


def _convolution(m: Module, x: Value, axes: str) -> Value:
    windows, groups = _windows(m, axes), m.whole("groups", 1)
    weight = m.parameter("weight")
    shape = (m.whole("nOutputPlane"), m.whole("nInputPlane") // groups, *windows.size)
    return conv(x, windows, weight.view(*shape), m.optional("bias"), groups)


@row("nn.SpatialFullConvolution")
def _full(m: Module, x: Value) -> Value:
    return _transposed(m, x, _PLANE)


@row("nn.VolumetricFullConvolution")
def _full_volumetric(m: Module, x: Value) -> Value:
    return _transposed(m, x, _VOLUME)


def _transposed(m: Module, x: Value, axes: str) -> Value:
    windows, groups = _windows(m, axes), m.whole("groups", 1)
    shape = (m.whole("nInputPlane"), m.whole("nOutputPlane") // groups, *windows.size)
    weight = m.parameter("weight").view(*shape)
    return conv_transpose(
        x, windows, _numbers(m, "adj", axes, 0), weight, m.optional("bias"), groups
    )


@row("nn.TemporalConvolution")
def _temporal(m: Module, x: Value) -> Value:
    """Of frames, which are the last dimension."""
    inputs, outputs = m.whole("inputFrameSize"), m.whole("outputFrameSize")
    width, weight = m.whole("kW"), m.parameter("weight")
    if x.shape is None:
        x.set_shape((BATCH, None, inputs))
    if width == m.whole("dW", 1) == 1:
        return linear(x, weight, m.optional("bias"))
    moved = np.ascontiguousarray(weight.array().reshape(outputs, width, inputs).transpose(0, 2, 1))
    kernel = Parameter.made(moved, weight)
    windows = Windows.of([width], [m.whole("dW", 1)])
    return permute(conv(permute(x, (0, 2, 1)), windows, kernel, m.optional("bias")), (0, 2, 1))
