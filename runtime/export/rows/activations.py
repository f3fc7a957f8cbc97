"""Activations, and what is dropped or passed through."""

from __future__ import annotations

from runtime.export.graph import Data, Value
from runtime.export.modules import Module, data_row, row
from runtime.export.operators import elementwise as ew
from runtime.export.operators.reducing import softmax
from runtime.export.operators.shaping import cat

_PLAIN = {
    "nn.LogSigmoid": ew.log_sigmoid,
    "nn.ReLU": ew.relu,
    "nn.ReLU6": ew.relu6,
    "nn.Sigmoid": ew.sigmoid,
    "nn.SoftSign": ew.softsign,
    "nn.Tanh": ew.tanh,
    "nn.TanhShrink": ew.tanh_shrink,
}


@row(*_PLAIN)
def _plain(m: Module, x: Value) -> Value:
    return _PLAIN[m.kind](x)


@row("nn.ELU")
def _elu(m: Module, x: Value) -> Value:
    return ew.elu(x, m.number("alpha", 1))


@row("nn.LeakyReLU")
def _leaky_relu(m: Module, x: Value) -> Value:
    return ew.leaky_relu(x, m.number("negval", 0.01))


@row("nn.RReLU")
def _rrelu(m: Module, x: Value) -> Value:
    """With the mean of its slopes, as in evaluation."""
    if m.graph.training:
        raise m.error("draws its slopes at random in training: convert it in evaluation mode")
    return ew.leaky_relu(x, (m.number("lower", 1 / 8) + m.number("upper", 1 / 3)) / 2)


@row("nn.PReLU")
def _prelu(m: Module, x: Value) -> Value:
    return ew.prelu(x, m.parameter("weight"))


@row("nn.CReLU")
def _crelu(m: Module, x: Value) -> Value:
    """Of what is above 0, and of what is below, as channels."""
    return ew.relu(cat([x, ew.function(x, "neg")], 1))


@row("nn.SoftPlus")
def _softplus(m: Module, x: Value) -> Value:
    return ew.softplus(x, m.number("beta", 1), m.number("threshold", 20))


@row("nn.SoftShrink")
def _softshrink(m: Module, x: Value) -> Value:
    return ew.softshrink(x, m.number("lambda", 0.5))


@row("nn.HardShrink")
def _hardshrink(m: Module, x: Value) -> Value:
    return ew.hardshrink(x, m.number("lambda", 0.5))


@row("nn.HardTanh", "nn.Clamp", "nn.Clip", "nn.ClippedReLU")
def _hardtanh(m: Module, x: Value) -> Value:
    return ew.clamp(x, m.number("min_val", -1), m.number("max_val", 1))


@row("nn.Threshold")
def _threshold(m: Module, x: Value) -> Value:
    limit, value = m.number("threshold", 1e-6), m.number("val", 0)
    return ew.relu(x) if limit == value == 0 else ew.threshold(x, limit, value)


@row("nn.SoftMax", "nn.SpatialSoftMax")
def _softmax(m: Module, x: Value) -> Value:
    return softmax(x, _channels(m, x))


@row("nn.LogSoftMax", "nn.SpatialLogSoftMax")
def _log_softmax(m: Module, x: Value) -> Value:
    return softmax(x, _channels(m, x), log=True)


def _channels(m: Module, x: Value) -> int | None:
    """The dimension of a softmax: for the spatial ones always that of channels."""
    if m.kind.startswith("nn.Spatial") or m.is_cudnn:
        return 1
    return None


@row("nn.SoftMin")
def _softmin(m: Module, x: Value) -> Value:
    return softmax(ew.function(x, "neg"))


_DROPOUTS = {"nn.SpatialDropout": "Dropout2d", "nn.VolumetricDropout": "Dropout3d"}


@row("nn.Dropout", *_DROPOUTS)
def _dropout(m: Module, x: Value) -> Value:
    p = m.number("p", 0.5)
    result = ew.dropout(x, p, _DROPOUTS.get(m.kind, "Dropout"))
    # Older ones do not scale what they keep in training, but all in evaluation.
    old = m.kind == "nn.SpatialDropout" or not (m.get("v2", False) or m.get("stochastic_inference"))
    return (
        ew.with_number("Mul", result, 1 - p) if old and m.kind != "nn.VolumetricDropout" else result
    )


@data_row(
    "nn.Contiguous",
    "nn.Copy",
    "nn.GradientReversal",
    "nn.Identity",
    "nn.L1Penalty",
    "nn.PrintSize",
    "nn.WhiteNoise",
    "nn.ZeroGrad",
)
def _identity(m: Module, data: Data) -> Data:
    """What computes nothing in evaluation."""
    if m.graph.training and m.kind == "nn.WhiteNoise":
        raise m.error("adds noise in training: convert it in evaluation mode")
    return data
