"""Normalisation of batches, of neighbouring channels, and of vectors."""

from __future__ import annotations

import numpy as np

from runtime.export.graph import BATCH, Value
from runtime.export.modules import Module, row
from runtime.export.operators import elementwise as ew
from runtime.export.operators.layers import batch_norm, lrn
from runtime.export.operators.reducing import reduce
from runtime.export.parameters import Parameter

_DIMENSIONS = {
    "nn.BatchNormalization": 2,
    "nn.SpatialBatchNormalization": 4,
    "nn.VolumetricBatchNormalization": 5,
}


@row(*_DIMENSIONS)
def _batch_normalization(m: Module, x: Value) -> Value:
    mean, eps = m.parameter("running_mean", False), m.number("eps", 1e-5)
    if x.shape is None:
        x.set_shape((BATCH, mean.size, *[None] * (_DIMENSIONS[m.kind] - 2)))
    weight, bias = m.optional("weight"), m.optional("bias")
    return batch_norm(x, mean, _variance(m, eps), weight, bias, eps, m.number("momentum", 0.1))


def _variance(m: Module, eps: float) -> Parameter:
    """The variance that was learned; old files have one over the standard deviation."""
    found = m.optional("running_var", False)
    if found is not None:
        return found
    inverse = m.optional("running_std", False)
    if inverse is None:
        raise m.error("has neither running_var nor running_std: it was never trained")
    return Parameter.made(1 / inverse.array().astype(np.float64) ** 2 - eps, inverse, trained=False)


@row("nn.SpatialCrossMapLRN")
def _lrn(m: Module, x: Value) -> Value:
    size = m.whole("size")
    return lrn(x, size, m.number("alpha", 1e-4), m.number("beta", 0.75), m.number("k", 1))


@row("nn.Normalize")
def _normalize(m: Module, x: Value) -> Value:
    """Vectors, which are the last dimension, by their norm."""
    p, eps = m.number("p"), m.number("eps", 1e-10)
    dim = x.rank - 1
    if p == float("inf"):
        norm = ew.with_number("Add", reduce(ew.function(x, "abs"), "Max", dim, True), eps)
        return ew.binary("Div", x, norm)
    powers = ew.power(x if p % 2 == 0 else ew.function(x, "abs"), p)
    total = ew.with_number("Add", reduce(powers, "Sum", dim, True), eps)
    return ew.binary("Div", x, ew.function(total, "sqrt") if p == 2 else ew.power(total, 1 / p))
