"""Operators: each adds a node to a graph, with PyTorch's text and ONNX's operators side by side.

This module has what all of them use: nodes of one result, shapes, and plain operators of ONNX.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from th_shell.runtime.export.graph import Dim, Emitter, Graph, Shape, ToOnnx, Value
from th_shell.runtime.export.parameters import Parameter

#: Stands in PyTorch's texts before numbers that are sizes of a layer, as its constructor has them.
SIZE = "#"


def plain(kind: str, *constants: float | Sequence[int], **attributes: Any) -> ToOnnx:
    """Return the one operator of ONNX that takes a node's inputs and parameters in their order.

    constants: what it takes behind them: numbers of the net's type, which are floats here, integers
    without dimensions, and lists of integers.
    """

    def add(e: Emitter, *names: str) -> Any:
        return e.op(kind, *names, *[_constant(e, each) for each in constants], **attributes)

    return add


def _constant(e: Emitter, value: float | Sequence[int]) -> str:
    if isinstance(value, int):
        return e.index(value)
    return e.number(value) if isinstance(value, float) else e.ints(*value)


def node(
    inputs: Sequence[Value],
    to_onnx: ToOnnx | str,
    shape: Shape | None,
    expression: str = "",
    *,
    kind: str = "float",
    graph: Graph | None = None,
    **node_fields: Any,
) -> Value:
    """Add a node of one result; returns it.

    graph: needed where there are no inputs. node_fields: other fields of `Node`.
    """
    value = Value(graph or inputs[0].graph, shape, kind)
    add_operators = plain(to_onnx) if isinstance(to_onnx, str) else to_onnx
    value.graph.add(inputs, add_operators, [value], expression=expression, **node_fields)
    return value


def same(x: Value, to_onnx: ToOnnx | str, expression: str = "", **node_fields: Any) -> Value:
    """Add a node whose result has its input's shape. node_fields: see `node`."""
    value = node([x], to_onnx, x.shape, expression, kind=x.kind, **node_fields)
    value.source = x
    value.on_shape = x.assume
    return value


def moved(
    x: Value,
    to_onnx: ToOnnx | str,
    shape: Shape | None,
    expression: str,
    lies: Mapping[str, Any] | None = None,
    **node_fields: Any,
) -> Value:
    """Add a node that shows elements in other places: they stay in their memory, and indices stay
    indices.

    lies: fields of `View`, where the elements have another order, or are not all.
    """

    def get(whole: Value) -> Value:
        return moved(whole, to_onnx, shape, expression, **node_fields)

    value = node([x], to_onnx, shape, expression, kind=x.kind, **node_fields)
    value.source = x
    value.lie_within(x, **{"get": get, "put": reshaped, **(lies or {})})
    return value


def reshaped(whole: Value, part: Value) -> Value:
    """Return a part, with the sizes of the whole."""

    def to_onnx(e: Emitter, name: str, whole_name: str) -> Any:
        return e.op("Reshape", name, e.op("Shape", whole_name))

    return node([part, whole], to_onnx, whole.shape, "{0}.reshape_as({1})", kind=part.kind)


def broadcast(a: Shape | None, b: Shape | None) -> Shape | None:
    """Return the shape of an operation on two tensors, as numpy has it."""
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    long = (*[1] * (rank - len(a)), *a), (*[1] * (rank - len(b)), *b)
    return tuple([_wider(a_size, b_size) for a_size, b_size in zip(*long, strict=True)])


def _wider(a: Dim, b: Dim) -> Dim:
    if a == 1:
        return b
    return a if b == 1 or a is not None else b


def total(sizes: Sequence[Dim]) -> Dim:
    """Return the product of sizes; None where one is open."""
    result = 1
    for size in sizes:
        if not isinstance(size, int):
            return None
        result *= size
    return result


def replaced(shape: Shape | None, dim: int, *sizes: Dim) -> Shape | None:
    """Return a shape with other sizes, or none, in the place of one; None where it is not known."""
    return None if shape is None else (*shape[:dim], *sizes, *shape[dim + 1 :])


def as_indices(x: Value, highest: int) -> Value:
    """Return a tensor of indices from 1 as integers.

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
    to_onnx = plain("Cast", to=7)  # INT64 of TensorProto
    return node([x], to_onnx, x.shape, "{0}.long()", kind="int", word="index")


def vectors(x: Value, size: int, **parameters: Parameter | None) -> dict[str, Parameter]:
    """Return parameters that have a number for each plane, as lists; without those that are None.

    Raises ExportError for one that has more numbers, or less.
    """
    present = {name: each for name, each in parameters.items() if each is not None}
    for name, each in present.items():
        if each.size != size:
            raise x.graph.error(f"its {name} has {each.size} numbers for {size} planes")
    return {name: each.view(size) for name, each in present.items()}


def number(value: Any) -> str:
    """Return a number as Python's text; whole ones without a fraction."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
