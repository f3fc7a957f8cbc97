"""Arithmetic with numbers and learned vectors."""

from __future__ import annotations

from runtime.export.graph import Value
from runtime.export.modules import Module, row
from runtime.export.operators import elementwise as ew

_FUNCTIONS = {"nn.Abs": "abs", "nn.Exp": "exp", "nn.Log": "log", "nn.Sqrt": "sqrt"}


@row(*_FUNCTIONS)
def _function(m: Module, x: Value) -> Value:
    return ew.function(x, _FUNCTIONS[m.kind])


@row("nn.Square")
def _square(m: Module, x: Value) -> Value:
    return ew.square(x)


@row("nn.Power")
def _power(m: Module, x: Value) -> Value:
    return ew.power(x, m.number("pow"))


@row("nn.MulConstant")
def _mul_constant(m: Module, x: Value) -> Value:
    return ew.with_number("Mul", x, m.number("constant_scalar"))


@row("nn.AddConstant")
def _add_constant(m: Module, x: Value) -> Value:
    return ew.with_number("Add", x, m.number("constant_scalar"))


@row("nn.Mul")
def _mul(m: Module, x: Value) -> Value:
    return ew.binary("Mul", x, ew.parameter(x, "weight", m.parameter("weight")))


@row("nn.Add")
def _add(m: Module, x: Value) -> Value:
    """A bias, which is one number, or has the sizes of a sample."""
    return ew.binary("Add", x, ew.parameter(x, "bias", m.parameter("bias")))
