"""Linear layers, products of matrices, tables of rows that indices choose from, and distances."""

from __future__ import annotations

import numpy as np

from th_shell.runtime.export.data import table
from th_shell.runtime.export.graph import BATCH, Data, Value
from th_shell.runtime.export.modules import Module, data_row, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.layers import (
    bilinear,
    cosine_similarity,
    embedding,
    linear,
)
from th_shell.runtime.export.operators.reducing import matmul, norm, reduce, softmax
from th_shell.runtime.export.operators.shaping import squeeze, stack, transpose, unsqueeze
from th_shell.runtime.export.parameters import Parameter


@row("nn.Linear", "nn.LinearNoBias")
def _linear(m: Module, x: Value) -> Value:
    return linear(x, m.parameter("weight"), m.optional("bias"))


@row("nn.LinearWeightNorm")
def _weight_norm(m: Module, x: Value) -> Value:
    """Rows of a direction and a length, which may not be in its field weight yet."""
    v, g = m.parameter("v"), m.parameter("g")
    length = np.linalg.norm(v.array(), axis=1, keepdims=True).clip(m.number("eps", 1e-16))
    return linear(x, Parameter.made(v.array() * (g.array() / length), v, g), m.optional("bias"))


@data_row("nn.NCEModule")
def _noise_contrastive(m: Module, data: Data) -> Data:
    """Of dpnn: a linear layer and a softmax, where it is set to normalise in evaluation."""
    if not m.get("normalized") or m.graph.training:
        raise m.error("draws words at random; evaluate() with normalized = true does not")
    x = m.tensor(table(data, m.graph, 2)[0])
    scores = linear(x, m.parameter("weight"), m.optional("bias"))
    return softmax(scores, log=bool(m.get("logsoftmax")))


@data_row("nn.Bilinear")
def _bilinear(m: Module, data: Data) -> Data:
    one, other = m.tensors(data, 2)
    weight = m.parameter("weight")
    for value, inputs in ((one, weight.shape[1]), (other, weight.shape[2])):
        value.assume((BATCH, inputs))
    return bilinear(one, other, weight, m.optional("bias"))


@data_row("nn.MM")
def _matrices(m: Module, data: Data) -> Data:
    """Products of matrices; one with more dimensions than two is one for each sample."""
    one, other = m.tensors(data, 2)
    if m.get("transA"):
        one = transpose(one, one.rank - 2, one.rank - 1)
    if m.get("transB"):
        other = transpose(other, other.rank - 2, other.rank - 1)
    return matmul(one, other)


@data_row("nn.MV")
def _matrix_and_vector(m: Module, data: Data) -> Data:
    matrix, vector = m.tensors(data, 2)
    if m.get("trans"):
        matrix = transpose(matrix, matrix.rank - 2, matrix.rank - 1)
    return squeeze(matmul(matrix, unsqueeze(vector, vector.rank)), vector.rank)


@data_row("nn.MixtureTable")
def _mixture(m: Module, data: Data) -> Data:
    """A sum of experts, each times its part of the gates."""
    first, experts = table(data, m.graph, 2)[:2]
    gates = m.tensor(first)
    last = gates.rank - 1
    dim = m.whole("dim", last + 1) - 1
    every = experts if isinstance(experts, Value) else stack(m.tensors(experts), dim)
    for place in range(every.rank):
        if place != dim and (place or not last):
            gates = unsqueeze(gates, place)
    return reduce(ew.binary("Mul", gates, every), "Sum", dim)


@row("nn.LookupTable")
def _lookup_table(m: Module, x: Value) -> Value:
    """With a limit (maxNorm) nn shortens rows when they are used; here all are short."""
    weight = m.parameter("weight")
    limit = m.get("maxNorm")
    if limit:
        length = np.linalg.norm(weight.array(), m.number("normType", 2), axis=1, keepdims=True)
        factor = np.where(length > limit, limit / (length + 1e-7), 1)
        weight = Parameter.made(weight.array() * factor, weight)
    return embedding(x, weight)


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
