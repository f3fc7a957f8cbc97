"""Layers with parameters that PyTorch has as modules; reductions, and products of matrices."""

from math import isinf
from typing import Any

import numpy as np

from th_shell.runtime.export.graph import BATCH, Call, Emitter, Shape, Value
from th_shell.runtime.export.operators import (
    as_indices,
    broadcast,
    node,
    number,
    plain,
    replaced,
    same,
    vectors,
)
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.export.python_text import literal


def linear(x: Value, weight: Parameter, bias: Parameter | None) -> Value:
    """Add a linear layer. weight: outputs x inputs."""
    outputs, inputs = weight.shape
    x.assume((*(x.shape or (BATCH, None))[:-1], inputs))

    def to_onnx(e: Emitter, x_name: str, w: str, *b: str) -> Any:
        if x.rank == 2:
            return e.op("Gemm", x_name, w, *b, transB=1)
        result = e.op("MatMul", x_name, e.op("Transpose", w, perm=[1, 0]))
        return e.op("Add", result, *b) if b else result

    named = {"in_features": inputs, "out_features": outputs, "bias": bias is not None}
    call = Call("nn.Linear", named, {"bias": True}, ("in_features", "out_features"))
    shape = (*x.shape[:-1], outputs) if x.shape else None
    parameters = {"weight": weight, **vectors(x, outputs, bias=bias)}
    return node([x], to_onnx, shape, layer=call, parameters=parameters)


def embedding(x: Value, weight: Parameter, first: int = 1) -> Value:
    """Return rows of a table by indices, which count from `first`."""
    index = as_indices(x, weight.shape[0] - 1 + first)
    if first:
        index = shifted(index, -first)
    named = {"num_embeddings": weight.shape[0], "embedding_dim": weight.shape[1]}
    call = Call("nn.Embedding", named, {}, tuple(named))
    shape = (*index.shape, weight.shape[1]) if index.shape is not None else None

    def to_onnx(e: Emitter, index: str, table: str) -> Any:
        return e.op("Gather", table, index)

    rows = node([index], to_onnx, shape, layer=call, parameters={"weight": weight})
    rows.on_shape = lambda shape: index.assume(shape[:-1])
    return rows


def one_hot(x: Value, size: int) -> Value:
    """Return ones at indices, which count from 1, among zeros."""
    index = shifted(as_indices(x, size), -1)

    def to_onnx(e: Emitter, index: str) -> Any:
        return e.as_floats(e.op("OneHot", index, e.index(size), e.ints(0, 1)))

    shape = (*index.shape, size) if index.shape is not None else None
    ones = node([index], to_onnx, shape, f"F.one_hot({{0}}, {size}).float()")
    ones.on_shape = lambda shape: index.assume(shape[:-1])
    return ones


def take(x: Value, dim: int, indices: Value) -> Value:
    """Return places of a dimension by indices, which count from 1."""
    size = x.shape[dim] if x.shape is not None else None
    index = shifted(as_indices(indices, size if isinstance(size, int) else 1), -1)
    count = index.shape[0] if index.shape is not None else None
    text = f"{{0}}.index_select({dim}, {{1}})"
    to_onnx = plain("Gather", axis=dim)
    return node([x, index], to_onnx, replaced(x.shape, dim, count), text, kind=x.kind)


def shifted(index: Value, by: int) -> Value:
    """Return indices with a number added."""
    sign = "-" if by < 0 else "+"
    return same(index, plain("Add", by), f"{{0}} {sign} {abs(by)}", word="index")


def batch_norm(
    x: Value,
    mean: Parameter,
    var: Parameter,
    weight: Parameter | None,
    bias: Parameter | None,
    eps: float,
    momentum: float,
) -> Value:
    """Normalise each feature of the second dimension by the statistics that were learned."""
    features = mean.shape[0]
    rank = len(x.shape) if x.shape is not None else 4
    named = {"num_features": features, "eps": eps, "momentum": momentum, "affine": bool(weight)}
    defaults = {"eps": 1e-5, "momentum": 0.1, "affine": True}
    call = Call(f"nn.BatchNorm{max(rank - 2, 1)}d", named, defaults, ("num_features",))

    def to_onnx(e: Emitter, x_name: str, *_: str) -> Any:
        names = [x_name, *_affine(e, features, weight, bias), *map(e.parameter, (mean, var))]
        return e.op("BatchNormalization", *names, epsilon=eps)

    parameters = {"weight": weight, "bias": bias, "running_mean": mean, "running_var": var}
    return same(x, to_onnx, layer=call, parameters=vectors(x, features, **parameters))


def _affine(
    e: Emitter, features: int, weight: Parameter | None, bias: Parameter | None
) -> list[str]:
    """Return a factor and a shift for each feature, which ONNX always wants."""
    ones, zeros = np.ones(features, np.float32), np.zeros(features, np.float32)
    return [e.parameter(weight or Parameter.made(ones)), e.parameter(bias or Parameter.made(zeros))]


def cosine_similarity(a: Value, b: Value) -> Value:
    """Return the cosine of pairs of vectors, which are the second dimension."""

    def to_onnx(e: Emitter, a: str, b: str) -> Any:
        squares = [
            e.op("Add", e.op("ReduceSumSquare", x, e.ints(1), keepdims=0), e.number(1e-12))
            for x in (a, b)
        ]
        total = e.op("ReduceSum", e.op("Mul", a, b), e.ints(1), keepdims=0)
        return e.op("Div", total, e.op("Sqrt", e.op("Mul", *squares)))

    shape = a.shape[:1] if a.shape is not None else None
    return node([a, b], to_onnx, shape, layer=Call("nn.CosineSimilarity", {"eps": 1e-6}))


def bilinear(a: Value, b: Value, weight: Parameter, bias: Parameter | None) -> Value:
    """Add a bilinear layer. weight: outputs x inputs of the first x inputs of the second."""
    named = dict(zip(("out_features", "in1_features", "in2_features"), weight.shape, strict=True))
    plain_names = ("in1_features", "in2_features", "out_features")
    named = {name: named[name] for name in plain_names} | {"bias": bias is not None}

    def to_onnx(e: Emitter, a: str, b: str, w: str, *more: str) -> Any:
        result = e.op("Einsum", a, w, b, equation="bi,kij,bj->bk")
        return e.op("Add", result, *more) if more else result

    call = Call("nn.Bilinear", named, {"bias": True}, plain_names)
    shape = (a.shape[0] if a.shape else BATCH, weight.shape[0])
    return node([a, b], to_onnx, shape, layer=call, parameters={"weight": weight, "bias": bias})


def lrn(x: Value, size: int, alpha: float, beta: float, k: float) -> Value:
    """Normalise each place over neighbouring channels."""
    named = {"size": size, "alpha": alpha, "beta": beta, "k": k}
    defaults = {"alpha": 1e-4, "beta": 0.75, "k": 1.0}
    call = Call("nn.LocalResponseNorm", named, defaults, ("size",))
    return same(x, plain("LRN", size=size, alpha=alpha, beta=beta, bias=k), layer=call)


def instance_norm(x: Value, weight: Parameter | None, bias: Parameter | None, eps: float) -> Value:
    """Normalise each plane of each sample by its own mean and variance."""
    x.assume((BATCH, weight.size if weight else None, None, None))
    (features,) = x.sizes(1)
    named = {"num_features": features, "eps": eps, "affine": weight is not None}
    defaults = {"eps": 1e-5, "affine": False}
    call = Call(f"nn.InstanceNorm{x.rank - 2}d", named, defaults, ("num_features",))

    def to_onnx(e: Emitter, x_name: str, *_: str) -> Any:
        names = _affine(e, features, weight, bias)
        return e.op("InstanceNormalization", x_name, *names, epsilon=eps)

    return same(x, to_onnx, layer=call, parameters={"weight": weight, "bias": bias})


_KEEP = ", keepdim=True"
_FUNCTIONS = {"Sum": "sum", "Mean": "mean", "Max": "amax", "Min": "amin"}


def reduce(x: Value, kind: str, dim: int, keep: bool = False) -> Value:
    """Reduce a dimension by Sum, Mean, Max or Min."""
    function = _FUNCTIONS[kind]
    text = f"{{0}}.{function}({dim}{_KEEP if keep else ''})"
    to_onnx = plain(f"Reduce{kind}", [dim], keepdims=int(keep))
    return node([x], to_onnx, _reduced(x, dim, keep), text, word=function)


def _reduced(x: Value, dim: int, keep: bool) -> Shape | None:
    return replaced(x.shape, dim, 1) if keep else replaced(x.shape, dim)


def softmax(x: Value, dim: int | None = None, log: bool = False) -> Value:
    """Normalise along a dimension; without one along that of channels, as nn has it."""
    if dim is None:
        dim = {1: 0, 2: 1, 3: 0, 4: 1, 5: 1}[len(x.shape or x.assume((BATCH, None)))]
    name = "log_softmax" if log else "softmax"
    call = Call("nn.LogSoftmax" if log else "nn.Softmax", {"dim": dim})
    kind = "LogSoftmax" if log else "Softmax"
    return same(x, plain(kind, axis=dim), f"F.{name}({{0}}, {dim})", layer=call)


def matmul(a: Value, b: Value) -> Value:
    """Return products of matrices, which are the last two dimensions."""
    shape = None
    if a.shape is not None and b.shape is not None:
        front = broadcast(a.shape[:-2], b.shape[:-2])
        shape = (*(front or ()), a.shape[-2], b.shape[-1])
    return node([a, b], "MatMul", shape, "{0} @ {1}", word="product")


def argmax(x: Value, dim: int, kind: str = "Max") -> Value:
    """Return the place, from 0, of the largest ("Max") or smallest element of a dimension."""
    to_onnx, text = plain(f"Arg{kind}", axis=dim, keepdims=0), f"{{0}}.arg{kind.lower()}({dim})"
    return node([x], to_onnx, replaced(x.shape, dim), text, kind="int", word="index")


def norm(x: Value, p: float, dim: int, keep: bool = False) -> Value:
    """Return the p-norm along a dimension: of p = inf the largest absolute value."""
    power = literal(p) if isinf(p) else number(p)
    text = f"{{0}}.norm({power}, {dim}{_KEEP if keep else ''})"

    def to_onnx(e: Emitter, name: str) -> Any:
        attributes = {"keepdims": int(keep)}
        if p in (1, 2):
            return e.op(f"ReduceL{int(p)}", name, e.ints(dim), **attributes)
        size = e.op("Abs", name)
        if isinf(p):
            return e.op("ReduceMax", size, e.ints(dim), **attributes)
        total = e.op("ReduceSum", e.op("Pow", size, e.number(p)), e.ints(dim), **attributes)
        return e.op("Pow", total, e.number(1 / p))

    return node([x], to_onnx, _reduced(x, dim, keep), text, word="norm")
