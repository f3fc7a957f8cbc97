"""Functions of nn's backend that are a formula of elements: its steps, which numpy and Lua take.

A row's formula names the header's parameters: "output = input > threshold and input or val". It
is made of steps (``runtime/compute/steps.py``), which are numpy's inner loops: numpy takes them
for many elements, in pieces that threads share; LuaJIT takes them for few contiguous ones. So both
give the same bits. Several formulas stand behind each other with a semicolon between them.

NORM is 1 / the number of elements if `sizeAverage` is true, else 1. NAN is one. "a if b else c"
has conditions of numbers, truth values, `input.ndim` and `input.is_contiguous`, and whether a
tensor is there: "weights is None". "TOTAL = …" has the terms of a loss: `output` gets their sum in
double precision, or the average if `sizeAverage`. In place, the elements that are read are
replaced: `input`, or `gradOutput` where that is there.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from runtime.compute.pieces import PIECE
from runtime.compute.step_arrays import compute_by_steps
from runtime.compute.steps import cases, names, parse
from runtime.core.dtypes import Array, cast_scalar
from runtime.core.tensor import Tensor
from runtime.ops._operands import elementwise
from runtime.thnn._elements import total
from runtime.thnn._formula_jobs import record_steps, record_total
from runtime.thnn._jobs import is_recording, refuse_recording, same_view, working
from runtime.thnn.table import Call, add_row

_NORM, _NAN = "NORM", "NAN"


@dataclass(frozen=True)
class Formula:
    """A formula of a row: the result's name, TOTAL for a loss, and its text.

    like: the tensor whose sizes the result gets.
    """

    result: str
    text: str
    like: str

    @cached_property
    def cases(self) -> list[tuple[str, ast.expr | None]]:
        """The formulas of each case, and its condition; None for any other case."""
        return [(ast.unparse(tree), test) for tree, test in cases(parse(self.text))]


def formulas_of(text: str, like: str | None) -> tuple[Formula, ...]:
    """The formulas of a row."""
    found = []
    for part in text.split("; "):
        result, _, formula = part.partition(" = ")
        found.append(Formula(result, formula, like or "input"))
    return tuple(found)


def formula(
    name: str,
    parameters: str,
    text: str,
    *,
    check: Callable[[Call], None] | None = None,
    like: str | None = None,
) -> None:
    """Add the row of a function that is a formula, or several.

    check: raises the errors about a call's arguments. like: the tensor whose sizes the result
    gets, by default `input`.
    """
    each = formulas_of(text, like)

    def implementation(call: Call) -> None:
        if check is not None:
            check(call)
        for part in each:
            compute_formula(part, call)

    implementation.__doc__ = f"{text}."
    add_row(name, parameters, implementation)


def compute_formula(formula: Formula, call: Call, **numbers: float) -> None:
    """Compute a formula for a call. numbers: those that stand for names in it, besides the call's.

    Raises ValueError where no case of the formula is the call's.
    """
    values = {**vars(call), **numbers}
    result: Tensor = call.output if formula.result == "TOTAL" else values[formula.result]
    dtype = result.dtype
    for name, value in values.items():
        if isinstance(value, float | int) and not isinstance(value, bool):
            values[name] = cast_scalar(value, dtype)
    text = _case(formula, values)
    tensors = tuple(sorted(n for n in names(parse(text)) if isinstance(values.get(n), Tensor)))
    sources = [values[name] for name in tensors]
    count = sources[0].nelement
    average = bool(values.get("sizeAverage"))
    values[_NORM] = dtype.numpy.type(1 / max(count, 1) if average else 1)
    values[_NAN] = math.nan
    if is_recording():
        _record(formula, call, text, {n: values[n] for n in tensors}, values)
        return
    compute = compute_by_steps(text, tensors, values, dtype.numpy)
    if formula.result == "TOTAL":
        _store_total(result, compute, sources, count if average else 1)
    elif values.get("inplace"):
        replaced: Tensor = values.get("gradOutput", call.input)
        elementwise(replaced, compute, *sources)
        result.set(replaced.storage, replaced.offset, replaced.sizes, replaced.strides)
    else:
        result.resize(values[formula.like].sizes)
        elementwise(result, compute, *sources)


def _case(formula: Formula, values: dict[str, Any]) -> str:
    """The formula of the case that a call is."""
    for text, test in formula.cases:
        if test is None or eval(compile(ast.Expression(test), "", "eval"), {}, values):
            return text
    raise ValueError(f"{formula.text!r} has no case for the call")


def _store_total(
    output: Tensor, compute: Callable[..., None], sources: list[Tensor], count: int
) -> None:
    """output = the sum of the terms / count; Torch7: a nan where there are no elements."""

    def terms(*arrays: Array) -> Array:
        out = np.empty(len(arrays[0]))
        compute(*arrays, out=out)
        return out

    output.array[0] = total(terms, *sources) / count if count else math.nan


def _record(
    formula: Formula, call: Call, text: str, tensors: dict[str, Tensor], values: dict[str, Any]
) -> None:
    """Note the jobs of a recorded call, whose tensors have as many elements each."""
    out = _recorded_result(formula, call, values)
    arrays = {name: call.read(tensor).reshape(-1) for name, tensor in tensors.items()}
    count = len(next(iter(arrays.values())))
    if not count or any(len(x) != count for x in arrays.values()):
        refuse_recording("elements are missing")
    if formula.result == "TOTAL":
        if count > PIECE:
            refuse_recording("sums of pieces are added up")
        terms = working(count, np.float64)
        record_steps(text, arrays, values, terms)
        record_total(terms, out, count if values.get("sizeAverage") else 1)
    else:
        record_steps(text, arrays, values, out.reshape(-1))


def _recorded_result(formula: Formula, call: Call, values: dict[str, Any]) -> Array:
    """What gets the elements of the result, or the total."""
    if formula.result == "TOTAL":
        return call.change(call.output)
    result: Tensor = values[formula.result]
    if values.get("inplace"):
        replaced: Tensor = values.get("gradOutput", call.input)
        same_view(result, replaced)
        return call.change(replaced)
    return call.write(result, values[formula.like].sizes)
