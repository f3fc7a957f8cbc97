"""Operations as Lua code: the formulas of rows, for the ways a call may look.

A row that names a formula (`each` for a result element by element, `total` for a sum and the like)
can be run by LuaJIT without Python on few elements of FloatTensors and DoubleTensors, whatever
their strides; and on more contiguous ones, where there is a destination and C functions that
compute the formula, by several threads where that pays (lua/parallel/jobs.lua).

This module finds the row for such a call, once for each pattern of argument kinds, describes the
call (`Call`), and writes the Lua code that all calls need. formula_code.py writes the function,
formula_steps.py says which of numpy's inner loops a formula is. The form that a call means is
found by the same match as Python's (``calls.forms.Form.match``), so there is one meaning.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from th_shell.runtime.calls.forms import Form, parse_form
from th_shell.runtime.calls.table import TABLE, Row
from th_shell.runtime.compute.c_functions import conversion, inner_loop
from th_shell.runtime.compute.formula_code import AXPY, each_code, either
from th_shell.runtime.compute.formula_steps import (
    Operand,
    Step,
    names,
    parse,
    place_temporaries,
    suits_whole,
)
from th_shell.runtime.compute.reduction_code import along_code, extrema_code, total_code
from th_shell.runtime.core.dtypes import BYTE, DOUBLE, FLOAT, INT, LONG, DType
from th_shell.runtime.core.tensor import TENSOR_CLASSES

_LONG, _INT, _BYTE = (dtype.numpy.char for dtype in (LONG, INT, BYTE))
SIZES = {"d": 8, "f": 4, "?": 1, _LONG: 8, _INT: 4, _BYTE: 1}
POINTERS = {"d": "double", "f": "float", "?": "byte", _LONG: "long", _INT: "int", _BYTE: "byte"}


@dataclass(frozen=True)
class Call:
    """A call of one form: what each parameter of the row's implementation is in it.

    names: the parameters, in the order of the form's arguments. places: the position in the call,
    from 0, of each argument of the form; None where the call leaves it out.
    """

    row: Row
    form: Form
    names: list[str]
    places: list[int | None]
    dtype: DType

    @property
    def type(self) -> str:
        """numpy's letter for the element type."""
        return self.dtype.numpy.char

    @property
    def wide(self) -> str:
        """The letter for the type in which elements are added up."""
        return "d" if self.dtype.is_float else LONG.numpy.char

    def place(self, i: int) -> int | None:
        """The position of an argument of the form, or of the one that stands for it."""
        default = self.form.arguments[i].default
        if self.places[i] is None and isinstance(default, tuple):
            return self.place(default[1])
        return self.places[i]

    @property
    def destination(self) -> int | None:
        """The position of the given destination, from 1; None for a new tensor."""
        for i, argument in enumerate(self.form.arguments):
            if argument.returned:
                place = self.place(i)
                return None if place is None else place + 1
        return None

    @property
    def resizes(self) -> bool:
        """Tell whether a given destination gets the sizes of the first source, another tensor."""
        has_both = not self.row.reads_call and self.destination and self.sources
        is_alike = self.result == self.type
        return bool(has_both) and is_alike and self.sources[0] != self.destination

    @property
    def sources(self) -> list[int]:
        """The positions of tensors that are no destinations, from 1; each once, in order."""
        positions = []
        for i, argument in enumerate(self.form.arguments):
            place = self.place(i)
            if argument.kind.tensor and not argument.returned:
                if place is not None and place + 1 not in positions:
                    positions.append(place + 1)
        return positions

    @property
    def tensors(self) -> list[int]:
        """The positions of all tensors, from 1, the destination first."""
        first = [self.destination] if self.destination else []
        return first + [k for k in self.sources if k not in first]

    @property
    def reals(self) -> list[int]:
        """The positions of the numbers that are converted to the element type."""
        arguments = zip(self.form.arguments, self.places, strict=True)
        return [at + 1 for a, at in arguments if at is not None and a.kind.name == self.dtype.real]

    @property
    def takes_new(self) -> bool:
        """Tell whether a source is the new destination, as in x:cmax()."""
        kinds = [a.default for a in self.form.arguments]
        return any(
            isinstance(default, tuple) and self.place(i) is None for i, default in enumerate(kinds)
        )

    @property
    def result(self) -> str:
        """numpy's letter for the element type of the result; '?' for a ByteTensor of 1 and 0."""
        if self.dtype is BYTE:
            return self.type
        byte = TENSOR_CLASSES[BYTE.index]
        kinds = [a.kind for a in self.form.arguments if a.returned]
        is_byte = any(kind.tensor is byte for kind in kinds)
        return "?" if is_byte else self.type

    @property
    def dimension(self) -> str | None:
        """The dimension that the call names, from 1, as Lua code; None where there is none."""
        for argument, at in zip(self.form.arguments, self.places, strict=True):
            if argument.kind.name == "index":
                return f"a{at + 1}" if at is not None else repr(argument.default + 1)
        return None

    def words(self) -> dict[str, str]:
        """Return the parameters' names in Lua: x2 for an element of tensor 2, a3 for number 3."""
        words = {}
        for i, (name, argument) in enumerate(zip(self.names, self.form.arguments, strict=False)):
            place = self.place(i)
            if place is None:
                words[name] = repr(argument.default)
            else:
                words[name] = f"{'ax'[argument.kind.tensor is not None]}{place + 1}"
        return words

    def operands(self) -> dict[str, Operand]:
        """Return the parameters as operands of steps."""
        return {
            name: Operand("tensor", word[1:], self.type)
            if word.startswith("x")
            else Operand("number", word, "")
            for name, word in self.words().items()
        }

    def in_lua(self, text: str) -> str:
        """A formula in terms of the call."""
        words = self.words()
        return re.sub(r"[a-z_]\w*", lambda m: words.get(m[0], m[0]), text)


def function(before: list[str], lines: list[str]) -> str:
    """The text of a function for a call, and of what comes before it.

    It takes `...`, since it may make a tensor, and has loops: LuaJIT starts no trace at it.
    """
    head = "function(a1, a2, a3, a4, a5, ...)"
    text = "\n  ".join([head, *lines]) + "\nend"
    return "\n".join([*before, f"return {text}"])


def chosen(name: str, choice: list[tuple[str, str | None]]) -> list[str]:
    """Return Lua code that chooses a function by conditions on the numbers of the call."""
    if len(choice) == 1 and choice[0][1] is None:
        return [f"local {name} = {choice[0][0]}"]
    lines = [f"local {name}"]
    for function, condition in choice:
        more = f" and {condition}" if condition else ""
        lines.append(f"if not {name}{more} then {name} = {function} end")
    return [*lines, f"if not {name} then return nil end"]


def lua_text(tree: ast.expr) -> str:
    """An expression as Lua code."""
    return ast.unparse(tree).replace("!=", "~=")


def structs(tensors: list[int], of: str = "") -> list[str]:
    """Return Lua code that finds the structs of tensors; of: another element type, as 'byte.'."""
    lines = []
    for k in tensors:
        lines.append(f"local c{k} = {of}structs[a{k}] or {of}fetch_struct(a{k})")
        lines.append(f"if not c{k} then return nil end")
    return lines


def rounded(call: Call) -> list[str]:
    """Return Lua code that converts the numbers of the call to the element type."""
    if call.dtype is DOUBLE:
        return []
    converter = "as_float" if call.dtype is FLOAT else "dtype.convert"
    return [f"a{k} = {converter}(a{k})" for k in call.reals]


def start(k: int, kind: str) -> str:
    """Return Lua code for the address of a tensor's first element, if it has some."""
    begin = f"address(c{k}.storage.data) + {SIZES[kind]} * tonumber(c{k}.storageOffset)"
    return f"if c{k}.storage == nil then return nil end local p{k} = {begin}"


# -- runs of elements

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
    """Return Lua code that looks up the inner loops, and code that calls them."""
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
    """Return the name of a conversion and its types in Lua: float to double, or back."""
    return ("widen", "float", "double") if step.out.type == "d" else ("narrow", "double", "float")


def _conversion(step: Step, places: dict[Operand, int]) -> str:
    """Return Lua code that converts elements in buffers."""
    source, out = (f"buffer{places.get(x, x.name)}" for x in (step.inputs[0], step.out))
    name, kind, result_kind = _names(step)
    return f"  {name}(n, {source}, {out}, {kind}_{source}, {result_kind}_{out})"


def _converter(step: Step) -> str:
    """Return Lua code that makes the function for a conversion."""
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


_KINDS = ("", "T", "N")


def check_formulas() -> None:
    """Refuse formulas that name what is no parameter, or do not suit their form.

    To be called when all rows have been added. Raises ValueError.
    """
    for row in (row for rows in TABLE.values() for row in rows if row.has_formula):
        for problem in _problems(row):
            raise ValueError(f"{row.name}, {row.method or row.function}: {problem}")


def _problems(row: Row) -> Iterator[str]:
    row_formulas = [formula for formula in (row.each, row.total) if formula]
    if len(row_formulas) != 1:
        yield "a row has one formula"
    parameters = _parameters(row)
    texts = [] if row.reads_call else [text for text in (row.method, row.function) if text]
    if any(len(parse_form(text, DOUBLE).arguments) != len(parameters) for text in texts):
        yield f"as many arguments as parameters ({', '.join(parameters)}) are needed"
    for name in sorted(names(parse(row_formulas[0]))):
        if name not in parameters:
            yield f"the formula {row_formulas[0]!r} names {name}, which is no parameter"
    if row.axpy and not AXPY.fullmatch(row.each or ""):
        yield "axpy computes t + factor * src or t - factor * src"


def _parameters(row: Row) -> list[str]:
    """The names in a row's formula, in the order of the form's arguments."""
    if row.kinds:
        return ["r", "a", "b", "c"]
    if row.reads_call:
        return ["a", "b", "c"]
    return list(row.parameters or inspect.signature(row.implementation).parameters)


def has_formula(name: str) -> bool:
    """Tell whether some row of an operation can be run by Lua."""
    return any(row.has_formula for row in TABLE[name])


def source(name: str, space: str, code: int, dtype: DType = DOUBLE) -> str | None:
    """The Lua function for a call of an operation of an element type; None where there is none.

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
            call = Call(row, form, _parameters(row), places, dtype)
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
