"""Linear layers, products of matrices, tables of rows, distances, and normalisation."""

import numpy as np

from th_shell.runtime.export.data import table
from th_shell.runtime.export.graph import BATCH, Data, Value
from th_shell.runtime.export.modules import Module, convert, data_row, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.layers import (
    batch_norm,
    bilinear,
    cosine_similarity,
    embedding,
    linear,
    lrn,
    matmul,
    norm,
    reduce,
    softmax,
)
from th_shell.runtime.export.operators.shaping import squeeze, stack, transpose, unsqueeze
from th_shell.runtime.export.operators.windows import Windows, conv
from th_shell.runtime.export.parameters import Parameter


@row("nn.Linear", "nn.LinearNoBias")
def _linear(m: Module, x: Value) -> Value:
    m.graph.check_fit(len((x.shape or ())[2:]))
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
    if not m.get("normalized"):
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
    for one, other in ((first, second), (second, first)):
        if other.shape is not None:
            one.assume((BATCH, *[None] * (other.rank - 1)))
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
        return ew.binary("Div", x, ew.with_number("Add", norm(x, p, dim, True), eps))
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
    estimate = _estimate(m.child(name), x)
    with m.graph.apart():
        part = _estimate(m.child("meanestimator"), ew.ones_like(x))
    for value, word in ((estimate, "around"), (part, "coverage")):
        if value.node is not None:
            value.node.word = word
    return ew.binary("Div", estimate, part)


def _estimate(m: Module, x: Value) -> Value:
    """Return sums of what is around, weighted by kernels, of all planes together: in one plane."""
    for child in m.modules:
        if child.kind != "nn.Replicate":  # which repeats that plane
            has_kernel = "Convolution" in child.kind
            x = m.tensor(convert(child, x, _fixed_convolution if has_kernel else None))
    return x


def _fixed_convolution(m: Module, data: Data) -> Data:
    """Convolve all planes, or each by itself, by kernels that are not trained."""
    kernel, bias, inputs = m.parameter("weight", False), m.optional("bias", False), None
    if "Map" in m.kind:
        inputs = m.whole("nInputPlane")
        table = m.parameter("connTable").array()
        if not np.array_equal(table, np.repeat(np.arange(1, inputs + 1), 2).reshape(-1, 2)):
            raise m.error("connects other planes than nn's normalisation does")
        kernel = kernel.view(inputs, 1, *kernel.shape[1:])
    windows = Windows(kernel.shape[-2:], [1, 1])
    bias = bias if bias is not None and bias.array().any() else None
    return conv(m.tensor(data), windows, kernel, bias, inputs or 1)


@row("nn.SpatialContrastiveNormalization")
def _contrastive(m: Module, x: Value) -> Data:
    return convert(m.child("normalizer"), x)
