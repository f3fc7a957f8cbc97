"""Containers: chains, branches, tables of modules, and the graphs of nngraph."""

from __future__ import annotations

from typing import Any

from runtime.export.data import Unknown, table, tensor
from runtime.export.graph import Data, Value
from runtime.export.modules import Module, convert, data_row, row
from runtime.export.operators.shaping import cat, select
from runtime.t7.values import Table, TorchObject


@data_row("nn.Sequential", "nn.Decorator", "nn.DontCast", "nn.GPU", "nn.NaN", "nn.Profile")
def _sequential(m: Module, data: Data) -> Data:
    for child in m.modules:
        data = convert(child, data)
    return data


@data_row("nn.ConcatTable")
def _concat_table(m: Module, data: Data) -> Data:
    return [convert(child, data) for child in m.modules]


@data_row("nn.ParallelTable")
def _parallel_table(m: Module, data: Data) -> Data:
    children = m.modules
    items = table(data, m.graph, len(children))
    if len(items) < len(children):
        raise m.error(f"has {len(children)} modules for a table of {len(items)}")
    return [convert(child, item) for child, item in zip(children, items, strict=False)]


@data_row("nn.MapTable")
def _map_table(m: Module, data: Data) -> Data:
    (child, *_) = m.modules
    return [convert(child, item) for item in table(data, m.graph)]


@data_row("nn.Concat")
def _concat(m: Module, data: Data) -> Data:
    results = [tensor(convert(child, data), m.graph) for child in m.modules]
    return cat(results, m.dim(results[0], "dimension"))


@row("nn.Parallel")
def _parallel(m: Module, x: Value) -> Value:
    """Each module gets a place of a dimension."""
    dim = m.dim(x, "inputDimension")
    parts = [select(x, dim, n) for n in range(len(m.modules))]
    results = [convert(child, part) for child, part in zip(m.modules, parts, strict=True)]
    tensors = [tensor(result, m.graph) for result in results]
    return cat(tensors, m.dim(tensors[0], "outputDimension"))


@data_row("nn.gModule")
def _graph(m: Module, data: Data) -> Data:
    """nngraph's nodes, in the order in which they are run."""
    nodes = m.get("forwardnodes")
    if not isinstance(nodes, Table):
        raise m.error("its field forwardnodes is no table")
    start = m.get("innode").data
    count = int(m.get("nInputs") or len(m.get("innode").children))
    first: list[Data] = table(data, m.graph, count) if count > 1 else [data]
    received: dict[int, dict[int, Data]] = {id(start): dict(enumerate(first, 1))}
    place = 0
    for node in nodes.to_list():
        inner = node.data
        got = received.pop(id(inner), {})
        inputs: list[Data] = [got[n] for n in sorted(got)]
        item: Data = inputs[0] if len(inputs) == 1 else inputs
        module = inner.get("module")
        if inner.get("selectindex"):
            item = table(item, m.graph)[int(inner["selectindex"]) - 1]
        elif isinstance(module, TorchObject):
            place += 1
            item = convert(Module(module, (*m.path, str(place)), m.graph), item)
            _name(item, inner)
        if isinstance(item, Unknown) and inner.get("nSplitOutputs"):
            table(item, m.graph, int(inner["nSplitOutputs"]))
        for child in node.children.to_list():
            received.setdefault(id(child.data), {})[_place(child.data, inner)] = item
        last = item
    return last


def _place(child: Any, source: Any) -> int:
    """Which of a node's inputs comes from another node."""
    found = child["mapindex"][source]
    return int(found)


def _name(item: Data, inner: Any) -> None:
    """Name what a node computes as its program does."""
    annotations = inner.get("annotations")
    name = annotations.get("name") if isinstance(annotations, Table) else None
    if isinstance(item, Value) and item.node is not None and isinstance(name, str):
        item.node.word = name
