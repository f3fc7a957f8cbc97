"""A call of an operation with a formula: its arguments, and Lua code that all calls need.

What takes the steps of a formula is a function of a run of elements, which calls inner loops. The
names in the code are told in formula_code.py.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from th_shell.runtime.calls.forms import Form
from th_shell.runtime.calls.table import Row
from th_shell.runtime.compute.c_functions import conversion, inner_loop
from th_shell.runtime.compute.formula_steps import Operand, Step, place_temporaries
from th_shell.runtime.core.dtypes import BYTE, DOUBLE, FLOAT, INT, LONG, DType
from th_shell.runtime.core.tensor import TENSOR_CLASSES

_LONG, _INT, _BYTE = (dtype.numpy.char for dtype in (LONG, INT, BYTE))
SIZES = {"d": 8, "f": 4, "?": 1, _LONG: 8, _INT: 4, _BYTE: 1}
POINTERS = {"d": "double", "f": "float", "?": "byte", _LONG: "long", _INT: "int", _BYTE: "byte"}


class Call(NamedTuple):
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
    steps = list(_with_copies(steps))
    places = place_temporaries(steps)
    loops, lines = [], []
    for i, step in enumerate(steps):
        if step.ufunc is None:
            is_known = {step.inputs[0].type, step.out.type} == {"d", "f"}
            if not is_known or conversion(step.out.type == "d") is None:
                return None, []
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


def _with_copies(steps: list[Step]) -> Iterator[Step]:
    """The steps, where what is converted, and what comes of it, lies in buffers."""
    for i, step in enumerate(steps):
        source, out = step.inputs[0], step.out
        if step.ufunc is None and source.kind == "tensor":
            source = Operand("temporary", f"source{i}", source.type)
            yield Step(np.positive, step.inputs, source, f"{source.type}->{source.type}")
        if step.ufunc is None and out.kind == "tensor":
            out = Operand("temporary", f"result{i}", out.type)
            yield Step(None, (source,), out)
            yield Step(np.positive, (out,), step.out, f"{out.type}->{out.type}")
        else:
            yield step._replace(inputs=(source, *step.inputs[1:]))


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
    return f"local {name} = make_{name}({conversion(name == 'widen')})"


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
