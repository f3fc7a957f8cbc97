"""Modules of the package rnn that keep something from one step of a sequence to the next.

Where a module takes one step, it is a step of the loop around it (`sequencers`), or the first one,
before which all that is kept is zero. What else rnn has is here, too.
"""

from __future__ import annotations

from typing import Any

from th_shell.runtime.export.data import first_tensor, mapped, sequence, table
from th_shell.runtime.export.graph import BATCH, Data, Graph, Steps, Value
from th_shell.runtime.export.modules import Module, convert, data_row, no_counterpart, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.layers import embedding
from th_shell.runtime.export.operators.sequences import flip, keep, loop, recall, zeros
from th_shell.runtime.export.operators.shaping import expand_as
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.export.rows.sequence_layers import packed
from th_shell.runtime.t7.values import Table

#: Sizes of a sample's states: of one, or of a table of these.
Sizes = tuple[int, ...] | list["Sizes"]


def _kept(
    m: Module, x: Value, sizes: Sizes, batched: bool, words: str = "hc", place: str = ""
) -> Data:
    """What the step before has left, at first zeros. words: names in what is written."""
    if isinstance(sizes, list):
        names = words.ljust(len(sizes), "h")
        return [
            _kept(m, x, each, batched, names[n], f"{place}.{n}") for n, each in enumerate(sizes)
        ]

    def start(like: Value, dim: int) -> Value:
        return zeros(like, dim if batched else None, sizes, words[0])

    return recall(m.graph, (id(m.value), place), start, x)


def _keep(m: Module, sizes: Sizes, data: Data, place: str = "") -> None:
    if isinstance(sizes, list):
        for n, (size, item) in enumerate(zip(sizes, table(data, m.graph), strict=True)):
            _keep(m, size, item, f"{place}.{n}")
    else:
        keep(m.graph, (id(m.value), place), m.tensor(data))


def _step(m: Module, data: Data, x: Value, sizes: Sizes, batched: bool) -> list[Data]:
    """A step of the module in `recurrentModule`; returns its results."""
    before = _kept(m, x, sizes, batched)
    states = before if m.kind in _CELLS and isinstance(before, list) else [before]
    result = convert(m.child("recurrentModule"), [data, *states])
    _keep(m, sizes, result)
    return table(result, m.graph) if isinstance(sizes, list) else [result]


_CELLS = {"nn.LSTM": 2, "nn.FastLSTM": 2, "nn.GRU": 1, "nn.MuFuRu": 1}


@data_row(*_CELLS)
def _cell(m: Module, data: Data) -> Data:
    """A class of torch-rnn has the name nn.LSTM, too: it has its weights itself."""
    if m.optional("weight") is not None:
        return packed(m, data, "ifog", True, m.whole("input_dim"))
    x = m.tensor(data)
    size = (m.whole("outputSize"),)
    x.assume((BATCH, m.whole("inputSize")))
    sizes: Sizes = [size, size] if _CELLS[m.kind] == 2 else size
    return _step(m, x, x, sizes, x.rank == 2)[0]


@data_row("nn.Recurrence")
def _recurrence(m: Module, data: Data) -> Data:
    """A module of an input and of its own last output."""
    first = first_tensor(data)
    dims, sizes = m.whole("nInputDim"), _sizes(m.get("outputSize"))
    first.assume((BATCH, *[None] * dims))
    found = _step(m, data, first, sizes, first.rank > dims)
    return found if isinstance(sizes, list) else found[0]


def _sizes(value: Any) -> Sizes:
    """Of numbers, or of tables of them, which are those of tensors in a table."""
    items = value.to_list() if isinstance(value, Table) else list(value)
    if any(isinstance(item, Table) for item in items):
        return [_sizes(item) for item in items]
    return tuple([int(item) for item in items])


@row("nn.Recurrent")
def _recurrent(m: Module, x: Value) -> Data:
    """Kept is what the module of feedback makes of an output: it is added to the next input.

    Before the first step that is the bias of the module of the start.
    """
    start, merge = m.child("startModule"), m.child("mergeModule")
    if start.kind not in ("nn.Add", "nn.Identity") or merge.kind != "nn.CAddTable":
        raise m.error("starts and merges by other modules than nn.Add and nn.CAddTable")
    given = m.tensor(convert(m.child("inputModule"), x))
    bias = start.parameter("bias") if start.kind == "nn.Add" else None

    def first(like: Value, dim: int) -> Value:
        sizes = bias.shape if bias else given.sizes(*range(1, given.rank))
        made = zeros(like, dim if given.rank > len(sizes) else None, sizes)
        return ew.binary("Add", made, ew.parameter(like, "start", bias)) if bias else made

    key = id(m.value)
    total = ew.binary("Add", given, recall(m.graph, key, first, x))
    result = m.tensor(convert(m.child("transferModule"), total))
    keep(m.graph, key, m.tensor(convert(m.child("feedbackModule"), result)))
    return result


@data_row("nn.LstmLayer")
def _crnn_layer(m: Module, data: Data) -> Data:
    """Of crnn: a graph of a step and of the states before it, for each entry of a table."""
    whole, sizes = sequence(data, m.graph), [(m.whole("nHidden"),)] * 2
    turn = flip if m.get("reverse") else lambda x: x

    def step(body: Graph, x: Data) -> Data:
        inner = m.within(body)
        states = table(_kept(inner, m.tensor(x), [*sizes], True, "ch"), body)
        *after, result = table(convert(inner.child("lstmUnit"), [x, *states]), body)
        _keep(inner, [*sizes], after)
        return result

    return Steps(mapped(loop(m.graph, mapped(whole, turn), step), turn))


@data_row("nn.MaskZero", "nn.TrimZero")
def _mask_zero(m: Module, data: Data) -> Data:
    """Zeros for samples whose input, the first tensor of a table, is all zeros."""
    first = first_tensor(data)
    (child, *_) = m.modules
    result = convert(child, data)
    first.assume((BATCH, *[None] * m.whole("nInputDim")))
    batched = first.rank > m.whole("nInputDim")
    masks: dict[int, Value] = {}

    def masked(x: Value) -> Value:
        if x.rank not in masks:
            masks[x.rank] = ew.is_zero(first, batched, x.rank)
        return ew.masked(x, masks[x.rank])

    return mapped(result, masked)


@row("nn.LookupTableMaskZero")
def _lookup_table(m: Module, x: Value) -> Value:
    """Zeros for the index 0, which is the first row."""
    weight = m.parameter("weight")
    array = weight.array().copy()
    array[0] = 0
    return embedding(x, Parameter.made(array, weight), first=0)


@row("nn.SAdd")
def _scalar_add(m: Module, x: Value) -> Value:
    total = ew.with_number("Add", x, m.number("addend"))
    return ew.function(total, "neg") if m.get("negate") else total


@data_row("nn.ExpandAs")
def _expand_as(m: Module, data: Data) -> Data:
    x, other = m.tensors(data, 2)
    return [x, expand_as(other, x)]


@row("nn.SeqReverseSequence")
def _reverse(m: Module, x: Value) -> Value:
    return flip(x, m.whole("dim") - 1).copied()


no_counterpart("it looks at places that it draws at random, step by step", "nn.RecurrentAttention")
