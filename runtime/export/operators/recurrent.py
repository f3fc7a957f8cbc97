"""Recurrent layers for whole sequences, which PyTorch has: upon each other, in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.export.graph import BATCH, TIME, Call, Emitter, Value
from th_shell.runtime.export.parameters import Parameter

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
    x: Value,
    stack: Stack,
    parameters: Sequence[Sequence[Parameter]],
    first: Sequence[Value] = (),
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

    first_states = ", ".join(f"{{{n}}}.unsqueeze(0)" for n in range(1, len(first) + 1))
    text = (
        f"{{layer}}({{0}}, {f'({first_states})' if len(first) > 1 else first_states})"
        if first
        else ""
    )
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
