"""Convolutions of one, two and three dimensions; pooling, resampling and padding."""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from th_shell.runtime.export.data import UndecidedInput
from th_shell.runtime.export.graph import BATCH, Data, Open, Value
from th_shell.runtime.export.modules import Module, data_row, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators import vectors
from th_shell.runtime.export.operators.layers import linear
from th_shell.runtime.export.operators.shaping import permute, with_samples
from th_shell.runtime.export.operators.windows import (
    Windows,
    adaptive_pool,
    avg_pool,
    conv,
    conv_transpose,
    max_pool,
    max_unpool,
    pad,
    pixel_shuffle,
    pool_places,
    upsample,
)
from th_shell.runtime.export.parameters import Parameter


def axes_of(m: Module) -> str:
    """Return the last letters of the names of fields such as kW, one for each dimension."""
    return "THW" if "Volumetric" in m.kind else "HW" if "Spatial" in m.kind else "W"


def _numbers(m: Module, prefix: str, default: int | None = None) -> list[int]:
    """Return fields such as dH and dW."""
    return m.wholes(*[f"{prefix}{axis}" for axis in axes_of(m)], default=default)


def windows_of(m: Module, strides: Sequence[int] = (), ceil: bool = False) -> Windows:
    """Return windows by a module's fields. strides: for a module without any; by default 1."""
    size, axes = _numbers(m, "k"), axes_of(m)
    steps = zip(axes, strides or [1] * len(size), strict=True)
    # Old files have one number for all dimensions, or other names.
    padding = [m.whole(f"pad{axis}", m.whole(f"p{axis}", m.whole("padding", 0))) for axis in axes]
    strides = [m.whole(f"d{axis}", step) for axis, step in steps]
    return Windows(size, strides, padding, _numbers(m, "dilation", 1), ceil)


@row(
    "nn.SpatialConvolution nn.SpatialConvolutionMM nn.SpatialDilatedConvolution "
    "nn.VolumetricConvolution nn.VolumetricDilatedConvolution"
)
def _convolution(m: Module, x: Value) -> Value:
    windows, groups = windows_of(m), m.whole("groups", 1)
    weight = m.parameter("weight")
    shape = (m.whole("nOutputPlane"), m.whole("nInputPlane") // groups, *windows.size)
    return conv(x, windows, weight.view(*shape), m.optional("bias"), groups)


@data_row("nn.SpatialFullConvolution", "nn.VolumetricFullConvolution")
def _transposed(m: Module, data: Data) -> Data:
    """Convert a transposed convolution; of a pair the second tensor tells the result's sizes."""
    windows, groups = windows_of(m), m.whole("groups", 1)
    weight, inputs = m.parameter("weight"), m.whole("nInputPlane")
    outputs = m.whole("nOutputPlane") // groups
    if "Volumetric" in m.kind and m.get("adjW") is None:  # an old file: outputs come first
        weight = Parameter.made(weight.array().swapaxes(0, 1).copy(), weight)
    if isinstance(data, list) and not isinstance(data, UndecidedInput):
        x, like = m.tensors(data, 2)
        extra = _to_be_added(windows, like.sizes(*range(2, 2 + len(windows.size))))
    else:
        x, extra = m.tensor(data), _numbers(m, "adj", 0)
    weight = weight.view(inputs, outputs, *windows.size)
    return conv_transpose(x, windows, extra, weight, m.optional("bias"), groups)


def _to_be_added(windows: Windows, sizes: Sequence[int]) -> list[int]:
    """Return how many rows a result gets at its ends, so that it has these sizes."""
    columns = zip(sizes, windows.size, windows.padding, windows.stride, strict=True)
    return [(size + 2 * pad - kernel) % step for size, kernel, pad, step in columns]


@row("nn.SpatialConvolutionMap")
def _connected(m: Module, x: Value) -> Value:
    """Convolve some inputs for each output, which a table of pairs says."""
    weight, table = m.parameter("weight"), m.parameter("connTable").array().astype(int) - 1
    inputs, outputs = m.wholes("nInputPlane", "nOutputPlane")
    if len(table) != weight.shape[0] or not ((table >= 0) & (table < (inputs, outputs))).all():
        raise m.error("its table does not fit its weights and numbers of planes")
    windows = Windows(weight.shape[1:], _numbers(m, "d", 1))
    kernel = np.zeros((outputs, inputs, *windows.size), weight.own_dtype)
    np.add.at(kernel, (table[:, 1], table[:, 0]), weight.array())
    if len(table) != inputs * outputs:
        m.remark("has zeros where it connects no planes, which training would change")
    return conv(x, windows, Parameter.made(kernel, weight), m.optional("bias"))


@row("nn.SpatialDepthWiseConvolution")
def _depth_wise(m: Module, x: Value) -> Value:
    """Convolve each plane by itself; the results of a plane stand beside each other."""
    windows = windows_of(m)
    inputs, outputs = m.wholes("nInputPlane", "nOutputPlane")
    *_, height, width = x.assume((BATCH, inputs, None, None))
    if height != width and not isinstance(height, Open):
        raise m.error("takes rows for columns in nn: its planes must be square")
    weight, bias = m.parameter("weight"), m.optional("bias")
    kernel = weight.array().reshape(outputs, inputs, *windows.size).swapaxes(0, 1)
    kernel = kernel.reshape(inputs * outputs, 1, *windows.size)
    shift = bias and Parameter.made(bias.array().T.reshape(-1).copy(), bias)
    return conv(x, windows, Parameter.made(kernel, weight), shift, inputs)


@row("nn.SpatialSubSampling", "nn.TemporalSubSampling")
def _sub_sampling(m: Module, x: Value) -> Value:
    """Multiply sums of windows by a number for each plane, and add another one."""
    windows = windows_of(m)
    planes = m.whole("nInputPlane" if "Spatial" in m.kind else "inputFrameSize")
    weight = vectors(x, planes, weight=m.parameter("weight"))["weight"]
    column = weight.array().reshape(-1, 1, *[1] * len(windows.size))
    kernel = Parameter.made(np.tile(column, (1, 1, *windows.size)), weight)
    apply = conv if "Spatial" in m.kind else _of_frames
    return apply(x, windows, kernel, m.optional("bias"), planes)


def _of_frames(
    x: Value, windows: Windows, weight: Parameter, bias: Parameter | None, groups: int = 1
) -> Value:
    """Return a convolution over frames, which are the last dimension."""
    x.assume((BATCH, None, weight.shape[1] * groups))
    return _over_frames(x, lambda planes: conv(planes, windows, weight, bias, groups))


def _over_frames(x: Value, compute: Callable[[Value], Value]) -> Value:
    """Compute something of planes for frames, which are the last dimension."""

    def apply(x: Value) -> Value:
        return permute(compute(permute(x, (0, 2, 1))), (0, 2, 1))

    return with_samples(x, 3, apply)


@row("nn.TemporalConvolution")
def _temporal(m: Module, x: Value) -> Value:
    """Convolve frames, which are the last dimension; cudnn's may add zeros at the ends."""
    inputs, outputs = m.whole("inputFrameSize"), m.whole("outputFrameSize")
    axis = "H" if m.is_cudnn else "W"
    width, step = m.whole(f"k{axis}"), m.whole(f"d{axis}", 1)
    weight, bias, ends = m.parameter("weight"), m.optional("bias"), m.whole("padH", 0)
    x.assume((BATCH, None, inputs))
    if width == step == 1 and not ends:
        return linear(x, weight, bias)
    frames = weight.array().reshape(outputs, width, inputs).transpose(0, 2, 1)
    kernel = Parameter.made(np.ascontiguousarray(frames), weight)
    return _of_frames(x, Windows([width], [step], [ends]), kernel, bias)


def _windows(m: Module) -> Windows:
    """Return windows, which stand beside each other without fields for steps, but for means."""
    steps = [] if "Average" in m.kind else m.wholes(*[f"k{axis}" for axis in axes_of(m)])
    is_inn = m.value.torch_typename.startswith("inn.")
    return windows_of(m, steps, ceil=bool(m.get("ceil_mode")) or is_inn)


@row(
    "nn.SpatialMaxPooling nn.SpatialDilatedMaxPooling nn.VolumetricMaxPooling "
    "nn.VolumetricDilatedMaxPooling"
)
def _max(m: Module, x: Value) -> Value:
    return max_pool(x, _windows(m))


@row("nn.TemporalMaxPooling")
def _temporal_max(m: Module, x: Value) -> Value:
    x.assume((BATCH, None, None))
    windows = _windows(m)
    return _over_frames(x, lambda planes: max_pool(planes, windows))


@row("nn.SpatialAveragePooling", "nn.VolumetricAveragePooling")
def _average(m: Module, x: Value) -> Value:
    windows = _windows(m)
    include = m.get("count_include_pad", True) is not False
    divide = m.kind != "nn.SpatialAveragePooling" or m.is_cudnn or bool(m.get("divide"))
    if x.shape and list(x.shape[2:]) == list(windows.size) and divide and not any(windows.padding):
        return adaptive_pool(x, "Avg", [1] * len(windows.size))
    means = avg_pool(x, windows, include)
    return means if divide else ew.with_number("Mul", means, prod(windows.size))


@row("nn.SpatialAdaptiveAveragePooling", "nn.SpatialAdaptiveMaxPooling")
def _adaptive(m: Module, x: Value) -> Value:
    return adaptive_pool(x, "Max" if "Max" in m.kind else "Avg", m.wholes("H", "W"))


@row("nn.SpatialMaxUnpooling", "nn.VolumetricMaxUnpooling")
def _unpooling(m: Module, x: Value) -> Value:
    """Put the maxima of a pooling module before it back to their places."""
    pooling = m.child("pooling")
    nodes = [node for node in m.graph.nodes if node.module is pooling.value]
    if not nodes:
        raise m.error("the pooling module that it undoes is not before it in the net")
    (pooled,) = nodes[-1].inputs
    return max_unpool(x, pool_places(pooled, _windows(pooling)), pooled)


_MODES = {"nn.SpatialUpSamplingNearest": "nearest", "nn.SpatialUpSamplingBilinear": "linear"}


@row("nn.UpSampling", *_MODES)
def _up_sampling(m: Module, x: Value) -> Value:
    """Enlarge planes or volumes, as the number of dimensions or the fields say."""
    dims = 2 + (m.get("odepth") is not None)
    if m.kind == "nn.UpSampling" and x.shape is not None:
        dims = x.rank - 2
    if m.get("scale_factor") is not None:
        mode = _MODES.get(m.kind) or m.text("mode")
        return upsample(x, m.whole("scale_factor"), mode, dims)
    names = ("odepth", "oheight", "owidth")[3 - dims :]
    return upsample(x, 1, "linear", dims, m.wholes(*names))


@row("nn.PixelShuffle")
def _pixel_shuffle(m: Module, x: Value) -> Value:
    return pixel_shuffle(x, m.whole("upscaleFactor"))


_PLANES = ("pad_t", "pad_b", "pad_l", "pad_r")
_VOLUMES = ("pfront", "pback", "ptop", "pbottom", "pleft", "pright")
#: PyTorch's modes, and the fields that say how much goes before and behind each dimension.
_PADS = {
    "nn.SpatialZeroPadding": ("constant", _PLANES),
    "nn.SpatialReflectionPadding": ("reflect", _PLANES),
    "nn.SpatialReplicationPadding": ("replicate", _PLANES),
    "nn.VolumetricReplicationPadding": ("replicate", _VOLUMES),
}


@row(*_PADS)
def _pad(m: Module, x: Value) -> Value:
    mode, names = _PADS[m.kind]
    sides = m.wholes(*names)
    return pad(x, list(zip(sides[::2], sides[1::2], strict=True)), mode)
