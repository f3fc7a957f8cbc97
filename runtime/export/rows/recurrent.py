"""Recurrent modules of rnn and torch-rnn: single steps, and layers for whole sequences."""

from typing import Any

from th_shell.runtime.export.data import UndecidedInput, first_tensor, mapped, sequence, table
from th_shell.runtime.export.graph import BATCH, TIME, Cell, Data, Graph, Steps, Value
from th_shell.runtime.export.modules import Module, convert, data_row, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.layers import embedding, linear
from th_shell.runtime.export.operators.sequences import (
    flip,
    keep,
    loop,
    recall,
    recurrent_layer,
    zeros,
)
from th_shell.runtime.export.operators.shaping import (
    chunks,
    expand_as,
    merge,
    narrow,
    permute,
    unmerge,
)
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.t7.values import Table


def _given(m: Module, data: Data, batch_first: bool, inputs: int) -> tuple[Value, list[Value]]:
    """Return the sequence, and the states before it, if any: the output, then the cells."""
    if isinstance(data, list) and not isinstance(data, UndecidedInput):
        *first, data = table(data, m.graph)
    else:
        first = []
    x = m.tensor(data)
    front = (BATCH, TIME) if batch_first else (TIME, BATCH)
    x.assume((*front, inputs))
    return x, [m.tensor(each) for each in reversed(first)]


def _parts(m: Module, inputs: int) -> tuple[Parameter, Parameter]:
    """Return the weights of inputs, and of the step before: outputs x inputs."""
    weight = m.parameter("weight")
    array = weight.array()
    arrays = {"input": array[:inputs], "before": array[inputs:]}
    weight_ih, weight_hh = [
        Parameter.made(each.T, weight, part=part) for part, each in arrays.items()
    ]
    return weight_ih, weight_hh


def packed(m: Module, data: Data, gates: str, batch_first: bool, inputs: int) -> Value:
    """Return an LSTM, or an RNN of one gate. gates: their order in the weights."""
    x, first = _given(m, data, batch_first, inputs)
    weight, recurrent = _parts(m, inputs)
    if len(first) == 1 and len(gates) > 1:
        first.append(zeros(x, 0 if batch_first else 1, (recurrent.shape[1],), "c"))
    return recurrent_layer(x, weight, recurrent, m.optional("bias"), gates, first, batch_first)


@data_row("nn.VanillaRNN")
def _vanilla_rnn(m: Module, data: Data) -> Data:
    return packed(m, data, "g", True, m.whole("input_dim"))


@data_row("nn.SeqLSTM", "nn.SeqLSTMP")
def _seq_lstm(m: Module, data: Data) -> Data:
    inputs, batch_first = m.whole("inputsize"), bool(m.get("batchfirst"))
    if not m.get("maskzero") and m.optional("weightO") is None:
        return packed(m, data, "ifog", batch_first, inputs)
    sizes = m.whole("outputsize"), m.whole("hiddensize", m.whole("outputsize"))
    return _looped(m, data, _lstm_step, inputs, sizes)


@data_row("nn.SeqGRU")
def _seq_gru(m: Module, data: Data) -> Data:
    return _looped(m, data, _gru_step, m.whole("inputSize"), (m.whole("outputSize"),))


def _looped(m: Module, data: Data, step: Any, inputs: int, sizes: tuple[int, ...]) -> Value:
    """Add a loop, where PyTorch has no layer. sizes: of the states, the first of which goes out."""
    batch_first = bool(m.get("batchfirst"))
    names = {"input_size": inputs, "hidden_size": sizes[0]} if len({*sizes}) == 1 else {}
    x, first = _given(m, data, batch_first, inputs)
    x = permute(x, (1, 0, 2)) if batch_first else x

    def taken(inner: Module, x_t: Data) -> Data:
        _note_cell(inner, m.kind.rpartition(".")[2], names)
        states = [_layer_state(inner, n, size, x_t, first) for n, size in enumerate(sizes)]
        results = step(inner, x_t, *states)
        if m.get("maskzero"):
            mask = ew.is_zero(inner.tensor(x_t), True, 2)
            results = [ew.masked(each, mask) for each in results]
        for n, each in enumerate(results):
            keep(inner.graph, (id(m.value), n), each)
        return results[0]  # type: ignore[no-any-return]

    output = m.tensor(loop(m.graph, x, lambda body, x_t: convert(m.within(body), x_t, taken)))
    return permute(output, (1, 0, 2)) if batch_first else output


def _layer_state(m: Module, number: int, size: int, x: Any, first: list[Value]) -> Value:
    def start(like: Value, dim: int) -> Value:
        return first[number] if number < len(first) else zeros(like, dim, (size,), "hc"[number])

    return recall(m.graph, (id(m.value), number), start, x)


def _note_cell(m: Module, name: str, sizes: dict[str, int]) -> None:
    """Say what a loop becomes, if the module is in one."""
    if m.graph.cell == Cell():  # a cell within another one is a part of it
        m.graph.cell = Cell(name, _TITLES.get(name, f"{m.kind} of Torch7, step by step."), sizes)


_TITLES = {
    "PeepholeLSTM": "An LSTM whose gates see the cells, too, as in Torch7's package rnn.",
    "GRU": "A GRU that resets h before h_to_n, as in Torch7; nn.GRU resets what h_to_n gives.",
    "SeqGRU": "A GRU that resets h before h_to_n, as in Torch7; nn.GRU resets what h_to_n gives.",
    "RNN": "An RNN whose feedback is a layer of its own, as in Torch7's package rnn.",
}


def _lstm_step(m: Module, x: Value, h: Value, c: Value) -> list[Value]:
    weight, recurrent = _parts(m, m.whole("inputsize"))
    gates = ew.binary("Add", linear(x, weight, m.optional("bias")), linear(h, recurrent, None))
    i, f, o, g = chunks(gates, 4, 1, "i f o g")
    old_cells = ew.binary("Mul", ew.sigmoid(f), c)
    c = ew.binary("Add", old_cells, ew.binary("Mul", ew.sigmoid(i), ew.tanh(g)))
    h = ew.binary("Mul", ew.sigmoid(o), ew.tanh(c))
    output = m.optional("weightO")
    if output is not None:
        h = linear(h, Parameter.made(output.array().T, output), None)
    return [h, c]


def _gru_step(m: Module, x: Value, h: Value) -> list[Value]:
    """Compute a step of a GRU whose reset gate comes before the weights, other than PyTorch's."""
    weight, recurrent = _parts(m, m.whole("inputSize"))
    size, array = m.whole("outputSize"), recurrent.array()
    both = Parameter.made(array[: 2 * size], recurrent, part="gates")
    last = Parameter.made(array[2 * size :], recurrent, part="candidate")
    from_input = linear(x, weight, m.optional("bias"))
    total = ew.binary("Add", narrow(from_input, 1, 0, 2 * size), linear(h, both, None))
    reset, update = chunks(ew.sigmoid(total), 2, 1, "r z")
    before = linear(ew.binary("Mul", reset, h), last, None)
    new = ew.tanh(ew.binary("Add", narrow(from_input, 1, 2 * size, None), before))
    if new.node is not None:
        new.node.word = "n"
    return [ew.binary("Add", new, ew.binary("Mul", update, ew.binary("Sub", h, new)))]


@data_row("nn.LanguageModel")
def _language_model(m: Module, data: Data) -> Data:
    """Convert torch-rnn's model.

    Its views, which are set when it runs, take time to the samples and back.
    """
    like: list[Value] = []
    for child in m.child("net").modules:
        x = m.tensor(data)
        if child.kind != "nn.View":
            data = convert(child, x)
        elif like:
            data = unmerge(x, like.pop(), 2)
        else:
            like.append(x)
            data = merge(x, 2)
    return data


#: Sizes of a sample's states: of one, or of a table of these.
Sizes = tuple[int, ...] | list["Sizes"]


def _state(
    m: Module, x: Value, sizes: Sizes, batched: bool, words: str = "hc", place: str = ""
) -> Data:
    """Return what the step before has left, at first zeros. words: names in what is written."""
    if isinstance(sizes, list):
        names = words.ljust(len(sizes), "h")
        return [
            _state(m, x, each, batched, names[n], f"{place}.{n}") for n, each in enumerate(sizes)
        ]

    def start(like: Value, dim: int) -> Value:
        return zeros(like, dim if batched else None, sizes, words[0])

    return recall(m.graph, (id(m.value), place), start, x)


def _keep_state(m: Module, sizes: Sizes, data: Data, place: str = "") -> None:
    if isinstance(sizes, list):
        for n, (size, item) in enumerate(zip(sizes, table(data, m.graph), strict=True)):
            _keep_state(m, size, item, f"{place}.{n}")
    else:
        keep(m.graph, (id(m.value), place), m.tensor(data))


def _step(m: Module, data: Data, x: Value, sizes: Sizes, batched: bool) -> list[Data]:
    """Convert a step of the module in `recurrentModule`; return its results."""
    before = _state(m, x, sizes, batched)
    states = before if m.kind in _CELLS and isinstance(before, list) else [before]
    result = convert(m.child("recurrentModule"), [data, *states])
    _keep_state(m, sizes, result)
    return table(result, m.graph) if isinstance(sizes, list) else [result]


_CELLS = {"nn.LSTM": 2, "nn.FastLSTM": 2, "nn.GRU": 1, "nn.MuFuRu": 1}


@data_row(*_CELLS)
def _cell(m: Module, data: Data) -> Data:
    """Convert a step of a cell, or the nn.LSTM of torch-rnn, which has its weights itself."""
    if m.optional("weight") is not None:
        return packed(m, data, "ifog", True, m.whole("input_dim"))
    x = m.tensor(data)
    size = (m.whole("outputSize"),)
    x.assume((BATCH, m.whole("inputSize")))
    sizes: Sizes = [size, size] if _CELLS[m.kind] == 2 else size
    name = "PeepholeLSTM" if m.kind == "nn.LSTM" and m.get("cell2gate") else m.kind[len("nn.") :]
    _note_cell(m, name, {"input_size": m.whole("inputSize"), "hidden_size": size[0]})
    return _step(m, x, x, sizes, x.rank == 2)[0]


@data_row("nn.Recurrence")
def _recurrence(m: Module, data: Data) -> Data:
    """Convert a module that takes its input and its own last output."""
    first = first_tensor(data)
    dims, sizes = m.whole("nInputDim"), _sizes(m.get("outputSize"))
    first.assume((BATCH, *[None] * dims))
    _note_cell(m, "Recurrence", {})
    results = _step(m, data, first, sizes, first.rank > dims)
    return results if isinstance(sizes, list) else results[0]


def _sizes(value: Any) -> Sizes:
    """Return sizes in a file: numbers, or tables of them for tensors in a table."""
    items = value.to_list() if isinstance(value, Table) else list(value)
    if any(isinstance(item, Table) for item in items):
        return [_sizes(item) for item in items]
    return tuple([int(item) for item in items])


@row("nn.Recurrent")
def _recurrent(m: Module, x: Value) -> Data:
    """Add to each input what the module of feedback makes of the last output.

    Before the first step that is the bias of the module of the start.
    """
    start, merge = m.child("startModule"), m.child("mergeModule")
    if start.kind not in ("nn.Add", "nn.Identity") or merge.kind != "nn.CAddTable":
        raise m.error("starts and merges by other modules than nn.Add and nn.CAddTable")
    _note_cell(m, "RNN", {})
    from_input = m.tensor(convert(m.child("inputModule"), x))
    bias = start.parameter("bias") if start.kind == "nn.Add" else None

    def first(like: Value, dim: int) -> Value:
        sizes = bias.shape if bias else from_input.sizes(*range(1, from_input.rank))
        state = zeros(like, dim if from_input.rank > len(sizes) else None, sizes)
        return ew.binary("Add", state, ew.parameter(like, "start", bias)) if bias else state

    key = id(m.value)
    total = ew.binary("Add", from_input, recall(m.graph, key, first, x))
    result = m.tensor(convert(m.child("transferModule"), total))
    keep(m.graph, key, m.tensor(convert(m.child("feedbackModule"), result)))
    return result


@data_row("nn.LstmLayer")
def _crnn_layer(m: Module, data: Data) -> Data:
    """Convert a graph of a step and of the states before it, for each entry of a table (crnn)."""
    whole, sizes = sequence(data, m.graph), [(m.whole("nHidden"),)] * 2
    turn = flip if m.get("reverse") else lambda x: x

    def step(body: Graph, x: Data) -> Data:
        inner = m.within(body)
        states = table(_state(inner, m.tensor(x), [*sizes], True, "ch"), body)
        *after, result = table(convert(inner.child("lstmUnit"), [x, *states]), body)
        _keep_state(inner, [*sizes], after)
        return result

    return Steps(mapped(loop(m.graph, mapped(whole, turn), step), turn))


@data_row("nn.MaskZero", "nn.TrimZero")
def _mask_zero(m: Module, data: Data) -> Data:
    """Return zeros for samples whose input, the first tensor of a table, is all zeros."""
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
    """Choose rows by indices from 0, for which, the first row, there are zeros."""
    weight = m.parameter("weight")
    array = weight.array().copy()
    array[0] = 0
    return embedding(x, Parameter.made(array, weight), first=0)


@row("nn.SAdd")
def _scalar_add(m: Module, x: Value) -> Value:
    addend = m.number("addend")
    return ew.minus(-addend, x) if m.get("negate") else ew.with_number("Add", x, addend)


@data_row("nn.ExpandAs")
def _expand_as(m: Module, data: Data) -> Data:
    x, wide = m.tensors(data, 2)
    return [x, expand_as(wide, x)]


@row("nn.SeqReverseSequence")
def _reverse(m: Module, x: Value) -> Value:
    return flip(x, m.whole("dim") - 1).copied()
