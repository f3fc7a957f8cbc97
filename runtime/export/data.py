"""Inputs and outputs of modules: tensors, tables of tensors, and inputs that may be either.

Tables have their places when a net is converted, so that no table is left in what is written: what
is made of tables of any length is one tensor.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from th_shell.runtime.export.graph import Data, Dim, Graph, Shape, Steps, Value
from th_shell.runtime.export.operators.shaping import permute, stack, unbind

#: The shapes of an input: one for a tensor, a list of these for a table, None where it is open.
Shapes = Shape | list["Shapes"] | None


class UndecidedInput(list["Data"]):
    """An input of the net of which nothing is said: the first module that takes it decides."""

    def __init__(self, graph: Graph, name: str) -> None:
        super().__init__()
        self.graph = graph
        self.name = name
        self.tensor: Value | None = None
        self.is_table = False


def new_input(graph: Graph, name: str, shapes: Shapes) -> Data:
    """Return the net's input; a list of shapes is a table's."""
    if shapes is None:
        return UndecidedInput(graph, name)
    if isinstance(shapes, tuple):
        return graph.input(name, shapes)
    return [new_input(graph, f"{name}{n}", shape) for n, shape in enumerate(shapes, 1)]


def shapes_at(arguments: Data, known: Mapping[str, Any]) -> Shapes:
    """Return the shapes of inputs, as far as they are known.

    known: others for some of these, and sizes for open ones, by their names.
    """
    if isinstance(arguments, UndecidedInput):
        if arguments.name in known or not (arguments.tensor or arguments.is_table):
            return known.get(arguments.name)
        arguments = arguments.tensor or arguments
    if isinstance(arguments, Value):
        shape = known.get(arguments.name, arguments.shape)
        return shape and tuple([known.get(size, size) for size in shape])
    assert isinstance(arguments, list)
    return [shapes_at(each, known) for each in arguments]


def tensor(data: Data, graph: Graph) -> Value:
    """Return an input that must be a tensor. Raises ExportError for a table."""
    if isinstance(data, UndecidedInput) and not data.is_table:
        if data.tensor is None:
            data.tensor = data.graph.input(data.name)
        return data.tensor
    if isinstance(data, Steps) and data.source is not None and not data.source.in_steps:
        data = data.data
    if not isinstance(data, Value):
        raise graph.error("its input is a table where it takes a tensor")
    return data


def table(data: Data, graph: Graph, count: int | None = None) -> list[Data]:
    """Return an input that must be a table; count: how many entries it has, where that is known."""
    if isinstance(data, UndecidedInput) and data.tensor is None:
        if count is None and not data.is_table:
            text = "how many inputs there are must be known (1x10,1x20 are two)"
            raise graph.need(text, data.name)
        data.is_table = True
        while len(data) < (count or 0):
            data.append(UndecidedInput(data.graph, f"{data.name}{len(data) + 1}"))
    if steps := as_steps(data):
        graph.fit([length(steps)], count)
        return _entries(steps, graph)
    if not isinstance(data, list) or isinstance(data, UndecidedInput) and data.tensor is not None:
        raise graph.error("its input is a tensor where it takes a table")
    return data


def as_steps(data: Data) -> Steps | None:
    """Return a table of any length, where it is one."""
    if not isinstance(data, Steps):
        return None
    if data.source is not None:
        data.source.in_steps = True
    return data


def length(steps: Steps) -> Dim:
    """Return the number of entries of a table; None or a name where it is open."""
    shape = next(tensors(steps.data)).shape
    return shape[steps.dim] if shape is not None else None


def _entries(steps: Steps, graph: Graph) -> list[Data]:
    count = length(steps)
    if not isinstance(count, int):
        raise graph.need("it takes a table whose length must be known", None)
    if steps.entries is None:
        parts = {id(each): unbind(each, steps.dim) for each in tensors(steps.data)}
        steps.entries = [
            mapped(steps.data, lambda each, n=n: parts[id(each)][n])  # type: ignore[misc]
            for n in range(count)
        ]
    return steps.entries


def sequence(data: Data, graph: Graph) -> Data:
    """Return the tensors, whose first dimension is time, that stand for a table of any length."""
    if isinstance(data, UndecidedInput) and not data.is_table:
        data = tensor(data, graph)
    if isinstance(data, Value):
        if data not in graph.inputs or graph.outer is not None:
            raise graph.error("its input is a tensor where it takes a table")
        data.in_steps = True
        return data
    if not isinstance(data, Steps):
        return _stacked(data)
    as_steps(data)
    if data.dim:
        data.data = mapped(data.data, lambda each: _to_front(each, data.dim))
        data.dim, data.entries = 0, None
    return data.data


def _to_front(x: Value, dim: int) -> Value:
    return permute(x, [dim, *[axis for axis in range(x.rank) if axis != dim]])


def _stacked(entries: Sequence[Data]) -> Data:
    """Return the entries of a table as one tensor, or as one for each place of inner tables."""
    first = entries[0]
    if isinstance(first, list):
        return [_stacked([entry[n] for entry in entries]) for n in range(len(first))]  # type: ignore[index]
    return stack([each for entry in entries for each in tensors(entry)], 0)


def settled(data: Data, graph: Graph) -> Data:
    """Return a result without tables of open length, for each of which one tensor goes out."""
    if isinstance(data, Steps):
        if data.source is not None and not data.source.in_steps:
            return data.data
        if not isinstance(length(data), int):
            return Steps(sequence(data, graph))
        data = _entries(data, graph)
    if isinstance(data, Value) or isinstance(data, UndecidedInput) and not data.is_table:
        return data
    return [settled(item, graph) for item in data]


def mapped(data: Data, function: Callable[[Value], Value]) -> Data:
    """Apply a function to each tensor."""
    if isinstance(data, UndecidedInput) and not data.is_table:
        data = tensor(data, data.graph)
    if isinstance(data, Value):
        return function(data)
    if isinstance(data, Steps):
        return Steps(mapped(data.data, function), data.dim, source=data.source)
    return [mapped(item, function) for item in data]


def tensors(data: Data, decide: bool = False) -> Iterator[Value]:
    """Yield all tensors in a table, and in the tables in it, in their order.

    decide: whether an input that may still be either is one. Otherwise it is left out.
    """
    if isinstance(data, Value):
        yield data
    elif isinstance(data, UndecidedInput) and data.tensor is not None:
        yield data.tensor
    elif isinstance(data, UndecidedInput) and decide and not data.is_table:
        yield tensor(data, data.graph)
    else:
        for item in [data.data] if isinstance(data, Steps) else data:
            yield from tensors(item, decide)


def first_tensor(data: Data) -> Value:
    """Return the first tensor in a table, and in the tables in it."""
    return next(tensors(data, decide=True))
