"""Operations as Lua code: the formulas of rows, for the ways a call may look.

A row that names a formula (`each` for a result element by element, `total` for a sum and the like)
can be run by LuaJIT without Python on few elements of FloatTensors and DoubleTensors, however they
lie in memory; and on more contiguous ones, where there is a destination and C functions that
compute the formula, by several threads where that pays (lua/parallel/jobs.lua). This module finds
the row for such a call, once for each pattern of argument kinds; formula_code.py writes the Lua
function, and formula_steps.py says which of numpy's inner loops a formula is. Which form a call
means is decided by the same match as for Python's way (``calls.forms.Form.match``), so there is one
meaning.
"""

import ast
import inspect
from typing import Any

from th_shell.runtime.calls.forms import Form, parse_form
from th_shell.runtime.calls.table import TABLE, Row
from th_shell.runtime.compute.formula_calls import Call
from th_shell.runtime.compute.formula_code import each_code, either
from th_shell.runtime.compute.formula_steps import parse, suits_whole
from th_shell.runtime.compute.reduction_code import along_code, extrema_code, total_code
from th_shell.runtime.core.dtypes import BYTE, DOUBLE, INT, LONG, DType
from th_shell.runtime.core.tensor import TENSOR_CLASSES

_KINDS = ("", "T", "N")


def parameters_of(row: Row) -> list[str]:
    """Return the names that a row's formula may use, in the order of the form's arguments."""
    if row.kinds:
        return ["r", "a", "b", "c"]
    if row.reads_call:
        return ["a", "b", "c"]
    return list(row.parameters or inspect.signature(row.implementation).parameters)


def has_formula(name: str) -> bool:
    """Tell whether some row of an operation can be run by Lua."""
    return any(row.has_formula for row in TABLE[name])


def source(name: str, space: str, code: int, dtype: DType = DOUBLE) -> str | None:
    """Return the text of the Lua function for a call; None where Lua cannot compute it.

    name: the operation. dtype: the element type of its tensors.

    space: 'method' or 'function'. code: the kinds of up to five arguments as digits to the
    base 3, the first argument last: 1 a tensor, 2 a number.
    """
    pattern = "".join(_KINDS[code // 3**i % 3] for i in range(5))
    text = _source(name, space, pattern, dtype)
    if space == "method" and dtype is not BYTE and pattern.startswith("TT"):
        flags = _source(name, space, pattern, dtype, to=BYTE)
        text = either(text, flags) if text and flags else text
    return text


def _source(
    name: str, space: str, pattern: str, dtype: DType, to: DType | None = None
) -> str | None:
    """The Lua code for calls of one pattern; to: the element type of a destination."""
    sample: dict[str, Any] = {"T": TENSOR_CLASSES[dtype.index](), "N": 1.5}
    args = tuple(sample[kind] for kind in pattern)
    if to is not None:
        args = (TENSOR_CLASSES[to.index](), *args[1:])
    for row in TABLE[name]:
        form = _form(row, space, pattern, dtype)
        places = None if form is None else form.match(args)
        if form is not None and places is not None:
            call = Call(row, form, parameters_of(row), places, dtype)
            formula = _formula(row, dtype)
            return formula and _code(call, formula)
        if row.reads_call and dtype in row.types and row.form(space) is not None:
            return None
    return None


def _formula(row: Row, dtype: DType) -> str | None:
    """The formula of a row, if it has one for an element type.

    Of several cases, whole numbers have the last one alone, whatever the numbers of the call are.
    """
    formula = row.each or row.total
    if formula is None or dtype.is_float:
        return formula
    tree = parse(formula)
    while isinstance(tree, ast.IfExp):
        tree = tree.orelse
    is_whole = dtype in (BYTE, INT, LONG) and suits_whole(tree) and not row.places
    return ast.unparse(tree) if is_whole else None


def _form(row: Row, space: str, pattern: str, dtype: DType) -> Form | None:
    """The form of a row, as far as formulas are concerned."""
    text = row.form(space)
    if text is None or dtype not in row.types or (row.reads_call and not row.each):
        return None
    if row.kinds:
        kinds = {"T": "T", "N": "real"}
        is_listed = pattern in row.kinds.split()
        text = " ".join(["[*T*]", *(kinds[k] for k in pattern)]) if is_listed else None
    if row.places:
        text = text and text.replace("LongTensor", "T")  # the code looks which of them it is
    return text and parse_form(text.replace("*T* Tensor", "*T* T"), dtype) or None


def _code(call: Call, formula: str) -> str | None:
    row = call.row
    if row.each:
        return each_code(call, formula)
    if row.places:
        return extrema_code(call)
    return along_code(call) if call.dimension else total_code(call)
