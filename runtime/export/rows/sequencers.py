"""Modules that go through sequences: a module for each step of a table or of a tensor.

What is the same for each step is computed for all steps at once, as if they were samples; what
keeps something from one step to the next is a layer of PyTorch and ONNX, or a loop.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from itertools import groupby
from typing import Any

from th_shell.runtime.export.data import UndecidedInput, mapped, sequence, table, tensor, tensors
from th_shell.runtime.export.graph import BATCH, TIME, Data, Memory, Steps, Value
from th_shell.runtime.export.modules import Module, class_of, convert, data_row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.sequences import (
    flip,
    loop,
    merged,
    recurrent_layer,
    unmerged,
)
from th_shell.runtime.export.operators.shaping import cat, narrow
from th_shell.runtime.t7.values import Table, TorchObject

_CHAINS = ("nn.Sequential", "nn.Recursor")


def _classes(*names: str) -> frozenset[str]:
    return frozenset([f"nn.{name}" for name in names])


#: Classes that keep something from step to step.
_CELLS = _classes("LSTM", "FastLSTM", "GRU", "MuFuRu", "Recurrence", "Recurrent")
#: Classes that go through a sequence.
_SEQUENCES = _classes("Sequencer", "BiSequencer", "BiSequencerLM", "Repeater", "SeqBRNN")
_SEQUENCES |= _classes("SeqLSTM", "SeqLSTMP", "SeqGRU")
_NORMS = _classes("BatchNormalization", "SpatialBatchNormalization", "VolumetricBatchNormalization")


@data_row("nn.Sequencer")
def _sequencer(m: Module, data: Data) -> Data:
    """Convert steps of a tensor to a tensor, and of a table to a table."""
    (child, *_) = m.modules
    if isinstance(data, UndecidedInput) and not data.is_table:
        data = tensor(data, m.graph)
    if not isinstance(data, Value):
        return Steps(_through(child, sequence(data, m.graph)))
    result = _through(child, data)
    if not isinstance(result, Value):
        sequence(data, m.graph)  # only a table gives tables
        return Steps(result)
    return Steps(result, source=data) if data in m.graph.inputs else result


@data_row("nn.MapTable")
def _map_table(m: Module, data: Data) -> Data:
    """Convert copies of a module; if they do not share its parameters, those that are there."""
    children = m.modules or [m.child("module")]
    own_count = 1 if m.get("shared") is not False else len(children)
    if isinstance(data, Steps) and own_count == 1:
        return Steps(_through(children[0], sequence(data, m.graph)))
    results = []
    for number, item in enumerate(table(data, m.graph)):
        with m.graph.apart():
            results.append(convert(children[number if number < own_count else 0], item))
    return results


def _through(m: Module, data: Data) -> Data:
    """Return what a module computes of each step of sequences."""
    if _has_class(m.value, _SEQUENCES):
        return _looped(m, data)
    for keeps, group in groupby(_chain(m), lambda each: _has_class(each.value, _CELLS)):
        modules = list(group)
        data = reduce(_over_time, modules, data) if keeps else _at_once(modules, data)
    return data


def _chain(m: Module) -> Iterator[Module]:
    """Yield the modules that a module calls one after the other."""
    if m.kind in _CHAINS:
        for child in m.modules:
            yield from _chain(child)
    else:
        yield m


def _over_time(data: Data, m: Module) -> Data:
    if m.kind == "nn.FastLSTM" and _is_plain(m) and isinstance(data, Value) and _is_batch(data):
        return convert(m, data, _fast_lstm)
    return _looped(m, data)


def _looped(m: Module, data: Data) -> Data:
    return loop(m.graph, data, lambda body, step: convert(m.within(body), step))


def _is_batch(x: Value) -> bool:
    return x.shape is None or x.rank == 3


def _is_plain(m: Module) -> bool:
    """Tell whether a FastLSTM is the usual LSTM, without dropout, normalisation or mask."""
    changes = _NORMS | _classes("MaskZero", "TrimZero")
    return class_of(m.get("i2g")) == "nn.Linear" and not _has_class(m.value, changes)


def _fast_lstm(m: Module, x: Value) -> Data:
    x.assume((TIME, BATCH, m.whole("inputSize")))
    from_input, from_output = m.child("i2g"), m.child("o2g")
    weights = from_input.parameter("weight"), from_output.parameter("weight")
    return recurrent_layer(x, *weights, from_input.optional("bias"), "igfo")


def _has_class(value: Any, classes: Collection[str]) -> bool:
    """Tell whether a module, or one in it, is of one of these classes."""
    inner = value.fields.get("modules") if isinstance(value, TorchObject) else None
    modules = inner.to_list() if isinstance(inner, Table) else []
    return class_of(value) in classes or any(_has_class(each, classes) for each in modules)


def _at_once(modules: Sequence[Module], data: Data) -> Data:
    """Convert all steps of all samples as samples; steps of one sample each are samples already."""
    has_indices = any(_has_class(each.value, _WITH_INDICES) for each in modules)
    if all(x.shape is not None and x.rank < 3 for x in tensors(data)) and not has_indices:
        return _in_turn(data, modules)
    likes: list[Value] = []

    def flat(x: Value) -> Value:
        samples, like = merged(x)
        likes.append(like)
        return samples

    result = _in_turn(mapped(data, flat), modules)
    return mapped(result, lambda x: unmerged(x, likes[0]))


def _in_turn(data: Data, modules: Sequence[Module]) -> Data:
    for m in modules:
        data = convert(m, data)
    return data


_WITH_INDICES = _classes("LookupTable", "LookupTableMaskZero")


@data_row("nn.BiSequencer")
def _bi_sequencer(m: Module, data: Data) -> Data:
    first = len(m.graph.nodes)
    result = convert(m.modules[0], Steps(sequence(data, m.graph)))
    new = [node for node in m.graph.nodes[first:] if node.loop or len(node.outputs) == 2]
    for node, word in zip(new, ("forward_layer", "backward_layer"), strict=len(new) == 2):
        node.word = word
    return result


@data_row("nn.BiRnnJoin")
def _crnn_join(m: Module, data: Data) -> Data:
    """Convert a graph for each pair of entries of two tables (crnn)."""
    pair = [sequence(entry, m.graph) for entry in table(data, m.graph, 2)]
    return Steps(_through(m.child("joinUnit"), pair))


@data_row("nn.SharedParallelTable")
def _crnn_table(m: Module, data: Data) -> Data:
    """Convert a module for each entry of a table (crnn)."""
    return Steps(_through(m.child("unit"), sequence(data, m.graph)))


@data_row("nn.BiSequencerLM")
def _bi_sequencer_lm(m: Module, data: Data) -> Data:
    """Merge, for each step, results of the steps before it and behind it; zeros for none."""
    forward, backward, merge = m.modules
    whole = sequence(data, m.graph)
    before = Steps(mapped(whole, lambda x: narrow(x, 0, 0, -1)))
    behind = Steps(mapped(whole, lambda x: narrow(x, 0, 1, None)))
    from_before = sequence(convert(forward, before), m.graph)
    from_behind = sequence(convert(backward, behind), m.graph)
    from_before = mapped(from_before, lambda x: cat([_zero_step(x), x], 0))
    from_behind = mapped(from_behind, lambda x: cat([x, _zero_step(x)], 0))
    return convert(merge, [Steps(from_before), Steps(from_behind)])


def _zero_step(x: Value) -> Value:
    return ew.with_number("Mul", narrow(x, 0, 0, 1), 0)


@data_row("nn.Repeater")
def _repeater(m: Module, data: Data) -> Data:
    """Convert steps with the same input, which are written one after the other."""
    (child, *_) = m.modules
    outer, m.graph.memory = m.graph.memory, Memory()
    results = []
    for _ in range(m.whole("rho")):
        with m.graph.apart():
            results.append(convert(child, data))
    m.graph.memory = outer
    return results


@data_row("nn.ReverseTable")
def _reverse_table(m: Module, data: Data) -> Data:
    if isinstance(data, list) and not isinstance(data, UndecidedInput):
        return data[::-1]
    return Steps(mapped(sequence(data, m.graph), flip))


@data_row("nn.ZipTable")
def _zip_table(m: Module, data: Data) -> Data:
    """Turn tables of steps into a table of tables, one for each step."""
    entries = table(data, m.graph)
    if any(isinstance(entry, Steps) for entry in entries):
        return Steps([sequence(entry, m.graph) for entry in entries])
    return [list(each) for each in zip(*[table(entry, m.graph) for entry in entries], strict=True)]
