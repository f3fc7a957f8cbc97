"""The steps of a formula on numpy's arrays: numpy calls the inner loops that Lua calls by itself.

So the results have the same bits, and a formula is all that is written of an operation.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from th_shell.runtime.compute.bulk import PIECE
from th_shell.runtime.compute.formula_steps import (
    WHOLE,
    Operand,
    Step,
    Steps,
    parse,
    place_temporaries,
)
from th_shell.runtime.core.dtypes import Array

_OUT = ""  # what the result is called
_MASK = "B->B"  # the signature of the first of three steps that make a mask of truth values


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
    programs: dict[
        str, Any
    ] = {}  # numpy's letter for the result -> the program, with its constants

    def compute(*arrays: Array, out: Array) -> None:
        kind = out.dtype.char
        if kind not in programs:
            program = _program(text, tensors, letter, kind)
            constants = [_number(x, numbers).view(of) for x, of in program.constants]
            programs[kind] = program.run, constants, program.temporaries
        run, constants, temporaries = programs[kind]
        run(out, *arrays, *constants, *_scratch_arrays(temporaries, out.shape))

    return compute


@cache
def single_ufunc(
    text: str, tensors: tuple[str, ...], letter: str
) -> tuple[np.ufunc, tuple[str, ...]] | None:
    """The ufunc that a formula of tensors of a type is, and its operands: names, or numbers.

    None where a formula takes several steps, or works on bits.
    """
    (step, *more), _ = _steps(text, tensors, letter, letter)
    if more or step.ufunc is None or any(x.kind == "whole" for x in step.inputs):
        return None
    return step.ufunc, tuple(x.name for x in step.inputs)


@cache
def _steps(
    text: str, tensors: tuple[str, ...], letter: str, result: str
) -> tuple[list[Step], dict[Operand, int]]:
    """The steps of a formula, and where temporary operands are.

    The names that are no tensors are numbers.
    """
    operands: dict[str, Operand] = {}
    tree = parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            kind, of = ("tensor", letter) if node.id in tensors else ("number", "")
            operands[node.id] = Operand(kind, node.id, of)
    steps = Steps(operands, letter, "d").write(tree, Operand("tensor", _OUT, result))
    return steps, place_temporaries(steps)


class _Program(NamedTuple):
    """A Python function of a formula: of the result, tensors, constants, and temporary arrays.

    constants: numbers, and the types that they are taken as. temporaries: numpy's letters.
    """

    run: Callable[..., None]
    constants: list[tuple[Operand, str]]
    temporaries: tuple[str, ...]


class _Writer:
    """Writes the function of a formula."""

    def __init__(self, tensors: tuple[str, ...], result: str, places: Mapping[Operand, int]):
        self.constants: list[tuple[Operand, str]] = []
        self._places = places
        # One array for each buffer and type: types of other sizes do not share arrays.
        self.temporaries = sorted({(at, x.type) for x, at in places.items()})
        self._lines: list[str] = []
        self._names = {_OUT: "out", **{name: f"x{i}" for i, name in enumerate(tensors)}}

    def text(self, steps: list[Step]) -> str:
        """The source of the function `run`."""
        left = list(steps)
        while left:
            step = left.pop(0)
            kinds, _, kind = step.signature.partition("->")
            name = step.ufunc.__name__ if step.ufunc else "copy"
            if step.signature == _MASK and _is_one_or_nothing(left):  # numpy converts at once
                name, kinds, kind = "copy", "?", left[2].out.type
                step = Step(None, step.inputs, left[2].out)
                del left[:3]
            elif step.signature == _MASK:  # numpy widens truth values, and makes masks, at once
                name = "mask" if left[1].ufunc is np.negative else "opposite_mask"
                del left[:2]
                kinds, kind = "b", WHOLE.get(step.out.type, step.out.type.lower())
            kinds = kinds or step.inputs[0].type
            words = [self._word(x, k) for x, k in zip(step.inputs, kinds, strict=True)]
            target = self._word(step.out, kind or step.out.type)
            self._lines.append(f"    {name}({', '.join(words)}, out={target})")
        arguments = [
            *self._names.values(),
            *(f"c{i}" for i in range(len(self.constants))),
            *(f"t{i}" for i in range(len(self.temporaries))),
        ]
        return "\n".join([f"def run({', '.join(arguments)}):", *self._lines])

    def _word(self, x: Operand, kind: str) -> str:
        """An operand as a type of the same size."""
        if x.kind in ("number", "whole"):
            if (x, kind) not in self.constants:
                self.constants.append((x, kind))
            return f"c{self.constants.index((x, kind))}"
        if x.kind == "temporary":
            word = f"t{self.temporaries.index((self._places[x], x.type))}"
        else:
            word = self._names[x.name]
        return word if x.type == kind else f"{word}.view({kind!r})"


def _is_one_or_nothing(left: list[Step]) -> bool:
    """Tell whether steps that follow make 1 or 0 of a truth value, with the rest of its mask."""
    more = left[2] if len(left) > 2 else None
    operand = more and more.inputs[0]
    return bool(
        more
        and more.ufunc is np.bitwise_and
        and operand
        and operand.kind == "number"
        and operand.name == "1"
    )


@cache
def _program(text: str, tensors: tuple[str, ...], letter: str, result: str) -> _Program:
    steps, places = _steps(text, tensors, letter, result)
    writer = _Writer(tensors, result, places)
    space: dict[str, Any] = {
        **{step.ufunc.__name__: step.ufunc for step in steps if step.ufunc},
        "copy": _copy,
        "mask": _mask,
        "opposite_mask": _opposite_mask,
    }
    exec(compile(writer.text(steps), f"<{text}>", "exec"), space)
    return _Program(space["run"], writer.constants, tuple(kind for _, kind in writer.temporaries))


def _copy(source: Array, out: Array) -> None:
    np.copyto(out, source, casting="same_kind")


def _mask(holds: Array, out: Array) -> None:
    """All bits are set where something holds, and none elsewhere."""
    np.copyto(out, holds)
    np.negative(out, out=out)


def _opposite_mask(holds: Array, out: Array) -> None:
    np.copyto(out, holds)
    np.subtract(out, 1, out=out)


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


def _number(x: Operand, numbers: Mapping[str, Any]) -> Array:
    """A number of a formula, or of the call, as an array without dimensions."""
    if x.kind == "whole":
        return np.array(int(x.name), WHOLE.get(x.type, x.type))
    sign, name = (-1, x.name[1:]) if x.name.startswith("-") else (1, x.name)
    return np.array(sign * (numbers[name] if name in numbers else float(name)), x.type)
