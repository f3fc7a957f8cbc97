"""Pooling, resampling and padding."""

from __future__ import annotations

from math import prod

from th_shell.runtime.export.graph import BATCH, Value
from th_shell.runtime.export.modules import Module, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.convolution import Windows
from th_shell.runtime.export.operators.pooling import (
    adaptive_pool,
    avg_pool,
    max_pool,
    max_unpool,
    pad,
    pixel_shuffle,
    pool_places,
    upsample,
)
from th_shell.runtime.export.operators.shaping import (
    permute,
    with_samples,
)
from th_shell.runtime.export.rows.convolutions import axes_of, windows_of


def _windows(m: Module) -> Windows:
    """Return windows, which stand beside each other without fields for steps, but for means."""
    steps = [] if "Average" in m.kind else m.wholes(*[f"k{axis}" for axis in axes_of(m)])
    is_inn = m.value.torch_typename.startswith("inn.")
    return windows_of(m, steps, ceil=bool(m.get("ceil_mode")) or is_inn)


@row(
    "nn.SpatialMaxPooling",
    "nn.SpatialDilatedMaxPooling",
    "nn.VolumetricMaxPooling",
    "nn.VolumetricDilatedMaxPooling",
)
def _max(m: Module, x: Value) -> Value:
    return max_pool(x, _windows(m))


@row("nn.TemporalMaxPooling")
def _temporal_max(m: Module, x: Value) -> Value:
    x.assume((BATCH, None, None))
    windows = _windows(m)

    def apply(x: Value) -> Value:
        return permute(max_pool(permute(x, (0, 2, 1)), windows), (0, 2, 1))

    return with_samples(x, 3, apply)


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
    windows = _windows(pooling)
    return max_unpool(x, pool_places(pooled, windows), pooled)


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
