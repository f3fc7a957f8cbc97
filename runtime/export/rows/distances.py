"""Distances and angles: between the tensors of a pair, and to points that were learned."""

from __future__ import annotations

import numpy as np

from th_shell.runtime.export.graph import BATCH, Data, Value
from th_shell.runtime.export.modules import Module, data_row, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.layers import cosine_similarity, linear, shifted
from th_shell.runtime.export.operators.reducing import argmax, norm, reduce
from th_shell.runtime.export.operators.shaping import unsqueeze
from th_shell.runtime.export.parameters import Parameter


def _pair(m: Module, data: Data) -> tuple[Value, Value]:
    """Two tensors of vectors, one vector a sample."""
    one, other = m.tensors(data, 2)
    for value in (one, other):
        value.assume((BATCH, None))
    return one, other


@data_row("nn.DotProduct")
def _dot_product(m: Module, data: Data) -> Data:
    one, other = _pair(m, data)
    return reduce(ew.binary("Mul", one, other), "Sum", one.rank - 1, keep=one.rank == 1)


@data_row("nn.CosineDistance")
def _cosine_distance(m: Module, data: Data) -> Data:
    """Their cosine; that of a single pair has a dimension, too."""
    one, other = _pair(m, data)
    if one.rank == 1:
        one, other = unsqueeze(one, 0), unsqueeze(other, 0)
    return cosine_similarity(one, other)


@data_row("nn.PairwiseDistance")
def _pairwise_distance(m: Module, data: Data) -> Data:
    one, other = _pair(m, data)
    difference = ew.binary("Sub", one, other)
    return norm(difference, m.number("norm", 2), one.rank - 1, keep=one.rank == 1)


@row("nn.Cosine")
def _cosine(m: Module, x: Value) -> Value:
    """Cosines with vectors that were learned."""
    weight = m.parameter("weight")
    length = np.linalg.norm(weight.array(), axis=1, keepdims=True) + 1e-12
    products = linear(x, Parameter.made(weight.array() / length, weight), None)
    return ew.binary(
        "Div", products, ew.with_number("Add", norm(x, 2, x.rank - 1, keep=True), 1e-12)
    )


@row("nn.Euclidean", "nn.WeightedEuclidean")
def _euclidean(m: Module, x: Value) -> Value:
    """Distances to points, which are the columns of the weights."""
    weight = m.parameter("weight")
    x.assume((BATCH, weight.shape[0]))
    gaps = ew.binary("Sub", unsqueeze(x, x.rank), ew.parameter(x, "weight", weight))
    if m.kind == "nn.WeightedEuclidean":
        gaps = ew.binary("Mul", gaps, ew.parameter(x, "scale", m.parameter("diagCov")))
    return norm(gaps, 2, x.rank - 1)


@row("nn.Kmeans")
def _kmeans(m: Module, x: Value) -> Value:
    """The number of the nearest point."""
    weight = m.parameter("weight")
    x.assume((BATCH, weight.shape[1]))
    gaps = ew.binary("Sub", unsqueeze(x, 1), ew.parameter(x, "weight", weight))
    return shifted(argmax(norm(gaps, 2, 2), 1, "Min"), 1)
