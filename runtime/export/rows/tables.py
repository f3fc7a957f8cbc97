"""Tables: parts of them, and what becomes of their tensors."""

from __future__ import annotations

from runtime.export.data import table, tensors
from runtime.export.graph import Data
from runtime.export.modules import Module, data_row
from runtime.export.operators import elementwise as ew
from runtime.export.operators.shaping import cat

_ALL = {"nn.CAddTable": "Add", "nn.CMulTable": "Mul", "nn.CMaxTable": "Max", "nn.CMinTable": "Min"}
_TWO = {"nn.CSubTable": "Sub", "nn.CDivTable": "Div"}


@data_row(*_ALL)
def _of_all(m: Module, data: Data) -> Data:
    return ew.of_all(_ALL[m.kind], m.tensors(data))


@data_row(*_TWO)
def _of_two(m: Module, data: Data) -> Data:
    one, other = m.tensors(data, 2)
    return ew.binary(_TWO[m.kind], one, other)


@data_row("nn.JoinTable")
def _join(m: Module, data: Data) -> Data:
    found = m.tensors(data)
    return cat(found, m.dim(found[0], "dimension", "nInputDims"))


@data_row("nn.SelectTable")
def _select(m: Module, data: Data) -> Data:
    index = m.whole("index")
    items = table(data, m.graph)
    place = index - 1 if index > 0 else len(items) + index
    if not 0 <= place < len(items):
        raise m.error(f"takes entry {index} of a table of {len(items)}")
    return items[place]


@data_row("nn.NarrowTable")
def _narrow(m: Module, data: Data) -> Data:
    start, length = m.whole("offset") - 1, m.whole("length", 1)
    items = table(data, m.graph)
    return items[start : (len(items) + 1 + length if length < 0 else start + length)]


@data_row("nn.FlattenTable")
def _flatten(m: Module, data: Data) -> Data:
    table(data, m.graph)
    return list(tensors(data))


@data_row("nn.ReverseTable")
def _reverse(m: Module, data: Data) -> Data:
    return table(data, m.graph)[::-1]


@data_row("nn.ZipTable")
def _zip(m: Module, data: Data) -> Data:
    """The first entries of all tables, then the second ones, and so on."""
    return [list(items) for items in zip(*_tables(m, table(data, m.graph)), strict=False)]


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


def _tables(m: Module, items: list[Data]) -> list[list[Data]]:
    return [table(item, m.graph) for item in items]


@data_row("nngraph.JustElement")
def _just_element(m: Module, data: Data) -> Data:
    return table(data, m.graph, 1)[0]


@data_row("nngraph.JustTable")
def _just_table(m: Module, data: Data) -> Data:
    return [data]
