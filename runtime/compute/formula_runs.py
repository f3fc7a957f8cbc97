"""Lua functions that take the steps of a formula for a run of elements: they call inner loops.

The names in the code are told in formula_code.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from runtime.compute.c_functions import conversion, inner_loop
from runtime.compute.formula_calls import POINTERS, SIZES
from runtime.compute.steps import Operand, Step, place_temporaries

_WHOLE = {"d": "long", "f": "int"}  # whole numbers of the size of a type


def run_code(name: str, tensors: Sequence[int | str], more: str, steps: list[Step]) -> str | None:
    """A Lua function of n, addresses of tensors and distances that calls inner loops.

    more: further parameters. None where there is no such loop.
    """
    loops, lines = _calls(steps, name)
    if loops is None:
        return None
    has_loop = any(step.ufunc is None for step in steps)
    parameters = "n" + "".join(f", p{k}, t{k}" for k in tensors) + more + ", ..." * has_loop
    return "\n".join([*loops, f"local function {name}({parameters})", *lines, "end"])


def _calls(steps: list[Step], name: str) -> tuple[list[str] | None, list[str]]:
    """What looks up the inner loops, and what calls them."""
    places = place_temporaries(steps)
    loops, lines = [], []
    for i, step in enumerate(steps):
        if step.ufunc is None:
            loops.append(_converter(step))
            lines.append(_conversion(step, places))
            continue
        loop = inner_loop(step.ufunc, step.signature)
        if loop is None:
            return None, []
        loops.append(f"local {name}_{i} = to_loop({loop[0]})")
        operands, distances = [], []
        for k, x in enumerate((*step.inputs, step.out)):
            if x.kind == "number":
                lines.append(f"  {POINTERS[x.type]}_cells[{k}] = {x.name}")
            elif x.kind == "whole":
                lines.append(f"  {_WHOLE.get(x.type, POINTERS[x.type])}_cells[{k}] = {x.name}")
            operands.append(_address(x, places, k))
            distances.append(f"t{x.name}" if x.kind == "tensor" else _distance(x))
        for target, values in (("operands", operands), ("steps", distances)):
            left = ", ".join(f"{target}[{k}]" for k in range(len(values)))
            lines.append(f"  {left} = {', '.join(values)}")
        lines.append("  count[0] = n")
        lines.append(f"  {name}_{i}(operands, count, steps, {loop[1]})")
    return loops, lines


def _names(step: Step) -> tuple[str, str, str]:
    """What a conversion is called, and its types in Lua: float to double, or back."""
    return ("widen", "float", "double") if step.out.type == "d" else ("narrow", "double", "float")


def _conversion(step: Step, places: dict[Operand, int]) -> str:
    """What converts elements in buffers."""
    source, out = (f"buffer{places.get(x, x.name)}" for x in (step.inputs[0], step.out))
    name, kind, other = _names(step)
    return f"  {name}(n, {source}, {out}, {kind}_{source}, {other}_{out})"


def _converter(step: Step) -> str:
    """What makes the function for a conversion."""
    name = _names(step)[0]
    return f"local {name} = make_{name}({conversion(name == 'widen') or 'nil'})"


def _address(x: Operand, places: dict[Operand, int], k: int) -> str:
    if x.kind == "tensor":
        return f"p{x.name}"
    if x.kind == "number":
        return f"{POINTERS[x.type]}_cell{k}"
    if x.kind == "whole":
        return f"{_WHOLE.get(x.type, POINTERS[x.type])}_cell{k}"
    return f"buffer{x.name if x.kind == 'buffer' else places[x]}"


def _distance(x: Operand) -> str:
    return "0" if x.kind in ("number", "whole") else str(SIZES[x.type])
