"""Rows of operations element by element whose formula is all that is written of them.

A formula is made of steps (``compute/formula_steps.py``). Lua takes them for few elements; here
numpy takes them, in pieces that threads share where there are many. So both give the same bits.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import cached_property
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from th_shell.runtime.calls.table import ALL, FLOATS, op
from th_shell.runtime.compute.formula_arrays import compute_by_steps, single_ufunc
from th_shell.runtime.compute.formula_steps import cases, is_comparison, parse
from th_shell.runtime.core.dtypes import BYTE, Array, DType, cast_scalar
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._operands import Compute, compute_each

Operand = Tensor | float
#: What chooses how elements of a type are computed, and may refuse the operands; None: by steps.
Choose = Callable[..., Compute | None]


class Forms(NamedTuple):
    """The forms of a row as a method and as a function, and what their arguments are called.

    names: those behind the destination, with spaces between them. told: what the error about
    different numbers of elements calls the destination and the tensors.
    """

    method: str
    function: str
    names: str
    told: str = "r_ t src"


class Formula:
    """A formula of the operands that forms have."""

    def __init__(self, text: str, forms: Forms) -> None:
        self._names = tuple(forms.names.split())
        kinds = forms.function.split()[1:]
        pairs = list(zip(self._names, kinds, strict=True))
        self._tensors = tuple(name for name, kind in pairs if "real" not in kind)
        self._first = self._names.index(self._tensors[0])
        self._told = forms.told
        self._text = text
        self._ufuncs: dict[Any, Any] = {}

    @cached_property
    def _cases(self) -> list[tuple[str, CodeType | None]]:
        """The formulas, and the conditions on numbers under which they hold."""
        trees = cases(parse(self._text))
        return [(ast.unparse(tree), _compiled(test) if test else None) for tree, test in trees]

    @cached_property
    def _is_comparison(self) -> bool:
        return is_comparison(parse(self._cases[-1][0]))

    def compute(self, r: Tensor, *operands: Operand) -> None:
        """r = what the formula gives, element by element."""
        first: Any = operands[self._first]
        values = dict(zip(self._names, operands, strict=True))
        text, dtype = self._case(first.dtype, values), first.dtype
        is_flag = r.dtype is BYTE and self._is_comparison
        key = text, dtype.index
        if key not in self._ufuncs:
            self._ufuncs[key] = single_ufunc(text, self._tensors, dtype.numpy.char)
        if self._ufuncs[key] is not None and not is_flag:
            compute, names = self._ufuncs[key]
            numbers = [values[x] if x in values else cast_scalar(float(x), dtype) for x in names]
        else:
            compute = compute_by_steps(text, self._tensors, values, dtype.numpy)
            compute = _into_flags(compute) if is_flag else compute
            numbers = [values[name] for name in self._tensors]
        compute_each(r, compute, *numbers, told=self._told)

    def _case(self, dtype: DType, values: dict[str, Any]) -> str:
        """The formula for the numbers of a call; of whole numbers always the last one.

        A factor that is 1 is written as such: steps leave it out.
        """
        text = self._cases[-1][0]
        if len(self._cases) > 1 and dtype.is_float:
            text = next(
                formula for formula, test in self._cases if not test or eval(test, {}, values)
            )
        return text.replace("value *", "1 *") if values.get("value") == 1 else text


def _compiled(test: ast.expr) -> CodeType:
    return compile(ast.Expression(test), "<case>", "eval")


def _into_flags(compute: Compute) -> Compute:
    """A comparison for a ByteTensor, whose elements are truth values."""
    return lambda *arrays, out: compute(*arrays, out=out.view(np.bool_))


def each(
    name: str,
    forms: Forms,
    text: str,
    doc: str = "",
    *,
    types: Iterable[DType] = ALL,
    choose: Choose | None = None,
) -> Callable[..., None]:
    """Add the row of an operation that is a formula; returns its implementation.

    doc: what the result is, by default the formula.
    """
    formula = Formula(text, forms)

    def implementation(r: Tensor, *operands: Operand) -> None:
        compute = choose(r.dtype, *operands) if choose else None
        if compute is not None:
            compute_each(r, compute, *operands, told=forms.told)
        else:
            formula.compute(r, *operands)

    implementation.__doc__ = f"r = {doc or text}, element by element."
    parameters = ("r", *forms.names.split())
    row = op(name, forms.method, forms.function, types, each=text, parameters=parameters)
    return row(implementation)


def of_numbers(
    name: str, formula: str, names: str, doc: str = "", *, types: Iterable[DType] = FLOATS
) -> None:
    """Add the row of an operation on numbers that is a formula; their names have spaces between."""
    parameters = tuple(names.split())

    def implementation(*numbers: float) -> float:
        out: Array = np.empty(1)
        compute = compute_by_steps(formula, parameters, {}, np.float64)
        compute(*(np.array([x], np.float64) for x in numbers), out=out)
        return float(out[0])

    implementation.__doc__ = f"{doc or formula}."
    form = " ".join(["real"] * len(parameters))
    op(name, form, form, types)(implementation)
