"""Linear layers, and tables of rows that indices choose from."""

from __future__ import annotations

from runtime.export.graph import Value
from runtime.export.modules import Module, row
from runtime.export.operators.layers import embedding, linear


@row("nn.Linear", "nn.LinearNoBias")
def _linear(m: Module, x: Value) -> Value:
    return linear(x, m.parameter("weight"), m.optional("bias"))


@row("nn.LookupTable")
def _lookup_table(m: Module, x: Value) -> Value:
    if m.get("maxNorm"):
        raise m.error("a limit for the norm of its rows (maxNorm) changes them while it runs")
    return embedding(x, m.parameter("weight"))
