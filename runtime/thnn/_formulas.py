"""Functions of nn's backend that are a formula of elements: its steps, which numpy and Lua take.

A row's formula names the header's parameters: "output = input > threshold and input or val". It is
made of steps (``runtime/compute/formula_steps.py``), which are numpy's inner loops: numpy takes
them for many elements, in pieces that threads share; LuaJIT takes them for few contiguous ones. So
both give the same bits. Several formulas stand behind each other with a semicolon between them.

NORM is 1 / the number of elements if `sizeAverage` is true, else 1. NAN is one. "a if b else c"
has conditions of numbers, truth values, `input.ndim` and `input.is_contiguous`, and whether a
tensor is there: "weights is None". "TOTAL = …" has the terms of a loss: `output` gets their sum in
double precision, or the average if `sizeAverage`. In place, the elements that are read are
replaced: `input`, or `gradOutput` where that is there.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from th_shell.runtime.compute.bulk import PIECE
from th_shell.runtime.compute.c_functions import inner_loop
from th_shell.runtime.compute.formula_arrays import compute_by_steps
from th_shell.runtime.compute.formula_steps import (
    WHOLE,
    Operand,
    Step,
    Steps,
    cases,
    names,
    parse,
    place_temporaries,
)
from th_shell.runtime.core.dtypes import Array, cast_scalar
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._operands import elementwise
from th_shell.runtime.thnn._jobs import (
    is_recording,
    loops,
    refuse_recording,
    run,
    same_view,
    working,
)
from th_shell.runtime.thnn.table import Call, add_row

_NORM, _NAN = "NORM", "NAN"


class _Case(NamedTuple):
    """The formula of a case, the names in it, and its condition; None for any other case."""

    text: str
    names: tuple[str, ...]
    test: CodeType | None


@dataclass(frozen=True)
class Formula:
    """A formula of a row: the result's name, TOTAL for a loss, and its text.

    like: the tensor whose sizes the result gets.
    """

    result: str
    text: str
    like: str

    @cached_property
    def cases(self) -> list[_Case]:
        """Return the formula of each case."""
        return [
            _Case(
                ast.unparse(tree),
                tuple(sorted(names(tree))),
                None if test is None else compile(ast.Expression(test), self.text, "eval"),
            )
            for tree, test in cases(parse(self.text))
        ]


def formulas_of(text: str, like: str | None) -> tuple[Formula, ...]:
    """The formulas of a row."""
    formulas = []
    for part in text.split("; "):
        result, _, formula = part.partition(" = ")
        formulas.append(Formula(result, formula, like or "input"))
    return tuple(formulas)


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
    text, used, _ = _case(formula, values)
    tensors = tuple(name for name in used if isinstance(values.get(name), Tensor))
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


def _case(formula: Formula, values: dict[str, Any]) -> _Case:
    """The case that a call is."""
    for case in formula.cases:
        if case.test is None or eval(case.test, {}, values):
            return case
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
    """Return the array for the elements of the result, or for the total."""
    if formula.result == "TOTAL":
        return call.change(call.output)
    result: Tensor = values[formula.result]
    if values.get("inplace"):
        replaced: Tensor = values.get("gradOutput", call.input)
        same_view(result, replaced)
        return call.change(replaced)
    return call.write(result, values[formula.like].sizes)


#: Gives the terms of a sum for pieces of tensors, or their sum.
Terms = Callable[..., Any]


def total(terms: Terms, *tensors: Tensor) -> float:
    """The sum of the terms, taken in float64; tensors have as many elements.

    Piece by piece, so that the terms stay in the processor's cache. By one thread: several would
    wait for Python's lock at each of numpy's steps.
    """
    flat = [t.flat for t in tensors]
    parts = [slice(first, first + PIECE) for first in range(0, len(flat[0]), PIECE)]
    sums = [terms(*[x[part] for x in flat]).sum(dtype=np.float64) for part in parts]
    return float(np.array(sums).sum())


class _Operands:
    """The arrays of a formula's operands: tensors, temporaries, and numbers, an element each."""

    def __init__(self, tensors: Mapping[str, Array], numbers: Mapping[str, Any], n: int) -> None:
        self._tensors, self._numbers, self._n = tensors, numbers, n
        self._temporaries: dict[int, Array] = {}
        self.places: Mapping[Operand, int] = {}

    def array(self, x: Operand) -> Array:
        """The elements of an operand."""
        if x.kind == "tensor":
            return self._tensors[x.name]
        if x.kind == "temporary":
            at = self.places[x]
            if at not in self._temporaries:
                self._temporaries[at] = working(self._n, np.float64)
            return self._temporaries[at]
        if x.kind == "whole":
            return np.array([int(x.name)], WHOLE.get(x.type, x.type))
        name = x.name.lstrip("-")
        value = self._numbers[name] if name in self._numbers else float(name)
        return np.array([-value if len(x.name) > len(name) else value], x.type)


def record_steps(
    text: str, tensors: Mapping[str, Array], numbers: Mapping[str, Any], out: Array
) -> None:
    """Note the jobs that set out to what a formula gives for the elements of tensors.

    numbers: what the other names in it are. out: of the tensors' type, or doubles.
    """
    letter = next(iter(tensors.values())).dtype.char
    operands = {name: Operand("number", name, "") for name in names(parse(text))}
    operands |= {name: Operand("tensor", name, letter) for name in tensors}
    steps = Steps(operands, letter, "d").write(parse(text), Operand("tensor", "", out.dtype.char))
    places = _Operands({**tensors, "": out}, numbers, out.size)
    places.places = place_temporaries(steps)
    for step in steps:
        _record_step(step, places, out.size)


def _record_step(step: Step, places: _Operands, n: int) -> None:
    operands = (*step.inputs, step.out)
    arrays: list[Any] = [places.array(x) for x in operands]
    if step.ufunc is None:
        sizes = [np.dtype(x.type).itemsize for x in operands]
        run("nn_convert", n, size=sizes[0], outSize=sizes[1], source=arrays[0], out=arrays[1])
        return
    loop = inner_loop(step.ufunc, step.signature)
    if loop is None:
        raise TorchError(f"numpy has no {step.ufunc.__name__} for {step.signature}")
    constant = ("number", "whole")
    steps = [0 if x.kind in constant else np.dtype(x.type).itemsize for x in operands]
    a, b, c = (*arrays, 0)[:3]
    step_a, step_b, step_c = (*steps, 0)[:3]
    parameters = {"a": a, "b": b, "c": c, "stepA": step_a, "stepB": step_b, "stepC": step_c}
    run("nn_step", n, run=loop[0], data=loop[1], **parameters)


def record_total(terms: Array, output: Array, count: int) -> None:
    """Note the job that sets output to the sum of terms / count."""
    run(
        "nn_total",
        1,
        size=output.itemsize,
        terms=terms,
        output=output,
        length=terms.size,
        count=count,
        **loops(terms.dtype, np.add),
    )
