"""Recurrent layers upon each other, in one or both directions, which PyTorch has as one layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.export.graph import BATCH, TIME, Call, Emitter, Value
from runtime.export.parameters import Parameter

#: ONNX's operators, and where it has PyTorch's gates.
_ONNX: dict[str, tuple[str, Sequence[int]]] = {
    "nn.LSTM": ("LSTM", (0, 3, 1, 2)),
    "nn.GRU": ("GRU", (1, 0, 2)),
    "nn.RNN": ("RNN", (0,)),
}
_DEFAULTS = {
    "num_layers": 1,
    "nonlinearity": "tanh",
    "batch_first": False,
    "bidirectional": False,
    "dropout": 0.0,
}


@dataclass(frozen=True)
class Stack:
    """What recurrent layers are: PyTorch's class, and the arguments of its constructor."""

    function: str
    inputs: int
    size: int
    layers: int = 1
    directions: int = 1
    batch_first: bool = False
    dropout: float = 0.0
    relu: bool = False

    @property
    def gates(self) -> int:
        """The number of gates."""
        return len(_ONNX[self.function][1])

    @property
    def call(self) -> Call:
        """PyTorch's text."""
        named = {
            "input_size": self.inputs,
            "hidden_size": self.size,
            "num_layers": self.layers,
            "nonlinearity": "relu" if self.relu else "tanh",
            "batch_first": self.batch_first,
            "bidirectional": self.directions == 2,
            "dropout": self.dropout,
        }
        if self.function != "nn.RNN":
            del named["nonlinearity"]
        return Call(self.function, named, _DEFAULTS, ("input_size", "hidden_size"))


def stacked(x: Value, stack: Stack, parameters: Sequence[Sequence[Parameter]]) -> Value:
    """The output of the last layer for all steps.

    parameters: weights of inputs, weights of the step before, and their biases, for each direction
    of each layer, with PyTorch's order of gates.
    """
    names: dict[str, Parameter | None] = {}
    for place, four in enumerate(parameters):
        end = f"_l{place // stack.directions}" + "_reverse" * (place % stack.directions)
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        names |= {kind + end: each for kind, each in zip(kinds, four, strict=True)}

    def to_onnx(e: Emitter, name: str, *_: str) -> Any:
        y = e.op("Transpose", name, perm=[1, 0, 2]) if stack.batch_first else name
        last = ""
        for layer in range(stack.layers):
            first = layer * stack.directions
            y, last = _layer(e, y, stack, parameters[first : first + stack.directions])
        return [e.op("Transpose", y, perm=[1, 0, 2]) if stack.batch_first else y, last]

    front = x.shape[:2] if x.shape is not None else (TIME, BATCH)
    result = Value(x.graph, (*front, stack.size * stack.directions))
    x.graph.add(
        [x], to_onnx, [result, Value(x.graph)], layer=stack.call, parameters=names, word="x"
    )
    return result


def _layer(
    e: Emitter, x: str, stack: Stack, directions: Sequence[Sequence[Parameter]]
) -> tuple[str, str]:
    kind, order = _ONNX[stack.function]

    def ordered(parameter: Parameter) -> Array:
        parts = parameter.array().reshape(stack.gates, stack.size, *parameter.shape[1:])
        return parts[list(order)].reshape(parameter.shape)

    arrays: list[list[Array]] = [[], [], []]
    for one, other, bias, before in directions:
        arrays[0].append(ordered(one))
        arrays[1].append(ordered(other))
        arrays[2].append(np.concatenate([ordered(bias), ordered(before)]))
    given = [
        e.parameter(Parameter.made(np.stack(each), directions[0][n]))
        for n, each in enumerate(arrays)
    ]
    how: dict[str, Any] = {"direction": "bidirectional"} if stack.directions == 2 else {}
    if kind == "GRU":
        how["linear_before_reset"] = 1
    if stack.relu:
        how["activations"] = ["Relu"] * stack.directions
    y, last = e.op(kind, x, *given, count=2, hidden_size=stack.size, **how)
    return e.op("Reshape", e.op("Transpose", y, perm=[0, 2, 1, 3]), e.ints(0, 0, -1)), last
