"""Layers for whole sequences, which hold the weights of all gates in one tensor.

Those of rnn take time first, unless `batchfirst` says otherwise; those of torch-rnn, one of which
has the name of rnn's nn.LSTM, take samples first. A table has states before the sequence.
"""

from __future__ import annotations

from typing import Any

from th_shell.runtime.export.data import Unknown, table
from th_shell.runtime.export.graph import BATCH, TIME, Data, Value
from th_shell.runtime.export.modules import Module, convert, data_row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.layers import linear
from th_shell.runtime.export.operators.recurrent import recurrent_layer
from th_shell.runtime.export.operators.sequences import keep, loop, recall, zeros
from th_shell.runtime.export.operators.shaping import chunks, merge, narrow, permute, unmerge
from th_shell.runtime.export.parameters import Parameter


def _given(m: Module, data: Data, batch_first: bool, inputs: int) -> tuple[Value, list[Value]]:
    """The sequence, and the states before it: the output, then the cells, where these are given."""
    if isinstance(data, list) and not isinstance(data, Unknown):
        *first, data = table(data, m.graph)
    else:
        first = []
    x = m.tensor(data)
    front = (BATCH, TIME) if batch_first else (TIME, BATCH)
    x.assume((*front, inputs))
    return x, [m.tensor(each) for each in reversed(first)]


def _parts(m: Module, inputs: int) -> tuple[Parameter, Parameter]:
    """The weights of inputs, and of the step before: outputs x inputs."""
    weight = m.parameter("weight")
    array = weight.array()
    arrays = {"input": array[:inputs], "before": array[inputs:]}
    one, other = [Parameter.made(each.T, weight, part=part) for part, each in arrays.items()]
    return one, other


def packed(m: Module, data: Data, gates: str, batch_first: bool, inputs: int) -> Value:
    """An LSTM, or an RNN of one gate. gates: their order in the weights."""
    x, first = _given(m, data, batch_first, inputs)
    weight, recurrent = _parts(m, inputs)
    if len(first) == 1 and len(gates) > 1:
        size = recurrent.shape[1]
        first.append(zeros(x, 0 if batch_first else 1, (size,), "c"))
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
    """A loop, for what no layer of PyTorch is. sizes: of what is kept; the output is the first."""
    batch_first = bool(m.get("batchfirst"))
    x, first = _given(m, data, batch_first, inputs)
    x = permute(x, (1, 0, 2)) if batch_first else x

    def taken(inner: Module, given: Data) -> Data:
        states = [_kept(inner, n, size, given, first) for n, size in enumerate(sizes)]
        results = step(inner, given, *states)
        if m.get("maskzero"):
            mask = ew.is_zero(inner.tensor(given), True, 2)
            results = [ew.masked(each, mask) for each in results]
        for n, each in enumerate(results):
            keep(inner.graph, (id(m.value), n), each)
        return results[0]  # type: ignore[no-any-return]

    found = m.tensor(loop(m.graph, x, lambda body, given: convert(m.within(body), given, taken)))
    return permute(found, (1, 0, 2)) if batch_first else found


def _kept(m: Module, number: int, size: int, x: Any, first: list[Value]) -> Value:
    def start(like: Value, dim: int) -> Value:
        return first[number] if number < len(first) else zeros(like, dim, (size,), "hc"[number])

    return recall(m.graph, (id(m.value), number), start, x)


def _lstm_step(m: Module, x: Value, h: Value, c: Value) -> list[Value]:
    weight, recurrent = _parts(m, m.whole("inputsize"))
    gates = ew.binary("Add", linear(x, weight, m.optional("bias")), linear(h, recurrent, None))
    i, f, o, g = chunks(gates, 4, 1, "i f o g")
    kept = ew.binary("Mul", ew.sigmoid(f), c)
    c = ew.binary("Add", kept, ew.binary("Mul", ew.sigmoid(i), ew.tanh(g)))
    h = ew.binary("Mul", ew.sigmoid(o), ew.tanh(c))
    output = m.optional("weightO")
    if output is not None:
        h = linear(h, Parameter.made(output.array().T, output), None)
    return [h, c]


def _gru_step(m: Module, x: Value, h: Value) -> list[Value]:
    """The reset gate comes before the weights of the step before, other than in PyTorch's GRU."""
    weight, recurrent = _parts(m, m.whole("inputSize"))
    size, array = m.whole("outputSize"), recurrent.array()
    both = Parameter.made(array[: 2 * size], recurrent, part="gates")
    last = Parameter.made(array[2 * size :], recurrent, part="candidate")
    given = linear(x, weight, m.optional("bias"))
    total = ew.binary("Add", narrow(given, 1, 0, 2 * size), linear(h, both, None))
    reset, update = chunks(ew.sigmoid(total), 2, 1, "reset update")
    before = linear(ew.binary("Mul", reset, h), last, None)
    new = ew.tanh(ew.binary("Add", narrow(given, 1, 2 * size, None), before))
    return [ew.binary("Add", new, ew.binary("Mul", update, ew.binary("Sub", h, new)))]


@data_row("nn.LanguageModel")
def _language_model(m: Module, data: Data) -> Data:
    """Of torch-rnn, which sets the sizes of its views when it runs: they take time to the samples
    and back."""
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
