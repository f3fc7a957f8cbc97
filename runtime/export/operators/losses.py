"""Losses, which PyTorch has as modules, and ONNX for training alone."""

from __future__ import annotations

from typing import Any

from th_shell.runtime.export.graph import Call, Emitter, ExportError, Value
from th_shell.runtime.export.operators.base import node
from th_shell.runtime.export.parameters import Parameter

_DEFAULTS = {"reduction": "mean", "p": 1, "ignore_index": -100}


def loss(
    function: str,
    inputs: list[Value],
    weight: Parameter | None = None,
    *,
    expression: str = "",
    **named: Any,
) -> Value:
    """A loss of PyTorch's class, or by an expression; weight: of each class or element."""
    place = inputs[0].graph.place
    inputs[0].graph.unchecked = "criterions are not run beside what is written"

    def to_onnx(e: Emitter, *names: str) -> Any:
        raise ExportError(f"{place}: ONNX has no criterions; .pt writes them for PyTorch")

    layer = None
    if function:
        if weight is not None:
            sizes = {f"size{n}": size for n, size in enumerate(weight.shape)}
            named = {"weight": Call("torch.empty", sizes, {}, tuple(sizes)), **named}
        layer = Call(function, named, _DEFAULTS)
    more: dict[str, Any] = {"layer": layer, "parameters": {"weight": weight}}
    return node(inputs, to_onnx, (), expression, word="loss", **more)
