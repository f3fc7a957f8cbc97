"""Inputs and outputs of modules: tensors, tables of tensors, and inputs that may be either.

Tables have their places when a net is converted, so that no table is left in what is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from runtime.export.graph import Data, Graph, Shape, Value

#: The shapes of an input: one for a tensor, a list of these for a table.
Shapes = Shape | list["Shapes"]


class Unknown(list["Data"]):
    """An input of the net of which nothing is said: the first module that takes it decides."""

    def __init__(self, graph: Graph, name: str) -> None:
        super().__init__()
        self.graph = graph
        self.name = name
        self.tensor: Value | None = None
        self.is_table = False


def new_input(graph: Graph, name: str, shapes: Shapes | None) -> Data:
    """The net's input; a list of shapes is a table's."""
    if shapes is None:
        return Unknown(graph, name)
    if isinstance(shapes, tuple):
        return graph.input(name, shapes)
    return [new_input(graph, f"{name}{n}", shape) for n, shape in enumerate(shapes, 1)]


def tensor(data: Data, graph: Graph) -> Value:
    """An input that must be a tensor. Raises ExportError for a table."""
    if isinstance(data, Unknown) and not data.is_table:
        if data.tensor is None:
            data.tensor = data.graph.input(data.name)
        return data.tensor
    if isinstance(data, list):
        raise graph.error("its input is a table where it takes a tensor")
    return data


def table(data: Data, graph: Graph, count: int | None = None) -> list[Data]:
    """An input that must be a table; count: how many entries it has, where that is known."""
    if isinstance(data, Unknown) and data.tensor is None:
        if count is None and not data.is_table:
            raise graph.error(
                "how many inputs there are must be known: give --input, as in 1x10,1x20"
            )
        data.is_table = True
        while len(data) < (count or 0):
            data.append(Unknown(data.graph, f"{data.name}{len(data) + 1}"))
    if not isinstance(data, list):
        raise graph.error("its input is a tensor where it takes a table")
    return data


def tensors(data: Data, decide: bool = False) -> Iterator[Value]:
    """All tensors in a table, and in the tables in it, in their order.

    decide: whether an input that may still be either is one. Otherwise it is left out.
    """
    if isinstance(data, Value):
        yield data
    elif isinstance(data, Unknown) and data.tensor is not None:
        yield data.tensor
    elif isinstance(data, Unknown) and decide and not data.is_table:
        yield tensor(data, data.graph)
    else:
        for item in data:
            yield from tensors(item, decide)
