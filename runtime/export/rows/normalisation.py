"""Normalisation of batches, of neighbouring channels, and of vectors."""

from __future__ import annotations

import numpy as np

from th_shell.runtime.export.graph import BATCH, Data, Value
from th_shell.runtime.export.modules import Module, convert, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.layers import batch_norm, lrn
from th_shell.runtime.export.operators.reducing import norm, reduce
from th_shell.runtime.export.operators.shaping import squeeze
from th_shell.runtime.export.parameters import Parameter

_DIMENSIONS = {
    "nn.BatchNormalization": 2,
    "nn.SpatialBatchNormalization": 4,
    "nn.VolumetricBatchNormalization": 5,
}


@row(*_DIMENSIONS)
def _batch_normalization(m: Module, x: Value) -> Value:
    mean, eps = m.parameter("running_mean", False), m.number("eps", 1e-5)
    x.assume((BATCH, mean.size, *[None] * (_DIMENSIONS[m.kind] - 2)))
    weight, bias = m.optional("weight"), m.optional("bias")
    return batch_norm(x, mean, _variance(m, eps), weight, bias, eps, m.number("momentum", 0.1))


def _variance(m: Module, eps: float) -> Parameter:
    """Return the variance that was learned; old files have one over the standard deviation."""
    variance = m.optional("running_var", False)
    if variance is not None:
        return variance
    inverse = m.optional("running_std", False)
    if inverse is None:
        raise m.error("has neither running_var nor running_std: it was never trained")
    return Parameter.made(1 / inverse.array().astype(np.float64) ** 2 - eps, inverse, trained=False)


@row("nn.SpatialCrossMapLRN")
def channel_norm(m: Module, x: Value) -> Value:
    k = m.number("k", m.number("K", 1))  # K: of old files of cudnn
    return lrn(x, m.whole("size", 5), m.number("alpha", 1e-4), m.number("beta", 0.75), k)


@row("nn.Normalize")
def _normalize(m: Module, x: Value) -> Value:
    """Divide vectors, which are the last dimension, by their norm."""
    p, eps = m.number("p"), m.number("eps", 1e-10)
    dim = x.rank - 1 if x.shape is not None else 1
    if p == float("inf"):
        size = ew.with_number("Add", norm(x, p, dim, True), eps)
        return ew.binary("Div", x, size)
    powers = ew.power(x if p % 2 == 0 else ew.function(x, "abs"), p)
    total = ew.with_number("Add", reduce(powers, "Sum", dim, True), eps)
    return ew.binary("Div", x, ew.function(total, "sqrt") if p == 2 else ew.power(total, 1 / p))


@row("nn.SpatialSubtractiveNormalization")
def _subtractive(m: Module, x: Value) -> Value:
    """Subtract the mean of what is around, which its modules compute."""
    return ew.binary("Sub", x, _around(m, x, "meanestimator"))


@row("nn.SpatialDivisiveNormalization")
def _divisive(m: Module, x: Value) -> Value:
    """Divide by the deviation of what is around, or by a number where that is small."""
    deviation = _around(m, x, "stdestimator")
    limit, value = m.number("threshold", 1e-4), m.number("thresval", 1e-4)
    return ew.binary("Div", x, ew.threshold(deviation, limit, value))


def _around(m: Module, x: Value, name: str) -> Value:
    """Return an estimate of each place; near the edges there is less around it."""
    x.assume((BATCH, m.whole("nInputPlane"), None, None))
    estimate = m.tensor(convert(m.child(name), x))
    with m.graph.apart():
        part = m.tensor(convert(m.child("meanestimator"), ew.ones_like(x)))
    return squeeze(ew.binary("Div", estimate, part), x.rank - 2)


@row("nn.SpatialContrastiveNormalization")
def _contrastive(m: Module, x: Value) -> Data:
    return convert(m.child("normalizer"), x)
