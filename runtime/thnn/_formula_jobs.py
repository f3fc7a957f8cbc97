"""The steps of formulas as jobs, which Lua repeats for few contiguous elements.

Each step is one of numpy's inner loops over all elements, as numpy takes it for many: so both give
the same bits. Intermediate results are in memory of the jobs' own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from runtime.compute.c_functions import inner_loop
from runtime.compute.pieces import PIECE
from runtime.compute.steps import WHOLE, Operand, Step, Steps, names, parse, place_temporaries
from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.thnn._jobs import loops, refuse_recording, run, working


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
    if out.size > 2 * PIECE:
        refuse_recording("there are many elements")
    letter = next(iter(tensors.values())).dtype.char
    operands = {name: Operand("number", name, "") for name in names(parse(text))}
    operands |= {name: Operand("tensor", name, letter) for name in tensors}
    steps = Steps(operands, letter, "d").write(parse(text), Operand("tensor", "", out.dtype.char))
    found = _Operands({**tensors, "": out}, numbers, out.size)
    found.places = place_temporaries(steps)
    for step in steps:
        _record(step, found, out.size)


def _record(step: Step, found: _Operands, n: int) -> None:
    operands = (*step.inputs, step.out)
    arrays: list[Any] = [found.array(x) for x in operands]
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
    given = {"a": a, "b": b, "c": c, "stepA": step_a, "stepB": step_b, "stepC": step_c}
    run("nn_step", n, run=loop[0], data=loop[1], **given)


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
