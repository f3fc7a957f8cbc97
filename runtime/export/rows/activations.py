"""Activations."""

from __future__ import annotations

from th_shell.runtime.export.graph import BATCH, Value
from th_shell.runtime.export.modules import Module, function_rows, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.base import vectors
from th_shell.runtime.export.operators.reducing import softmax
from th_shell.runtime.export.operators.shaping import cat, with_samples

function_rows(
    {
        "nn.LogSigmoid": (ew.log_sigmoid, {}),
        "nn.ReLU": (ew.relu, {}),
        "nn.ReLU6": (ew.relu6, {}),
        "nn.Sigmoid": (ew.sigmoid, {}),
        "nn.SoftSign": (ew.softsign, {}),
        "nn.Tanh": (ew.tanh, {}),
        "nn.TanhShrink": (ew.tanh_shrink, {}),
        "nn.ELU": (ew.elu, {"alpha": 1}),
        "nn.LeakyReLU": (ew.leaky_relu, {"negval": 0.01}),
        "nn.SoftPlus": (ew.softplus, {"beta": 1, "threshold": 20}),
        "nn.SoftShrink": (ew.softshrink, {"lambda": 0.5}),
        "nn.HardShrink": (ew.hardshrink, {"lambda": 0.5}),
        "nn.HardTanh": (ew.clamp, {"min_val": -1, "max_val": 1}),
        "nn.Clamp": (ew.clamp, {"min_val": -1, "max_val": 1}),
        "nn.Clip": (ew.clamp, {"minval": None, "maxval": None}),
    }
)


@row("nn.RReLU")
def _rrelu(m: Module, x: Value) -> Value:
    """With the mean of its slopes, as in evaluation."""
    if m.graph.training:
        raise m.error("draws its slopes at random in training: convert it in evaluation mode")
    return ew.leaky_relu(x, (m.number("lower", 1 / 8) + m.number("upper", 1 / 3)) / 2)


@row("nn.PReLU")
def _prelu(m: Module, x: Value) -> Value:
    weight = m.parameter("weight")
    planes = m.whole("nOutputPlane", weight.size) or 1  # 0: one slope for all
    weight = vectors(x, planes, weight=weight)["weight"]
    if planes == 1:
        return ew.prelu(x, weight)
    return with_samples(x, 2, lambda x: ew.prelu(x, weight))


@row("nn.CReLU")
def _crelu(m: Module, x: Value) -> Value:
    """Of what is above 0, and of what is below, as channels."""
    dim = 0 if x.shape is not None and x.rank == m.whole("nInputDims") else 1
    return ew.relu(cat([x, ew.function(x, "neg")], dim))


@row("nn.GatedLinearUnit")
def _gated(m: Module, x: Value) -> Value:
    return ew.glu(x, m.whole("dim") - 1 if m.get("dim") else -1)


@row("cudnn.ClippedReLU")
def _clipped_relu(m: Module, x: Value) -> Value:
    return ew.clamp(x, 0, m.number("ceiling"))


@row("nn.Threshold")
def _threshold(m: Module, x: Value) -> Value:
    limit, value = m.number("threshold", 1e-6), m.number("val", 0)
    return ew.relu(x) if limit == value == 0 else ew.threshold(x, limit, value)


_SOFTMAXES = ("nn.SoftMax", "nn.SpatialSoftMax", "cudnn.VolumetricSoftMax")
_LOG_SOFTMAXES = ("nn.LogSoftMax", "nn.SpatialLogSoftMax", "cudnn.VolumetricLogSoftMax")


@row(*_SOFTMAXES, *_LOG_SOFTMAXES)
def _softmax(m: Module, x: Value) -> Value:
    """Along the channels; a volume without samples has them first."""
    if "Spatial" in m.kind:
        x.assume((BATCH, None, None, None))
    dim = 0 if m.is_cudnn and x.shape is not None and x.rank == 4 else None
    return softmax(x, dim if "Volumetric" in m.kind else None, log=m.kind in _LOG_SOFTMAXES)


@row("cudnn.SoftMax", "cudnn.LogSoftMax")
def _softmax_of_samples(m: Module, x: Value) -> Value:
    """Over all elements of a sample, where it has planes."""
    if x.shape is not None and x.rank > 2:
        raise m.error("normalises over channels and places together: give --input of a matrix")
    return softmax(x, log=m.kind == "cudnn.LogSoftMax")


@row("nn.SoftMin")
def _softmin(m: Module, x: Value) -> Value:
    return softmax(ew.function(x, "neg"))
