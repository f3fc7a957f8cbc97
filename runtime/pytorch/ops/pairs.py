"""Functions of two operands, element by element; and how they are registered.

PyTorch's documentation: torch, Pointwise Ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import OUT, Operand, Out
from runtime.pytorch.compute import formulas
from runtime.pytorch.compute.elementwise import ALL, FLOATS, WHOLE, Pointwise
from runtime.pytorch.compute.promotion import to_float

_TENSORS = "(Tensor input, Tensor other)"
_NUMBER = "(Tensor input, Number other)"


def binary(
    function: Pointwise,
    *rows: str,
    doc: str,
    in_place: bool = True,
    numbers: bool = False,
    method: bool | None = None,
) -> None:
    """Register a function of two operands, whose names the rows tell.

    Rows that begin with 'Number' have no method. A row without '*' gets `out`.
    """
    for row in rows:
        rest = row.partition("(")[2]
        schema = row if "|" in row else f"{row[:-1]}, *, {OUT})"
        compute = _of_two(function)
        compute.__doc__ = doc
        takes_method = method if rest.startswith("Tensor") else False
        op(
            schema.replace("|", ""),
            in_place=in_place and rest.startswith("Tensor"),
            numbers=numbers,
            method=takes_method,
        )(compute)


def _of_two(function: Pointwise) -> Callable[..., Any]:
    def compute(first: Any, second: Any, *, out: Out = None) -> Any:
        return function(first, second, out)

    return compute


def _register(
    names: str, function: Pointwise, *, number: bool = False, in_place: bool = True, doc: str = ""
) -> None:
    for name in names.split():
        rows = [f"{name}{_TENSORS}", f"{name}{_NUMBER}"]
        doc = doc or f"The function {name} of two elements."
        binary(function, *rows[: 2 if number else 1], doc=doc, in_place=in_place)


def _of_floats(name: str, compute: Callable[..., Any]) -> Pointwise:
    return Pointwise(compute, FLOATS, kernel=f"{name}_cpu", takes=FLOATS)


def _of_whole(name: str, compute: Callable[..., Any]) -> Pointwise:
    return Pointwise(compute, WHOLE, kernel=f"{name}_cpu", takes=WHOLE)


_NAN = "The {} of two elements; nan where one is."
_OTHER = "The {} of two elements; the other one where one is nan."
_register("maximum", Pointwise(np.maximum), in_place=False, doc=_NAN.format("maximum"))
_register("minimum", Pointwise(np.minimum), in_place=False, doc=_NAN.format("minimum"))
_register("fmax", Pointwise(np.fmax), in_place=False, doc=_OTHER.format("maximum"))
_register("fmin", Pointwise(np.fmin), in_place=False, doc=_OTHER.format("minimum"))
_register("atan2 arctan2", Pointwise(np.arctan2, FLOATS, rule=to_float))
_register("copysign", Pointwise(np.copysign, FLOATS, rule=to_float), number=True)
_register("hypot", _of_floats("hypot", np.hypot))
_register("nextafter", _of_floats("nextafter", np.nextafter))
_register("logaddexp", _of_floats("logaddexp", np.logaddexp), in_place=False)
_register("logaddexp2", _of_floats("logaddexp2", np.logaddexp2), in_place=False)
_register("gcd", _of_whole("gcd", np.gcd))
_register("lcm", _of_whole("lcm", formulas.lcm))


def _check_same(a: Any, b: Any) -> None:
    if a.dtype is not b.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


_heaviside = Pointwise(formulas.heaviside, check=_check_same, kernel="heaviside_cpu", takes=ALL)


@op(in_place=True)
def heaviside(input: Operand, values: Operand, *, out: Out = None) -> Any:
    """0 for elements below 0, 1 above, the value where they are 0."""
    if out is not None:
        _check_same(input, out)
    return _heaviside(input, values, out)
