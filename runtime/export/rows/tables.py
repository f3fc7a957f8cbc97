"""Tables: parts of them, and what becomes of their tensors."""

from __future__ import annotations

from collections.abc import Iterator

from th_shell.runtime.export.data import Unknown, as_steps, mapped, table
from th_shell.runtime.export.graph import Data, Graph, Steps, Value
from th_shell.runtime.export.modules import Module, data_row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.base import replaced
from th_shell.runtime.export.operators.sequences import joined_steps
from th_shell.runtime.export.operators.shaping import cat, narrow, select

_ALL = {"nn.CAddTable": "Add", "nn.CMulTable": "Mul", "nn.CMaxTable": "Max", "nn.CMinTable": "Min"}
_TWO = {"nn.CSubTable": "Sub", "nn.CDivTable": "Div", "w2nn.ScaleTable": "Mul"}


@data_row(*_ALL)
def _of_all(m: Module, data: Data) -> Data:
    kind, (first, *others) = _ALL[m.kind], m.tensors(data)
    if not m.get("inplace"):
        return ew.of_all(kind, [first, *others])
    result = first
    for other in others:  # which may lie in the memory of the first one
        result = ew.binary(kind, first, other)
        first.write(result)
    return result


@data_row(*_TWO)
def _of_two(m: Module, data: Data) -> Data:
    one, other = m.tensors(data, 2)
    return ew.binary(_TWO[m.kind], one, other)


@data_row("nn.JoinTable")
def _join(m: Module, data: Data) -> Data:
    if steps := as_steps(data):
        x = m.tensor(steps.data)
        step = Value(m.graph, replaced(x.shape, steps.dim))
        return joined_steps(x, steps.dim, m.dim(step, "dimension", "nInputDims")).copied()
    found = m.tensors(data)
    return cat(found, m.dim(found[0], "dimension", "nInputDims"))


@data_row("nn.SelectTable")
def _select(m: Module, data: Data) -> Data:
    index = m.whole("index")
    if steps := as_steps(data):
        start, dim = index - 1 if index > 0 else index, steps.dim
        return mapped(steps.data, lambda each: select(each, dim, start))
    items = table(data, m.graph)
    place = index - 1 if index > 0 else len(items) + index
    if not 0 <= place < len(items):
        raise m.error(f"takes entry {index} of a table of {len(items)}")
    return items[place]


@data_row("nn.NarrowTable")
def _narrow(m: Module, data: Data) -> Data:
    start, length = m.whole("offset") - 1, m.whole("length", 1)
    if steps := as_steps(data):
        stop, dim = start + length if length >= 0 else length + 1 or None, steps.dim
        return Steps(mapped(steps.data, lambda each: narrow(each, dim, start, stop)), dim)
    items = table(data, m.graph)
    return items[start : (len(items) + 1 + length if length < 0 else start + length)]


@data_row("nn.FlattenTable")
def _flatten(m: Module, data: Data) -> Data:
    return list(_flat(data, m.graph))


def _flat(data: Data, graph: Graph) -> Iterator[Data]:
    """All tensors in a table, and in the tables in it."""
    for item in table(data, graph):
        if isinstance(item, Value) or isinstance(item, Unknown) and item.tensor is not None:
            yield item
        else:
            yield from _flat(item, graph)


@data_row("nn.ZipTableOneToMany")
def _zip_one(m: Module, data: Data) -> Data:
    """One value beside each entry of a table."""
    one, many = table(data, m.graph, 2)[:2]
    return [[one, item] for item in table(many, m.graph)]


@data_row("nn.CAddTensorTable")
def _add_one(m: Module, data: Data) -> Data:
    """A tensor added to each entry of a table."""
    one, many = table(data, m.graph, 2)[:2]
    return [ew.binary("Add", m.tensor(item), m.tensor(one)) for item in table(many, m.graph)]


@data_row("nngraph.JustElement")
def _just_element(m: Module, data: Data) -> Data:
    return table(data, m.graph, 1)[0]


@data_row("nngraph.JustTable")
def _just_table(m: Module, data: Data) -> Data:
    return [data]
