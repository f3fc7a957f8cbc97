"""Pooling, resampling and padding."""

from __future__ import annotations

from runtime.export.graph import Value
from runtime.export.modules import Module, row
from runtime.export.operators.shaping import permute
from runtime.export.operators.windows import (
    Windows,
    avg_pool,
    global_pool,
    max_pool,
    pad,
    pixel_shuffle,
    upsample,
)


def _windows(m: Module, axes: str, step: int | None = None) -> Windows:
    size = m.wholes(*[f"k{axis}" for axis in axes])
    strides = [m.whole(f"d{axis}", step or kernel) for axis, kernel in zip(axes, size, strict=True)]
    padding = m.wholes(*[f"pad{axis}" for axis in axes], default=0)
    dilation = m.wholes(*[f"dilation{axis}" for axis in axes], default=1)
    return Windows.of(size, strides, padding, dilation, bool(m.get("ceil_mode", False)))


@row("nn.SpatialMaxPooling", "nn.SpatialDilatedMaxPooling")
def _spatial_max(m: Module, x: Value) -> Value:
    return max_pool(x, _windows(m, "HW"))


@row("nn.VolumetricMaxPooling", "nn.VolumetricDilatedMaxPooling")
def _volumetric_max(m: Module, x: Value) -> Value:
    return max_pool(x, _windows(m, "THW"))


@row("nn.TemporalMaxPooling")
def _temporal_max(m: Module, x: Value) -> Value:
    if x.shape is None:
        x.set_shape(("batch", None, None))
    windows = Windows.of([m.whole("kW")], [m.whole("dW")])
    return permute(max_pool(permute(x, (0, 2, 1)), windows), (0, 2, 1))


@row("nn.SpatialAveragePooling", "nn.VolumetricAveragePooling")
def _average(m: Module, x: Value) -> Value:
    windows = _windows(m, "THW" if "Volumetric" in m.kind else "HW", 1)
    include = bool(m.get("count_include_pad", True)) and m.get("mode") is None
    divide = m.get("divide", True) is not False
    if x.shape and list(x.shape[2:]) == list(windows.size) and divide and not any(windows.padding):
        return global_pool(x, "Avg", len(windows.size))
    return avg_pool(x, windows, include, divide)


@row("nn.SpatialUpSamplingNearest")
def _nearest(m: Module, x: Value) -> Value:
    return upsample(x, m.whole("scale_factor"), "nearest")


@row("nn.SpatialUpSamplingBilinear")
def _bilinear(m: Module, x: Value) -> Value:
    if m.get("scale_factor") is None:
        sizes = m.whole("oheight"), m.whole("owidth")
        return upsample(x, 1, "linear", sizes=sizes)
    return upsample(x, m.whole("scale_factor"), "linear")


@row("nn.PixelShuffle")
def _pixel_shuffle(m: Module, x: Value) -> Value:
    return pixel_shuffle(x, m.whole("upscaleFactor"))


_MODES = {
    "nn.SpatialZeroPadding": "constant",
    "nn.SpatialReflectionPadding": "reflect",
    "nn.SpatialReplicationPadding": "replicate",
}


@row(*_MODES)
def _pad(m: Module, x: Value) -> Value:
    left, right, top, bottom = m.wholes("pad_l", "pad_r", "pad_t", "pad_b")
    return pad(x, [(top, bottom), (left, right)], _MODES[m.kind])
