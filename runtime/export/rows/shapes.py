"""Shapes: views, parts of tensors, dimensions that come, go and change places."""

from __future__ import annotations

from math import prod

from th_shell.runtime.export.graph import Data, Steps, Value
from th_shell.runtime.export.modules import Module, data_row, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.base import total
from th_shell.runtime.export.operators.layers import one_hot, take
from th_shell.runtime.export.operators.shaping import (
    cat,
    contiguous,
    expand,
    flatten,
    for_samples,
    narrow,
    permute,
    reshape,
    select,
    squeeze,
    transpose,
    unsqueeze,
)
from th_shell.runtime.export.operators.windows import pad


@row("nn.View")
def _view(m: Module, x: Value) -> Value:
    """Without a number of dimensions, -1 takes the samples, too."""
    sizes, dims = m.sizes("size"), m.get("numInputDims")
    if dims is None:
        return reshape(x, sizes, batch=-1 not in sizes)
    if x.shape is not None and x.rank - int(dims) > 1 and -1 in sizes:
        known = prod(x.sizes(*range(x.rank - int(dims), x.rank)))
        sizes = [known // -prod(sizes) if size == -1 else size for size in sizes]
    return reshape(x, sizes, batch=x.shape is None or x.rank > int(dims))


@row("nn.Reshape")
def _reshape(m: Module, x: Value) -> Value:
    sizes, mode = m.sizes("size"), m.get("batchMode")
    known = total(x.shape) if x.shape is not None else None
    same = mode is None and known is not None and known == total(sizes)
    x = contiguous(x)
    return reshape(x, sizes, batch=not (mode is False or same))


@row("nn.Collapse")
def _collapse(m: Module, x: Value) -> Value:
    return reshape(contiguous(x), [-1], batch=x.rank > m.whole("nInputDim"))


@row("nn.Transpose")
def _transpose(m: Module, x: Value) -> Value:
    offset = x.rank - m.whole("numInputDims") if m.get("numInputDims") else 0
    order = list(range(x.rank))
    for pair in m.get("permutations").to_list():
        one, other = [int(dim) - 1 + offset for dim in pair.to_list()]
        order[one], order[other] = order[other], order[one]
    return permute(x, order).copied()


@row("nn.Squeeze")
def _squeeze(m: Module, x: Value) -> Value:
    dims = m.get("numInputDims")
    batch = int(dims is not None and x.rank == int(dims) + 1)
    shape = x.shape or ()
    if m.get("dim"):
        dim = m.whole("dim") - 1 + batch
        return squeeze(x, dim) if not shape or shape[dim] == 1 else x
    first = batch or 1
    sizes = x.sizes(*range(first, x.rank))
    for dim in reversed(range(first, x.rank)):
        if sizes[dim - first] == 1:
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


@row("nn.Select")
def _select(m: Module, x: Value) -> Value:
    index = m.whole("index")
    return select(x, m.dim(x, "dimension"), index - 1 if index > 0 else index).copied()


@row("nn.Narrow")
def _narrow(m: Module, x: Value) -> Value:
    """A negative length counts from the end; a negative start leaves that many out there."""
    dim, start, length = m.dim(x, "dimension"), m.whole("index"), m.whole("length", 1)
    if start < 0:
        return narrow(x, dim, 0, -length if length >= 0 else start - length - 2).copied()
    stop = start - 1 + length if length >= 0 else (length + 1 or None)
    return narrow(x, dim, start - 1, stop).copied()


@data_row("nn.SplitTable")
def _split(m: Module, data: Data) -> Data:
    x = m.tensor(data)
    return Steps(x, m.dim(x, "dimension", "nInputDims"))


@data_row("nn.Index")
def _index(m: Module, data: Data) -> Data:
    """Places of a dimension by indices, which are the second tensor."""
    x, indices = m.tensors(data, 2)
    return take(x, m.dim(x, "dimension"), indices)


@row("nn.OneHot", "OneHot")
def _one_hot(m: Module, x: Value) -> Value:
    """Of nn, and of char-rnn, which is older."""
    return one_hot(x, m.whole("outputSize"))


@row("nn.Padding")
def _padding(m: Module, x: Value) -> Value:
    """A value before (pad below 0) or behind a dimension, or before a place that is counted so."""
    dims, amount, place = m.get("nInputDim"), m.whole("pad"), m.whole("index", 1)
    dim = m.whole("dim") - 1 + int(bool(dims) and x.rank != dims)
    behind, value = amount > 0, m.number("value", 0)
    if place == 1:
        return _padded(x, dim, (0, amount) if behind else (-amount, 0), value)
    cut = 1 - place if behind else place - 1
    first = _padded(narrow(x, dim, 0, cut), dim, (0, abs(amount)), value)
    return cat([first, narrow(x, dim, cut, None)], dim)


def _padded(x: Value, dim: int, amounts: tuple[int, int], value: float) -> Value:
    return pad(x, [amounts, *[(0, 0)] * (x.rank - dim - 1)], value=value)


@row("nn.Constant")
def _constant(m: Module, x: Value) -> Value:
    """A tensor; with a number of dimensions (nInputDim) once for each sample."""
    dims = m.get("nInputDim")
    value = ew.parameter(x, "value", m.parameter("value", trained=False))
    return for_samples(value, x) if dims and x.rank > dims else value


@row("nn.Convert")
def _convert(m: Module, x: Value) -> Value:
    """Dimensions that letters name, in another order; or features of samples (bf)."""
    old, new = m.text("inputShape"), m.text("outputShape")
    if new == "b*" or old == new:
        return x
    if x.rank != len(old):
        raise m.error(f"takes {old} here: --input begins with the samples")
    place = old.index("b")
    if sorted(old) == sorted(new):
        return permute(x, [old.index(letter) for letter in new]).copied()
    if new == "bf":
        first = transpose(x, 0, place).copied() if place else contiguous(x)
        return flatten(first) if len(old) > 1 else unsqueeze(x, 1)
    if new == "b" and len(old) == 2:
        return select(x, 1 - place, 0).copied()
    if (old, new) == ("b", "bt"):
        return unsqueeze(contiguous(x), 1)
    raise m.error(f"does not convert {old} to {new}")
