"""Layers that PyTorch and ONNX have for whole sequences: LSTM, and the plain RNN of tanh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.export.graph import TIME, Call, Emitter, Value
from runtime.export.parameters import Parameter

#: The order of gates in PyTorch and in ONNX: input, forget, cell (g) and output.
_ORDERS = {"LSTM": ("ifgo", "iofg"), "RNN": ("g", "g")}
BATCH_FIRST = "batch_first"


def recurrent_layer(
    x: Value,
    weight: Parameter,
    recurrent: Parameter,
    bias: Parameter | None,
    gates: str,
    first: Sequence[Value] = (),
    batch_first: bool = False,
) -> Value:
    """An LSTM, or an RNN where there is but one gate.

    weight, recurrent: gates times outputs x inputs, gates times outputs x outputs. gates: the order
    of gates in these. first: the output and the cells (of an LSTM) before the first step.
    """
    kind = "LSTM" if len(gates) > 1 else "RNN"
    size, inputs = weight.shape[0] // len(gates), weight.shape[1]
    torch_order, onnx_order = _ORDERS[kind]
    parts = {"weight_ih_l0": weight, "weight_hh_l0": recurrent, "bias_ih_l0": bias}
    parameters = {
        name: Parameter.made(_ordered(part, gates, torch_order), part)
        for name, part in parts.items()
        if part is not None
    }
    if bias is not None:
        parameters["bias_hh_l0"] = Parameter.made(np.zeros_like(bias.array()))

    def to_onnx(e: Emitter, x_name: str, *names: str) -> Any:
        arrays = [
            Parameter.made(_ordered(part, gates, onnx_order)[None], part)
            for part in (weight, recurrent)
        ]
        if bias is not None:
            whole = _ordered(bias, gates, onnx_order)
            arrays.append(Parameter.made(np.concatenate([whole, 0 * whole])[None], bias))
        steps = e.op("Transpose", x_name, perm=[1, 0, 2]) if batch_first else x_name
        states = [e.op("Unsqueeze", name, e.ints(0)) for name in names[: len(first)]]
        given = [steps, *map(e.parameter, arrays)]
        given += [""] * (5 - len(given)) + states if states else []
        found, last = e.op(kind, *given, count=2, hidden_size=size)
        y = e.op("Squeeze", found, e.ints(1))
        return [e.op("Transpose", y, perm=[1, 0, 2]) if batch_first else y, last]

    named = {"input_size": inputs, "hidden_size": size, "bias": bias is not None}
    defaults = {"bias": True, BATCH_FIRST: False}
    call = Call(
        f"nn.{kind}", named | {BATCH_FIRST: batch_first}, defaults, ("input_size", "hidden_size")
    )
    given = ", ".join(f"{{{n}}}.unsqueeze(0)" for n in range(1, len(first) + 1))
    text = f"{{layer}}({{0}}, {f'({given})' if len(first) > 1 else given})" if first else ""
    graph = x.graph
    front = x.shape[:2] if x.shape is not None else (TIME, None)
    y = Value(graph, (*front, size))
    graph.add(
        [x, *first], to_onnx, [y, Value(graph)], layer=call, expression=text, parameters=parameters
    )
    return y


def _ordered(parameter: Parameter, gates: str, wanted: str) -> Array:
    """Gates in another order."""
    parts = parameter.array().reshape(len(gates), -1, *parameter.shape[1:])
    return parts[[gates.index(gate) for gate in wanted]].reshape(parameter.shape)
