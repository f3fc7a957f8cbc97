"""Sums, means, extrema and products of matrices."""

from __future__ import annotations

from typing import Any

from runtime.export.graph import BATCH, Call, Emitter, Shape, Value
from runtime.export.operators.base import broadcast, node, plain, replaced, same

_FUNCTIONS = {"Sum": "sum", "Mean": "mean", "Max": "amax", "Min": "amin"}


def reduce(x: Value, kind: str, dim: int, keep: bool = False) -> Value:
    """Sum, Mean, Max or Min along a dimension."""
    text = (
        f"{{0}}.{_FUNCTIONS[kind]}({dim}, keepdim=True)"
        if keep
        else f"{{0}}.{_FUNCTIONS[kind]}({dim})"
    )

    def to_onnx(e: Emitter, name: str) -> Any:
        return e.op(f"Reduce{kind}", name, e.ints(dim), keepdims=int(keep))

    return node([x], to_onnx, reduced(x.shape, dim, keep), expression=text, word=_FUNCTIONS[kind])


def reduced(shape: Shape | None, dim: int, keep: bool) -> Shape | None:
    """A shape without a dimension, or with 1 there."""
    if shape is None:
        return None
    return replaced(shape, dim, 1) if keep else (*shape[:dim], *shape[dim + 1 :])


def softmax(x: Value, dim: int | None = None, log: bool = False) -> Value:
    """Along a dimension; without one that of channels, as nn has it."""
    if dim is None:
        rank = 2 if x.shape is None else x.rank
        if x.shape is None:
            x.set_shape((BATCH, None))
        dim = {1: 0, 2: 1, 3: 0, 4: 1, 5: 1}[rank]
    name = "log_softmax" if log else "softmax"
    call = Call("nn.LogSoftmax" if log else "nn.Softmax", {"dim": dim})
    kind = "LogSoftmax" if log else "Softmax"
    return same(x, plain(kind, axis=dim), f"F.{name}({{0}}, {dim})", layer=call)


def matmul(a: Value, b: Value) -> Value:
    """Products of matrices, which are the last two dimensions."""
    shape = None
    if a.shape is not None and b.shape is not None:
        front = broadcast(a.shape[:-2], b.shape[:-2])
        shape = (*(front or ()), a.shape[-2], b.shape[-1])
    return node([a, b], "MatMul", shape, expression="{0} @ {1}", word="product")


def argmax(x: Value, dim: int) -> Value:
    """Where the largest element of a dimension is, from 0."""
    to_onnx = plain("ArgMax", axis=dim, keepdims=0)
    return node(
        [x],
        to_onnx,
        reduced(x.shape, dim, False),
        expression=f"{{0}}.argmax({dim})",
        kind="int",
        word="index",
    )
