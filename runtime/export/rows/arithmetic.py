"""Arithmetic with numbers and learned vectors."""

from __future__ import annotations

from functools import partial

from th_shell.runtime.export.graph import BATCH, Value
from th_shell.runtime.export.modules import Module, function_rows, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.base import total
from th_shell.runtime.export.parameters import Parameter

function_rows(
    {
        "nn.Abs": (partial(ew.function, name="abs"), {}),
        "nn.Exp": (partial(ew.function, name="exp"), {}),
        "nn.Log": (partial(ew.function, name="log"), {}),
        "nn.Sqrt": (partial(ew.function, name="sqrt"), {}),
        "nn.Square": (ew.square, {}),
        "nn.Power": (ew.power, {"pow": None}),
        "nn.MulConstant": (partial(ew.with_number, "Mul"), {"constant_scalar": None}),
    }
)


@row("nn.AddConstant")
def _add_constant(m: Module, x: Value) -> Value:
    """A number, or a vector."""
    vector = m.optional("constant_scalar", trained=False)
    if vector is not None:
        return ew.binary("Add", x, ew.parameter(x, "constant", vector))
    return ew.with_number("Add", x, m.number("constant_scalar"))


_LEARNED = {
    "nn.Add": ("Add", "bias"),
    "nn.CAdd": ("Add", "bias"),
    "nn.CMul": ("Mul", "weight"),
    "nn.Mul": ("Mul", "weight"),
}


@row(*_LEARNED)
def _learned(m: Module, x: Value) -> Value:
    """A parameter: one number, or as many as a sample has."""
    kind, name = _LEARNED[m.kind]
    parameter = m.parameter(name)
    if parameter.size > 1:
        parameter = _for_samples(m, parameter, x)
    return ew.binary(kind, x, ew.parameter(x, name, parameter))


def _for_samples(m: Module, parameter: Parameter, x: Value) -> Parameter:
    """With sizes that can be broadcast to a tensor's."""
    own = parameter.shape
    sample = own[1:] if len(own) > 1 and own[0] == 1 else own
    shape = x.assume((BATCH, *[None if size == 1 else size for size in sample]))
    if len(own) == x.rank and all(one in (1, size) for one, size in zip(own, shape, strict=True)):
        return parameter
    for part in (shape[1:], shape):
        if total(part) == parameter.size:
            return parameter.view(*x.sizes(*range(x.rank - len(part), x.rank)))
    raise m.error(f"its {parameter.size} numbers do not fit its input: give --input")
