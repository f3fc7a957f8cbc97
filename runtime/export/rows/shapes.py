"""Shapes: views, parts of tensors, dimensions that come, go and change places."""

from __future__ import annotations

from runtime.export.graph import Data, Value
from runtime.export.modules import Module, data_row, row
from runtime.export.operators.base import total
from runtime.export.operators.shaping import (
    expand,
    narrow,
    permute,
    reshape,
    select,
    split,
    squeeze,
    unsqueeze,
)


@row("nn.View")
def _view(m: Module, x: Value) -> Value:
    sizes, dims = m.sizes("size"), m.get("numInputDims")
    if dims is None and -1 in sizes:
        # Without a number of dimensions, -1 takes the samples, too.
        return reshape(x, sizes, batch=False)
    if dims is not None and x.shape is not None and x.rank - int(dims) > 1:
        raise m.error("with more than one dimension in front of those that it takes")
    whole = x.shape is not None and x.rank <= int(dims or 0)
    return reshape(x, sizes, batch=not whole)


@row("nn.Reshape")
def _reshape(m: Module, x: Value) -> Value:
    sizes, mode = m.sizes("size"), m.get("batchMode")
    known = total(x.shape) if x.shape is not None else None
    same = mode is None and known is not None and known == total(sizes)
    return reshape(x, sizes, batch=not (mode is False or same))


@row("nn.Collapse")
def _collapse(m: Module, x: Value) -> Value:
    return reshape(x, [-1], batch=x.rank > m.whole("nInputDim"))


@row("nn.Transpose")
def _transpose(m: Module, x: Value) -> Value:
    offset = x.rank - m.whole("numInputDims") if m.get("numInputDims") else 0
    order = list(range(x.rank))
    for pair in m.get("permutations").to_list():
        one, other = [int(dim) - 1 + offset for dim in pair.to_list()]
        order[one], order[other] = order[other], order[one]
    return permute(x, order)


@row("nn.Squeeze")
def _squeeze(m: Module, x: Value) -> Value:
    dims = m.get("numInputDims")
    batch = int(dims is not None and x.rank == int(dims) + 1)
    if m.get("dim"):
        return squeeze(x, m.whole("dim") - 1 + batch)
    shape = x.shape or ()
    for dim in reversed(range(batch or 1, x.rank)):
        if shape[dim] == 1:
            x = squeeze(x, dim)
    return x


@row("nn.Unsqueeze")
def _unsqueeze(m: Module, x: Value) -> Value:
    dims = m.get("numInputDims")
    return unsqueeze(x, m.whole("pos") - 1 + (x.rank - int(dims) if dims else 0))


@row("nn.Replicate")
def _replicate(m: Module, x: Value) -> Value:
    ndim = m.get("ndim")
    dim = m.whole("dim", 1) - 1 + int(bool(ndim) and x.rank > int(ndim))
    return expand(unsqueeze(x, dim), dim, m.whole("nfeatures"))


@data_row("nn.Select")
def _select(m: Module, data: Data) -> Data:
    x = m.tensor(data)
    index = m.whole("index")
    return select(x, m.dim(x, "dimension"), index - 1 if index > 0 else index)


@row("nn.Narrow")
def _narrow(m: Module, x: Value) -> Value:
    dim, start, length = m.dim(x, "dimension"), m.whole("index"), m.whole("length", 1)
    if start < 0:
        (size,) = x.sizes(dim)
        count = length if length >= 0 else size - start + length + 2
        return narrow(x, dim, 0, size - count)
    stop = start - 1 + length if length >= 0 else (length + 1 or None)
    return narrow(x, dim, start - 1, stop)


@data_row("nn.SplitTable")
def _split(m: Module, data: Data) -> Data:
    x = m.tensor(data)
    return list(split(x, m.dim(x, "dimension", "nInputDims")))
