"""The steps of a formula on numpy's arrays: numpy calls the inner loops that Lua calls by itself.

So the results have the same bits, and a formula is all that is written of an operation.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Mapping
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from th_shell.runtime.compute.bulk import PIECE
from th_shell.runtime.compute.formula_steps import Operand, Step, Steps, parse
from th_shell.runtime.core.dtypes import Array

#: What the result is called.
RESULT = ""


def compute_by_steps(
    text: str, tensors: tuple[str, ...], numbers: Mapping[str, Any], dtype: Any
) -> Callable[..., Any]:
    """A function of arrays, for the tensors of a formula in order, and `out`, which it fills.

    tensors: their names. numbers: what the other names are. dtype: numpy's type of the elements;
    that of `out` may be another one. A ufunc where the formula is just that.
    """
    letter = np.dtype(dtype).char
    ufunc, operands = single_ufunc(text, tensors, letter) or (None, ())
    if ufunc is not None and operands == tensors:
        return ufunc
    programs: dict[str, tuple[_Program, list[Array]]] = {}  # by the letter for the result

    def compute(*arrays: Array, out: Array) -> None:
        kind = out.dtype.char
        if kind not in programs:
            program = _program(text, tensors, letter, kind)
            programs[kind] = program, [constant(x, numbers) for x in program.numbers]
        program, constants = programs[kind]
        sources = [out, *arrays, *constants, *_scratch_arrays(program.buffers, out.shape)]
        values = [sources[i].view(of) if of else sources[i] for i, of in program.operands]
        for function, pick in program.calls:
            function(*pick(values))

    return compute


@cache
def single_ufunc(
    text: str, tensors: tuple[str, ...], letter: str
) -> tuple[np.ufunc, tuple[str, ...]] | None:
    """The ufunc that a formula of tensors of a type is, and its operands: names, or numbers.

    None where a formula takes several steps, or works on bits.
    """
    step, *more = steps_of(text, tensors, letter, letter)
    if more or step.ufunc is None or any(x.type != letter for x in step.inputs):
        return None
    return step.ufunc, tuple(x.name for x in step.inputs)


@cache
def steps_of(text: str, tensors: tuple[str, ...], letter: str, result: str) -> list[Step]:
    """The steps of a formula of tensors of a type. The names that are no tensors are numbers."""
    tree = parse(text)
    operands = {
        node.id: Operand("tensor", node.id, letter)
        if node.id in tensors
        else Operand("number", node.id, "")
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
    }
    return Steps(operands, letter, "d").write(tree, Operand("tensor", RESULT, result))


def constant(x: Operand, numbers: Mapping[str, Any]) -> Array:
    """A number of a formula, or of the call, as an array without dimensions."""
    sign, name = (-1, x.name[1:]) if x.name.startswith("-") else (1, x.name)
    return np.array(sign * (numbers[name] if name in numbers else float(name)), x.type)


class _Program(NamedTuple):
    """The steps of a formula as calls.

    numbers, buffers: what they need besides the result and the tensors, in this order.
    operands: the positions of arrays among all these, and as what type of the same size they are
    taken; None for their own. calls: functions, and what picks a call's arguments, the result
    last, from the operands.
    """

    numbers: list[Operand]
    buffers: tuple[str, ...]
    operands: list[tuple[int, str | None]]
    calls: list[tuple[Callable[..., Any], itemgetter[Any]]]


@cache
def _program(text: str, tensors: tuple[str, ...], letter: str, result: str) -> _Program:
    steps = steps_of(text, tensors, letter, result)
    used = list(dict.fromkeys(x for step in steps for x in (*step.inputs, step.out)))
    numbers = [x for x in used if x.kind == "number"]
    buffers = [x for x in used if x.kind == "buffer"]
    known = [Operand("tensor", RESULT, result), *(Operand("tensor", x, letter) for x in tensors)]
    places = {x: i for i, x in enumerate([*known, *numbers, *buffers])}
    operands: dict[tuple[int, str | None], int] = {}

    def position(x: Operand, kind: str) -> int:
        return operands.setdefault((places[x], kind if kind != x.type else None), len(operands))

    calls: list[tuple[Callable[..., Any], itemgetter[Any]]] = []
    for ufunc, inputs, out, signature in steps:
        kinds = signature.replace("->", "")
        arguments = [position(x, of) for x, of in zip((*inputs, out), kinds, strict=True)]
        calls.append((ufunc or _convert, itemgetter(*arguments)))
    return _Program(numbers, tuple(x.type for x in buffers), list(operands), calls)


def _convert(source: Array, out: Array) -> None:
    np.copyto(out, source, casting="same_kind")


_kept = threading.local()


def _scratch_arrays(kinds: tuple[str, ...], shape: tuple[int, ...]) -> list[Array]:
    """Arrays of such types: of a piece's elements those of the last one, in this thread."""
    if not kinds:
        return []
    if len(shape) != 1 or shape[0] > PIECE:
        return [np.empty(shape, kind) for kind in kinds]
    scratch: dict[Any, list[Array]] = _kept.__dict__
    key, count = "".join(kinds), shape[0]
    if key not in scratch or len(scratch[key][0]) < count:
        scratch[key] = [np.empty(count, kind) for kind in kinds]
    arrays = scratch[key]
    return arrays if len(arrays[0]) == count else [array[:count] for array in arrays]
