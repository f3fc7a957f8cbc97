"""What operators are made with: nodes of one result, shapes, and plain operators of ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runtime.export.graph import Call, Dim, Emitter, Graph, Shape, ToOnnx, Value
from runtime.export.parameters import Parameter


def plain(kind: str, **attributes: Any) -> ToOnnx:
    """The one operator of ONNX that takes a node's inputs and parameters in their order."""

    def add(e: Emitter, *names: str) -> Any:
        return e.op(kind, *names, **attributes)

    return add


def node(
    inputs: Sequence[Value],
    to_onnx: ToOnnx | str,
    shape: Shape | None,
    *,
    layer: Call | None = None,
    expression: str = "",
    parameters: Mapping[str, Parameter | None] | None = None,
    kind: str = "float",
    word: str = "x",
    graph: Graph | None = None,
) -> Value:
    """Add a node of one result; returns it. graph: needed where there are no inputs."""
    graph = graph or inputs[0].graph
    if isinstance(to_onnx, str):
        to_onnx = plain(to_onnx)
    value = Value(graph, shape, kind)
    graph.add(
        inputs,
        to_onnx,
        [value],
        layer=layer,
        expression=expression,
        parameters=parameters,
        word=word,
    )
    return value


def same(
    x: Value,
    to_onnx: ToOnnx | str,
    expression: str = "",
    *,
    layer: Call | None = None,
    parameters: Mapping[str, Parameter | None] | None = None,
    word: str = "x",
) -> Value:
    """Add a node whose result has its input's shape."""
    value = node(
        [x],
        to_onnx,
        x.shape,
        layer=layer,
        expression=expression,
        parameters=parameters,
        word=word,
        kind=x.kind,
    )
    value.source, value.told = x, x.learn
    return value


def moved(
    x: Value,
    to_onnx: ToOnnx | str,
    shape: Shape | None,
    expression: str,
    *,
    layer: Call | None = None,
    word: str = "x",
) -> Value:
    """Add a node that puts elements in other places, so that indices stay indices."""
    value = node([x], to_onnx, shape, layer=layer, expression=expression, kind=x.kind, word=word)
    value.source = x
    return value


def broadcast(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape of an operation on two tensors, as numpy has it."""
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    long = (*[1] * (rank - len(a)), *a), (*[1] * (rank - len(b)), *b)
    return tuple([_wider(one, other) for one, other in zip(*long, strict=True)])


def _wider(one: Dim, other: Dim) -> Dim:
    if one == 1:
        return other
    return one if other == 1 or one is not None else other


def total(sizes: Sequence[Dim]) -> Dim:
    """The product of sizes; None where one is open."""
    result = 1
    for size in sizes:
        if not isinstance(size, int):
            return None
        result *= size
    return result


def replaced(shape: Shape, dim: int, size: Dim) -> Shape:
    """A shape with another size in one dimension."""
    return (*shape[:dim], size, *shape[dim + 1 :])


def as_indices(x: Value, highest: int) -> Value:
    """A tensor of indices from 1 as integers.

    An input of the net that is used for this alone is one of integers.
    """
    origin = x
    while origin.source is not None:
        origin = origin.source
    if origin.undecided and origin.kind == "float":
        chain = x
        while chain is not origin and chain.source is not None:
            chain.kind = "int"
            chain = chain.source
        origin.kind = "int"
    origin.highest = max(origin.highest, highest)
    if x.kind == "int":
        return x
    return _to_integers(x)


def _to_integers(x: Value) -> Value:
    value = node([x], _cast_to_integers, x.shape, expression="{0}.long()", kind="int", word="index")
    return value


def _cast_to_integers(e: Emitter, x: str) -> Any:
    return e.op("Cast", x, to=7)  # INT64 of TensorProto


def number(value: Any) -> str:
    """A number as Python's text; whole ones without a fraction."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
