"""Layers with parameters that PyTorch has as modules: linear ones, convolutions, normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.export.graph import BATCH, Call, Emitter, Value
from runtime.export.operators.base import as_indices, node, plain, same
from runtime.export.parameters import Parameter


def linear(x: Value, weight: Parameter, bias: Parameter | None) -> Value:
    """weight: outputs x inputs."""
    outputs, inputs = weight.shape
    if x.shape is None:
        x.set_shape((BATCH, inputs))

    def to_onnx(e: Emitter, x_name: str, w: str, *b: str) -> Any:
        if x.rank == 2:
            return e.op("Gemm", x_name, w, *b, transB=1)
        result = e.op("MatMul", x_name, e.op("Transpose", w, perm=[1, 0]))
        return e.op("Add", result, *b) if b else result

    named = {"in_features": inputs, "out_features": outputs, "bias": bias is not None}
    call = Call("nn.Linear", named, {"bias": True}, ("in_features", "out_features"))
    shape = (*x.shape[:-1], outputs) if x.shape else None
    return node([x], to_onnx, shape, layer=call, parameters={"weight": weight, "bias": bias})


def embedding(x: Value, weight: Parameter, first: int = 1) -> Value:
    """Rows of a table by indices, which count from `first`."""
    index = as_indices(x, weight.shape[0])
    if first:
        index = shifted(index, -first)
    named = {"num_embeddings": weight.shape[0], "embedding_dim": weight.shape[1]}
    call = Call("nn.Embedding", named, {}, tuple(named))
    shape = (*index.shape, weight.shape[1]) if index.shape is not None else None

    def to_onnx(e: Emitter, index: str, table: str) -> Any:
        return e.op("Gather", table, index)

    return node([index], to_onnx, shape, layer=call, parameters={"weight": weight})


def shifted(index: Value, by: int) -> Value:
    """Indices with a number added."""

    def to_onnx(e: Emitter, x: str) -> Any:
        return e.op("Add", x, e.index(by))

    sign = "-" if by < 0 else "+"
    return same(index, to_onnx, f"{{0}} {sign} {abs(by)}", word="index")


def batch_norm(
    x: Value,
    mean: Parameter,
    var: Parameter,
    weight: Parameter | None,
    bias: Parameter | None,
    eps: float,
    momentum: float,
) -> Value:
    """Over the second dimension, by the statistics that were learned."""
    features = mean.shape[0]
    rank = len(x.shape) if x.shape is not None else 4
    named: dict[str, Any] = {"num_features": features, "eps": eps, "momentum": momentum}
    named["affine"] = weight is not None
    defaults = {"eps": 1e-5, "momentum": 0.1, "affine": True}
    call = Call(f"nn.BatchNorm{max(rank - 2, 1)}d", named, defaults, ("num_features",))

    def to_onnx(e: Emitter, x_name: str, *_: str) -> Any:
        scale = weight or Parameter.made(np.ones(features, np.float32))
        shift = bias or Parameter.made(np.zeros(features, np.float32))
        names = [x_name, *map(e.parameter, (scale, shift, mean, var))]
        if not e.training:
            return e.op("BatchNormalization", *names, epsilon=eps)
        old = {"epsilon": eps, "momentum": 1 - momentum, "training_mode": 1}
        return e.op("BatchNormalization", *names, count=3, **old)[0]

    parameters = {"weight": weight, "bias": bias, "running_mean": mean, "running_var": var}
    return same(x, to_onnx, layer=call, parameters=parameters)


def lrn(x: Value, size: int, alpha: float, beta: float, k: float) -> Value:
    """Normalisation over neighbouring channels."""
    call = Call(
        "nn.LocalResponseNorm",
        {"size": size, "alpha": alpha, "beta": beta, "k": k},
        {"alpha": 1e-4, "beta": 0.75, "k": 1.0},
        ("size",),
    )
    return same(x, plain("LRN", size=size, alpha=alpha, beta=beta, bias=k), layer=call)


def instance_norm(x: Value, weight: Parameter | None, bias: Parameter | None, eps: float) -> Value:
    """Each plane of each sample by its own mean and variance."""
    if x.shape is None:
        x.set_shape((BATCH, weight.size if weight else None, None, None))
    (features,) = x.sizes(1)
    named = {"num_features": features, "eps": eps, "affine": weight is not None}
    defaults = {"eps": 1e-5, "affine": False}
    call = Call(f"nn.InstanceNorm{x.rank - 2}d", named, defaults, ("num_features",))

    def to_onnx(e: Emitter, x_name: str, *_: str) -> Any:
        scale = weight or Parameter.made(np.ones(features, np.float32))
        shift = bias or Parameter.made(np.zeros(features, np.float32))
        names = map(e.parameter, (scale, shift))
        return e.op("InstanceNormalization", x_name, *names, epsilon=eps)

    return same(x, to_onnx, layer=call, parameters={"weight": weight, "bias": bias})
