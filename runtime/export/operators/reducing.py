"""Sums, means, extrema and products of matrices."""

from __future__ import annotations

from math import isinf
from typing import Any

from th_shell.runtime.export.graph import BATCH, Call, Emitter, Shape, Value
from th_shell.runtime.export.operators.base import broadcast, node, number, plain, replaced, same
from th_shell.runtime.export.python_text import literal

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
        dim = {1: 0, 2: 1, 3: 0, 4: 1, 5: 1}[len(x.assume((BATCH, None)))]
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
