"""Takes the values that a page documents over into the program that the page is.

An example that prints by chance documents numbers that no run prints again. What the page shows
after it was computed from these numbers. So they are copied into the printed value, and all that
follows is compared exactly.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from math import isinf, isnan

from th_shell.docs.judging.printout import NUMBER, precision, printed_tensors
from th_shell.docs.judging.python_adoption import (
    code_for_array,
    code_for_number,
    printed_array,
)
from th_shell.docs.reading.examples import Example
from th_shell.docs.reading.languages import PYTHON
from th_shell.docs.reading.python_syntax import shown_name

_NAME = re.compile(r"=?\s*([A-Za-z_]\w*)\s*;?\s*")
_ALONE = re.compile(rf"\s*({NUMBER})\s*")
#: A literal that looks rounded: as many digits as tensors are printed with, or more.
_ROUNDED = re.compile(r"(?<![\w.])\d+\.\d{4,}(?![\w.])")


def adopting_code(example: Example, vary: bool = False) -> str:
    """Code that gives the value which an example has printed the documented numbers.

    Returns '' where there is no such code: it takes one tensor, or one number that a variable has.
    vary: whether each number is changed by up to half a unit in its last place.
    """
    if example.language == PYTHON:
        return _python_code(example, vary)
    number = _ALONE.fullmatch(example.expected)
    name = _NAME.fullmatch(example.source)
    if number and name:
        value = _varied(float(number[1]), precision(number[1]), random.Random(1), vary)
        return f"{name[1]} = {_literal(value)}"
    tensors = list(printed_tensors(example.expected))
    if len(tensors) != 1 or tensors[0].problem or not tensors[0].class_name.endswith("Tensor"):
        return ""
    (tensor,) = tensors
    values = ", ".join(map(_literal, _all_varied(tensor.values, tensor.units, vary)))
    sizes = ", ".join(map(str, tensor.sizes))
    shown = "x".join(map(str, tensor.sizes))
    return (
        f"if torch.typename(_LAST) == '{tensor.class_name}' and "
        f"table.concat(_LAST:size():totable(), 'x') == '{shown}' then "
        f"_LAST:copy(torch.DoubleTensor({{{values}}}):view({sizes})) end"
    )


def _python_code(example: Example, vary: bool) -> str:
    array, name = printed_array(example.expected), shown_name(example.source)
    if array:
        values = _all_varied(array.values, array.units, vary)
        return code_for_array(example.source, values, array.sizes)
    number = _ALONE.fullmatch(example.expected)
    if not number or not name:
        return ""
    (value,) = _all_varied([float(number[1])], [precision(number[1])], vary)
    return code_for_number(name, value, number[1].lstrip("+-").isdigit())


def _all_varied(values: Sequence[float], units: Sequence[float], vary: bool) -> list[float]:
    chance = random.Random(1)
    pairs = zip(values, units, strict=True)
    return [_varied(value, unit, chance, vary) for value, unit in pairs]


def vary_literals(source: str) -> str:
    """An input whose rounded literals are changed by up to half a unit in their last places."""
    chance = random.Random(source)

    def varied(match: re.Match[str]) -> str:
        return _literal(_varied(float(match[0]), precision(match[0]), chance, True))

    return _ROUNDED.sub(varied, source)


def _varied(value: float, unit: float, chance: random.Random, vary: bool) -> float:
    # A change near 0 would not tell how far what follows may be off.
    return value + chance.choice((-1, 1)) * chance.uniform(0.25, 0.5) * unit if vary else value


def _literal(value: float) -> str:
    if isnan(value):
        return "(0 / 0)"
    if isinf(value):
        return "(1 / 0)" if value > 0 else "(-1 / 0)"
    return repr(value)
