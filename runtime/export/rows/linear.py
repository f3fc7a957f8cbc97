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
    """Make the weight of a direction and a length for each row: the field weight may be old."""
    v, g = m.parameter("v"), m.parameter("g")
    length = np.linalg.norm(v.array(), axis=1, keepdims=True).clip(m.number("eps", 1e-16))
    return linear(x, Parameter.made(v.array() * (g.array() / length), v, g), m.optional("bias"))


@data_row("nn.NCEModule")
def _noise_contrastive(m: Module, data: Data) -> Data:
    """Convert a linear layer and a softmax, if it is set to normalise in evaluation (dpnn)."""
    if not m.get("normalized") or m.graph.training:
        raise m.error("draws words at random; evaluate() with normalized = true does not")
    x = m.tensor(table(data, m.graph, 2)[0])
    scores = linear(x, m.parameter("weight"), m.optional("bias"))
    return softmax(scores, log=bool(m.get("logsoftmax")))


@data_row("nn.Bilinear")
def _bilinear(m: Module, data: Data) -> Data:
    first, second = m.tensors(data, 2)
    weight = m.parameter("weight")
    for value, inputs in ((first, weight.shape[1]), (second, weight.shape[2])):
        value.assume((BATCH, inputs))
    return bilinear(first, second, weight, m.optional("bias"))


@data_row("nn.MM")
def _matrices(m: Module, data: Data) -> Data:
    """Multiply matrices; more dimensions than two are one for each sample."""
    first, second = m.tensors(data, 2)
    if m.get("transA"):
        first = transpose(first, first.rank - 2, first.rank - 1)
    if m.get("transB"):
        second = transpose(second, second.rank - 2, second.rank - 1)
    return matmul(first, second)


@data_row("nn.MV")
def _matrix_and_vector(m: Module, data: Data) -> Data:
    matrix, vector = m.tensors(data, 2)
    if m.get("trans"):
        matrix = transpose(matrix, matrix.rank - 2, matrix.rank - 1)
    return squeeze(matmul(matrix, unsqueeze(vector, vector.rank)), vector.rank)


@data_row("nn.MixtureTable")
def _mixture(m: Module, data: Data) -> Data:
    """Return a sum of experts, each times its part of the gates."""
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
    """Choose rows by indices.

    With a limit (maxNorm) nn shortens rows when they are used; here all are short.
    """
    weight = m.parameter("weight")
    limit = m.get("maxNorm")
    if limit:
        length = np.linalg.norm(weight.array(), m.number("normType", 2), axis=1, keepdims=True)
        factor = np.where(length > limit, limit / (length + 1e-7), 1)
        weight = Parameter.made(weight.array() * factor, weight)
    return embedding(x, weight)


def _pair(m: Module, data: Data) -> tuple[Value, Value]:
    """Return two tensors of vectors, one vector a sample."""
    first, second = m.tensors(data, 2)
    for value in (first, second):
        value.assume((BATCH, None))
    return first, second


@data_row("nn.DotProduct")
def _dot_product(m: Module, data: Data) -> Data:
    first, second = _pair(m, data)
    return reduce(ew.binary("Mul", first, second), "Sum", first.rank - 1, keep=first.rank == 1)


@data_row("nn.CosineDistance")
def _cosine_distance(m: Module, data: Data) -> Data:
    """Return the cosine of pairs; that of a single pair has a dimension, too."""
    first, second = _pair(m, data)
    if first.rank == 1:
        first, second = unsqueeze(first, 0), unsqueeze(second, 0)
    return cosine_similarity(first, second)


@data_row("nn.PairwiseDistance")
def _pairwise_distance(m: Module, data: Data) -> Data:
    first, second = _pair(m, data)
    difference = ew.binary("Sub", first, second)
    return norm(difference, m.number("norm", 2), first.rank - 1, keep=first.rank == 1)


@row("nn.Cosine")
def _cosine(m: Module, x: Value) -> Value:
    """Return the cosines with vectors that were learned."""
    weight = m.parameter("weight")
    length = np.linalg.norm(weight.array(), axis=1, keepdims=True) + 1e-12
    products = linear(x, Parameter.made(weight.array() / length, weight), None)
    return ew.binary(
        "Div", products, ew.with_number("Add", norm(x, 2, x.rank - 1, keep=True), 1e-12)
    )


@row("nn.Euclidean", "nn.WeightedEuclidean")
def _euclidean(m: Module, x: Value) -> Value:
    """Return the distances to points, which are the columns of the weights."""
    weight = m.parameter("weight")
    x.assume((BATCH, weight.shape[0]))
    gaps = ew.binary("Sub", unsqueeze(x, x.rank), ew.parameter(x, "weight", weight))
    if m.kind == "nn.WeightedEuclidean":
        gaps = ew.binary("Mul", gaps, ew.parameter(x, "scale", m.parameter("diagCov")))
    return norm(gaps, 2, x.rank - 1)
