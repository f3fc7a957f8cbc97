"""The steps of a formula on numpy's arrays: numpy calls the inner loops that Lua calls by itself.

So the results have the same bits, and a formula is all that is written of an operation.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from runtime.compute.steps import WHOLE, Operand, Step, Steps, parse
from runtime.core.dtypes import Array

_OUT = Operand("tensor", "", "")


@cache
def _steps(text: str, tensors: tuple[str, ...], letter: str, result: str) -> tuple[Step, ...]:
    """The steps of a formula; the names that are no tensors are numbers."""
    operands: dict[str, Operand] = {}
    tree = parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            is_tensor = node.id in tensors
            kind, of = ("tensor", letter) if is_tensor else ("number", "")
            operands[node.id] = Operand(kind, node.id, of)
    out = Operand(_OUT.kind, _OUT.name, result)
    return tuple(Steps(operands, letter, "d").write(tree, out))


def compute_by_steps(
    text: str, tensors: tuple[str, ...], numbers: Mapping[str, float], dtype: Any
) -> Callable[..., None]:
    """A function of arrays, for the tensors of a formula in order, and `out`, which it fills.

    tensors: their names. numbers: what the other names are. dtype: numpy's type of the elements;
    that of `out` may be float64, too.
    """
    letter = np.dtype(dtype).char

    def compute(*arrays: Array, out: Array) -> None:
        known: dict[Operand, Array] = {Operand(_OUT.kind, _OUT.name, out.dtype.char): out}
        for name, array in zip(tensors, arrays, strict=True):
            known[Operand("tensor", name, letter)] = array
        for step in _steps(text, tensors, letter, out.dtype.char):
            _take(step, known, numbers, out.shape)

    return compute


def _take(
    step: Step, known: dict[Operand, Array], numbers: Mapping[str, float], shape: tuple[int, ...]
) -> None:
    """Take one step: known are the arrays of operands, to which a temporary one is added."""
    if step.out not in known:
        known[step.out] = np.empty(shape, step.out.type)
    if step.ufunc is None:
        np.copyto(known[step.out], known[step.inputs[0]], casting="same_kind")
        return
    kinds, kind = step.signature.split("->")
    inputs = [
        _as(known[x] if x in known else _number(x, numbers), letter)
        for x, letter in zip(step.inputs, kinds, strict=True)
    ]
    step.ufunc(*inputs, out=_as(known[step.out], kind))


def _number(x: Operand, numbers: Mapping[str, float]) -> Array:
    """A number of a formula, or of the call, as an array without dimensions."""
    if x.kind == "whole":
        return np.array(int(x.name), WHOLE.get(x.type, x.type))
    sign, name = (-1, x.name[1:]) if x.name.startswith("-") else (1, x.name)
    return np.array(sign * numbers[name] if name in numbers else float(x.name), x.type)


def _as(array: Array, letter: str) -> Array:
    """An array's elements as a type of the same size; of bytes, the first of each element."""
    kind = np.dtype(letter)
    if array.dtype == kind or array.itemsize == kind.itemsize:
        return array if array.dtype == kind else array.view(kind)
    return array.view(kind).reshape(*array.shape, -1)[..., 0]
