"""Sequences, whose first dimension is time: loops through them, and PyTorch's recurrent layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.export.data import mapped, tensors
from th_shell.runtime.export.graph import (
    BATCH,
    TIME,
    Call,
    Data,
    Emitter,
    Graph,
    Loop,
    Memory,
    State,
    Steps,
    Value,
)
from th_shell.runtime.export.operators import SIZE, moved, node, reshaped
from th_shell.runtime.export.operators.shaping import MERGED, UNMERGED, merge, permute, unmerge
from th_shell.runtime.export.parameters import Parameter


def merged(x: Value) -> tuple[Value, Value]:
    """Return the first two dimensions as one, and a tensor by which `unmerged` parts them again."""
    before = x.current.node
    if before is not None and before.expression == UNMERGED:
        flat, like = before.inputs
        shown = flat.copied()
        shown.lie_within(x, flat, get=lambda whole: merge(whole, 2), put=reshaped)
        return shown, like
    flat = merge(x, 2)
    flat.on_shape = lambda shape: x.assume((TIME, BATCH, *shape[1:]))
    return flat, x


def unmerged(x: Value, like: Value) -> Value:
    """Return the first dimension as the first two of another tensor."""
    before = x.current.node
    if before is not None and before.expression == MERGED and before.inputs == [like.current]:
        return like
    parted = unmerge(x, like, 2)
    parted.on_shape = lambda shape: x.assume((None, *shape[2:]))
    return parted


def joined_steps(x: Value, time: int, dim: int) -> Value:
    """Return the steps of a sequence joined along a dimension of theirs."""
    order = [axis for axis in range(x.rank) if axis != time]
    order.insert(dim, time)
    return merge(permute(x, order), 2, dim)


def flip(x: Value, dim: int = 0) -> Value:
    """Return the places of a dimension in the opposite order."""

    def to_onnx(e: Emitter, name: str) -> Any:
        last, first = e.ints(-1), e.ints(-(2**62))
        return e.op("Slice", name, last, first, e.ints(dim), last)

    lies = {"put": lambda whole, part: flip(part, dim), "is_contiguous": False}
    value = moved(x, to_onnx, x.shape, f"{{0}}.flip({dim})", lies)
    value.on_shape = x.assume
    return value


def zeros(like: Value, dim: int | None, sizes: Sequence[int], word: str = "h") -> Value:
    """Return zeros for each sample. dim: that of samples in `like`; None: without samples."""

    def to_onnx(e: Emitter, name: str) -> Any:
        whole = e.ints(*sizes)
        if dim is not None:
            whole = e.op("Concat", e.op("Shape", name, start=dim, end=dim + 1), whole, axis=0)
        return e.op("Expand", e.number(0), whole)

    batch = [] if dim is None else [like.shape[dim] if like.shape is not None else None]
    marked = [f"{SIZE}{size}" for size in sizes]
    text = ", ".join([*([] if dim is None else [f"{{0}}.size({dim})"]), *marked])
    call = f"torch.zeros({text}, device={{0}}.device)"
    text = call if like.kind == "int" else f"{{0}}.new_zeros({text})"
    return node([like], to_onnx, (*batch, *sizes), text, word=word)


def recall(graph: Graph, key: Any, start: Callable[[Value, int], Value], x: Value) -> Value:
    """Return the value that the step before kept under a key; before the first, that of `start`.

    It gets a tensor of samples and the dimension of these. x: the step.
    """
    memory = graph.memory
    if key not in memory.states:
        if memory.sequence is None:
            first = value = start(x, 0)
        else:
            first = start(memory.sequence, 1)
            name = first.node.word if first.node and len(first.node.word) == 1 else "h"
            if first.node:
                first.node.word = name
            value = Value(graph, first.shape, name=name)
        memory.states[key] = State(first, value, value)
    return memory.states[key].last


def keep(graph: Graph, key: Any, value: Value) -> None:
    """Keep a value for the next step, in the place of what was recalled."""
    graph.memory.states[key].last = value


def loop(graph: Graph, data: Data, body_of: Callable[[Graph, Data], Data]) -> Data:
    """Return the results of a loop over the steps of sequences.

    body_of: computes those of one step, in a graph of its own.
    """
    sequences = list(tensors(data))
    body = Graph(graph.treated, graph, graph.looks, graph.stand_in, graph.stubs)
    body.memory = Memory(sequences[0])
    steps: list[Value] = []

    def step(x: Value) -> Value:
        shape = x.shape[1:] if x.shape is not None else None
        on_shape = lambda shape: x.assume((TIME, *shape))  # noqa: E731
        steps.append(Value(body, shape, x.kind, source=x, name="x", on_shape=on_shape))
        return steps[-1]

    def whole(x: Value) -> Value:
        time = sequences[0].shape[0] if sequences[0].shape else TIME
        return Value(graph, (time, *x.shape) if x.shape is not None else None, x.kind)

    result = body_of(body, mapped(data, step))
    graph.unchecked = graph.unchecked or body.unchecked
    if isinstance(result, Steps):
        raise graph.error("each step gives a table of any length")
    states = list(body.memory.states.values())
    body.inputs = [*[state.value for state in states], *steps]
    body.outputs = [value.current for value in (*[s.last for s in states], *tensors(result))]
    body.prune()
    results = mapped(result, whole)
    first_values = [state.first for state in states]
    lasts = [Value(graph, first.shape, first.kind) for first in first_values]

    def to_onnx(e: Emitter, *names: str) -> Any:
        count = len(lasts) + len(list(tensors(results)))
        scan = {"body": e.body(body), "num_scan_inputs": len(steps)}
        return e.op("Scan", *names[: len(first_values) + len(steps)], count=count, **scan)

    outputs = [*lasts, *tensors(results)]
    graph.add([*first_values, *sequences], to_onnx, outputs, loop=Loop(body, len(states)))
    return results


#: ONNX's operators, and where it has PyTorch's gates.
_ONNX: dict[str, tuple[str, Sequence[int]]] = {
    "nn.LSTM": ("LSTM", (0, 3, 1, 2)),
    "nn.GRU": ("GRU", (1, 0, 2)),
    "nn.RNN": ("RNN", (0,)),
}
_DEFAULTS = {
    "num_layers": 1,
    "bias": True,
    "nonlinearity": "tanh",
    "batch_first": False,
    "bidirectional": False,
    "dropout": 0.0,
}


@dataclass(frozen=True)
class Stack:
    """Recurrent layers upon each other: PyTorch's class, and the arguments of its constructor."""

    function: str
    inputs: int
    size: int
    layers: int = 1
    directions: int = 1
    batch_first: bool = False
    dropout: float = 0.0
    relu: bool = False
    bias: bool = True

    @property
    def gates(self) -> int:
        """Return the number of gates."""
        return len(_ONNX[self.function][1])

    @property
    def call(self) -> Call:
        """Return PyTorch's call."""
        named = {
            "input_size": self.inputs,
            "hidden_size": self.size,
            "num_layers": self.layers,
            "bias": self.bias,
            "nonlinearity": "relu" if self.relu else "tanh",
            "batch_first": self.batch_first,
            "bidirectional": self.directions == 2,
            "dropout": self.dropout,
        }
        if self.function != "nn.RNN":
            del named["nonlinearity"]
        return Call(self.function, named, _DEFAULTS, ("input_size", "hidden_size"))


def stacked(
    x: Value, stack: Stack, parameters: Sequence[Sequence[Parameter]], first: Sequence[Value] = ()
) -> Value:
    """Return the output of the last layer for all steps.

    parameters: weights of inputs, weights of the step before, and their biases, for each direction
    of each layer, with PyTorch's order of gates. first: the output and the cells (of an LSTM)
    before the first step, of a single layer.
    """
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    names: dict[str, Parameter | None] = {}
    for place, four in enumerate(parameters):
        layer, is_reverse = divmod(place, stack.directions)
        end = f"_l{layer}_reverse" if is_reverse else f"_l{layer}"
        names |= {kind + end: each for kind, each in zip(kinds, four, strict=False)}

    def to_onnx(e: Emitter, name: str, *more: str) -> Any:
        y = e.op("Transpose", name, perm=[1, 0, 2]) if stack.batch_first else name
        states = [e.op("Unsqueeze", each, e.ints(0)) for each in more[: len(first)]]
        last = ""
        for start in range(0, len(parameters), stack.directions):
            y, last = _layer(e, y, stack, parameters[start : start + stack.directions], states)
        return [e.op("Transpose", y, perm=[1, 0, 2]) if stack.batch_first else y, last]

    states = ", ".join(f"{{{n}}}.unsqueeze(0)" for n in range(1, len(first) + 1))
    text = f"{{layer}}({{0}}, {f'({states})' if len(first) > 1 else states})" if first else ""
    front = x.shape[:2] if x.shape is not None else (TIME, BATCH)
    results = [Value(x.graph, (*front, stack.size * stack.directions)), Value(x.graph)]
    inputs = [x, *first]
    x.graph.add(
        inputs, to_onnx, results, layer=stack.call, expression=text, parameters=names, word="x"
    )
    return results[0]


def recurrent_layer(
    x: Value,
    weight: Parameter,
    recurrent: Parameter,
    bias: Parameter | None,
    gates: str,
    first: Sequence[Value] = (),
    batch_first: bool = False,
) -> Value:
    """Add an LSTM, or an RNN where there is but one gate; return its output.

    weight, recurrent: gates times outputs x inputs, gates times outputs x outputs. gates: the order
    of gates in these: input, forget, cell (g) and output. first: see `stacked`.
    """
    function, pytorch_gates = ("nn.LSTM", "ifgo") if len(gates) > 1 else ("nn.RNN", "g")
    order = [gates.index(gate) for gate in pytorch_gates]
    tensors = [weight, recurrent, bias] if bias is not None else [weight, recurrent]
    parameters = [Parameter.made(_ordered(each, order), each) for each in tensors]
    if bias is not None:
        parameters.append(Parameter.made(np.zeros_like(bias.array())))
    inputs, size = weight.shape[1], weight.shape[0] // len(gates)
    stack = Stack(function, inputs, size, batch_first=batch_first, bias=bias is not None)
    return stacked(x, stack, [parameters], first)


def _layer(
    e: Emitter,
    x: str,
    stack: Stack,
    directions: Sequence[Sequence[Parameter]],
    states: Sequence[str],
) -> tuple[str, str]:
    kind, order = _ONNX[stack.function]
    names = [x]
    # The weights of inputs, those of the step before, and both biases together.
    for start, stop in ((0, 1), (1, 2), (2, 4))[: 3 if stack.bias else 2]:
        arrays = [
            np.concatenate([_ordered(each, order) for each in four[start:stop]])
            for four in directions
        ]
        names.append(e.parameter(Parameter.made(np.stack(arrays), directions[0][start])))
    if states:
        names += [""] * (5 - len(names)) + [*states]
    attributes: dict[str, Any] = {"direction": "bidirectional"} if stack.directions == 2 else {}
    if kind == "GRU":
        attributes["linear_before_reset"] = 1
    if stack.relu:
        attributes["activations"] = ["Relu"] * stack.directions
    y, last = e.op(kind, *names, count=2, hidden_size=stack.size, **attributes)
    return e.op("Reshape", e.op("Transpose", y, perm=[0, 2, 1, 3]), e.ints(0, 0, -1)), last


def _ordered(parameter: Parameter, order: Sequence[int]) -> Array:
    """Return the elements of a parameter with its gates in another order."""
    parts = parameter.array().reshape(len(order), -1, *parameter.shape[1:])
    return parts[list(order)].reshape(parameter.shape)
