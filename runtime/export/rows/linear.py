"""Linear layers, products of matrices, and tables of rows that indices choose from."""

from __future__ import annotations

import numpy as np

from th_shell.runtime.export.data import table
from th_shell.runtime.export.graph import BATCH, Data, Value
from th_shell.runtime.export.modules import Module, data_row, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.layers import bilinear, embedding, linear
from th_shell.runtime.export.operators.reducing import matmul, reduce, softmax
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


@row("nn.PartialLinear")
def _partial_linear(m: Module, x: Value) -> Value:
    """Some rows of a linear layer's, or all; the layer is within a net of its own."""
    pair = m.child("network").modules[0]
    weight, bias = pair.modules[1].parameter("weight"), m.optional("bias")
    chosen = m.parameter("partition").array().astype(int) - 1
    part = bias and Parameter.made(bias.array().reshape(-1)[chosen], bias)
    return linear(x, Parameter.made(weight.array()[chosen], weight), part)


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
