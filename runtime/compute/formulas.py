"""Operations as Lua code: the formulas of rows, for the ways a call may look.

A row that names a formula (`each` for a result element by element, `total` for a sum, `better` for
an extremum and its place) can be run by LuaJIT without Python on few contiguous elements
of DoubleTensors; and on more, where there is a destination and C functions that compute the
formula, by several threads where that pays (lua/parallel/jobs.lua). A formula that is one of
numpy's inner loops is computed by that from the first element on. This module translates such a
call, once for each pattern of argument kinds, into a Lua function that returns nil where it does
not apply. Which form a call means is decided by the same match as for Python's way
(``calls.forms.Form.match``), so there is one meaning.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from runtime.calls.forms import Form, TensorKind, parse_form
from runtime.calls.table import TABLE, Row
from runtime.compute.c_functions import inner_loop
from runtime.core.dtypes import BYTE, DOUBLE
from runtime.core.tensor import TENSOR_CLASSES

__all__ = ["check_formulas", "has_formula", "source"]

# Operators that mean the same as a torch function, by the pattern of their operands.
_OPERATORS = {
    ("operator_add", "TT"): "add",
    ("operator_add", "TN"): "add",
    ("operator_sub", "TT"): "csub",
    ("operator_sub", "TN"): "csub",
    ("operator_mul", "TN"): "mul",
    ("operator_div", "TN"): "div",
}
_KINDS = ("", "T", "N")

_STEP = re.compile(r"(\w+) (\W+) (\w+)( and 1 or 0)?")  # a formula that is one loop of numpy's
_AXPY = re.compile(r"(\w+) ([-+]) (\w+) \* (\w+)")  # what a row with axpy has for `each`
_LOOPS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
_COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "~=": np.not_equal,
}


# What formulas may use besides the names of parameters: Lua's words, and what the functions in
# lua/tensor/formulas.lua have as locals.
_LUA = frozenset("if and or not exp log sqrt abs floor ceil sin cos tan tanh atan2".split())


def check_formulas() -> None:
    """Refuse formulas that name what is no parameter, or do not suit their form.

    To be called when all rows have been added. Raises ValueError.
    """
    for row in (row for rows in TABLE.values() for row in rows if row.has_formula):
        for problem in _problems(row):
            raise ValueError(f"{row.name}, {row.method or row.function}: {problem}")


def _problems(row: Row) -> Iterator[str]:
    given = [formula for formula in (row.each, row.total, row.better) if formula]
    if len(given) != 1:
        yield "a row has one formula"
    known = _parameters(row)
    texts = [] if row.reads_call else [text for text in (row.method, row.function) if text]
    if any(len(parse_form(text, DOUBLE).arguments) != len(known) for text in texts):
        yield f"as many arguments as parameters ({', '.join(known)}) are needed"
    known = ["x", "best"] if row.better else known
    for name in re.findall(r"[a-z_]\w*", given[0]):
        if name not in known and name not in _LUA:
            yield f"the formula {given[0]!r} names {name}, which is no parameter"
    if row.axpy and not _AXPY.fullmatch(row.each or ""):
        yield "axpy computes t + factor * src or t - factor * src"


def _parameters(row: Row) -> list[str]:
    """The names in a row's formula, in the order of the form's arguments."""
    if row.reads_call:
        return ["a", "b", "c"]
    return list(inspect.signature(row.implementation).parameters)


def has_formula(name: str) -> bool:
    """Whether some row of an operation can be run by Lua."""
    names = [name, *(target for (operator, _), target in _OPERATORS.items() if operator == name)]
    return any(row.has_formula for n in names for row in TABLE[n])


def source(name: str, space: str, code: int) -> str | None:
    """The Lua function for a call of a DoubleTensor's operation; None where there is none.

    space: 'method' or 'function'. code: the kinds of up to four arguments as digits to the
    base 3, the first argument last: 1 a tensor, 2 a number.
    """
    pattern = "".join(_KINDS[code // 3**i % 3] for i in range(4))
    target = _OPERATORS.get((name, pattern))
    if target is not None:
        name, space = target, "function"
    # A tensor of each position, so that the same one twice is told from two.
    args = tuple(_SAMPLES[kind] for kind in pattern)
    for row in TABLE[name]:
        form_text = row.form(space)
        if form_text is None or DOUBLE not in row.types:
            continue
        if row.reads_call and not row.each:
            return None
        form = parse_form(form_text.replace("*T* Tensor", "*T* T"), DOUBLE)
        places = form.match(args)
        if places is not None:
            return _Writer(row, form, places, pattern).write() if row.has_formula else None
    return None


_SAMPLES: dict[str, Any] = {"T": TENSOR_CLASSES[DOUBLE.index](), "N": 1.5}


class _Writer:
    """Writes the Lua function for one row and one pattern of arguments."""

    def __init__(self, row: Row, form: Form, places: list[int | None], pattern: str) -> None:
        self.row = row
        self.form = form
        self.each, _, self.condition = (row.each or row.total or "").partition(" if ")
        self.places = [self._place(i, places) for i in range(len(places))]
        self.axpy = _AXPY.fullmatch(self.each) if row.axpy else None
        if self.axpy is not None and self._words()[self.axpy[3]] == "1":
            self.each, self.axpy = f"{self.axpy[1]} {self.axpy[2]} {self.axpy[4]}", None
        self.tensors = [k + 1 for k, kind in enumerate(pattern) if kind == "T"]
        self.shared = self._share() if self.each and self._destination() else None

    def _place(self, i: int, places: list[int | None]) -> int | None:
        default = self.form.arguments[i].default
        if places[i] is None and isinstance(default, tuple):
            return self._place(default[1], places)
        return places[i]

    def write(self) -> str | None:
        """The source; None where the call does not suit."""
        if not self.tensors or self._takes_new():
            return None
        if self.row.better:
            return self._extremum(self.row.better)
        lines = [*self._check(), *self._body()]
        if self.condition:
            lines.insert(0, f"if not ({self._formula(self.condition)}) then return nil end")
        more = ", ..." if self.row.each and not self._destination() else ""
        return f"return function(a1, a2, a3, a4{more})\n  " + "\n  ".join(lines) + "\nend"

    def _extremum(self, formula: str) -> str | None:
        *results, tensor, dim = self.places
        if any(place is not None for place in results) or tensor is None or dim is None:
            return None
        lines = [
            *self._check(),
            f"local function better(x, best) return {formula} end",
            f"return extremum(c{tensor + 1}, p{tensor + 1}, n, a{dim + 1}, better, ...)",
        ]
        return "return function(a1, a2, a3, a4, ...)\n  " + "\n  ".join(lines) + "\nend"

    def _takes_new(self) -> bool:
        """Whether a source is the new destination: x:cmax()."""
        pairs = zip(self.form.arguments, self.places, strict=True)
        return any(at is None and type(argument.default) is tuple for argument, at in pairs)

    def _destination(self) -> int | None:
        """The position of the given destination in the call (from 1); None for a new tensor."""
        for argument, place in zip(self.form.arguments, self.places, strict=True):
            if argument.returned:
                return place + 1 if place is not None else None
        return None

    def _check(self) -> list[str]:
        lines = []
        for k in self.tensors:
            lines.append(f"local c{k} = structs[a{k}] or fetch_struct(a{k})")
            lines.append(f"if not c{k} then return nil end")
        source = self._shape_giver()
        count = "dense" if self.shared else "few"
        lines.append(f"local n = {count}(c{source})")
        lines.append("if n == 0 then return nil end")
        for k in self.tensors:
            if k != source:
                lines.append(f"if {count}(c{k}) ~= n then return nil end")
        destination = self._destination()
        if destination and destination != source:
            lines.append(f"if not same_sizes(c{destination}, c{source}) then return nil end")
        lines += [f"local p{k} = c{k}.storage.data + c{k}.storageOffset" for k in self.tensors]
        for k in self.tensors if destination else ():
            if k != destination:
                p, r = f"p{k}", f"p{destination}"
                lines.append(
                    f"if {p} ~= {r} and {p} < {r} + n and {r} < {p} + n then return nil end"
                )
        return lines

    def _shape_giver(self) -> int:
        """The position of the tensor whose sizes the result takes: the first source."""
        for argument, place in zip(self.form.arguments, self.places, strict=True):
            tensor = isinstance(argument.kind, TensorKind)
            if tensor and not argument.returned and place is not None:
                return place + 1
        return self.tensors[0]

    def _body(self) -> list[str]:
        if self.row.total:
            return self._total()
        destination = self._destination()
        if destination:
            more = []
            if self.shared is not None:
                limit, call = self.shared
                more.append(f"if n > {limit} then return {call} and a{destination} or nil end")
            return [
                *more,
                self._fill(f"p{destination}"),
                f"return a{destination}",
            ]
        return [
            f"local block = block_like({self._result()}, c{self._shape_giver()}, n)",
            "local out = block.data",
            self._fill("out"),
            f"return publish({self._result()}, block)",
        ]

    def _total(self) -> list[str]:
        """What returns the sum of elements, or of products, which BLAS computes."""
        operands = self._operands()
        first, *second = (operands[name] for name in self.each.split(" * "))
        if not second:
            return [f"return total({first}, n)"]
        loop = inner_loop(np.matmul, "dd->d")
        if loop is None:
            return ["return nil"]
        return [f"return inner_product(n, {loop[0]}, {loop[1]}, {first}, {second[0]})"]

    def _fill(self, out: str) -> str:
        """What computes all elements of a result from memory that starts at a pointer."""
        word = self._words().get(self.each, "")
        if word.startswith("x"):  # the elements of a tensor as they are, nans with all their bits
            return f"copy({out}, p{word[1:]}, 8 * n)"
        call = self._inner_loop(out)
        return f"compute({call})" if call else self._loop(f"{out}[i]", self.each)

    def _inner_loop(self, out: str) -> str | None:
        """The arguments for what calls numpy's inner loop, where the formula is one."""
        step = _STEP.fullmatch(self.each)
        if step is None:
            return None
        first, sign, second, comparison = step.groups()
        if comparison and self._result() != "byte":  # a bool is a byte
            return None
        kind = (_COMPARISONS[sign], "dd->?") if comparison else (_LOOPS[sign], "dd->d")
        loop = inner_loop(*kind)
        if loop is None:
            return None
        operands = self._operands()
        arguments = ["n", *map(str, loop), operands[first], operands[second], out]
        return ", ".join([*arguments, "1"] if comparison else arguments)

    def _loop(self, target: str, text: str) -> str:
        """A loop that sets a target to what a formula gives for each element."""
        formula = self._formula(text)
        loads = [f"local x{k} = load(p{k}, i)" for k in self.tensors if f"x{k}" in formula]
        return " ".join(["for i = 0, n - 1 do", *loads, f"{target} = {formula} end"])

    def _share(self) -> tuple[str, str] | None:
        """The number of elements beyond which threads compute the formula, and the call.

        The call gives false where it cannot be made after all.
        """
        operands, r = self._operands(), f"p{self._destination()}"
        call = self._inner_loop(r)
        if call:
            return "MAX_UNSHARED", f"share_loop({call})"
        steps = self.axpy
        if steps is not None and operands[steps[1]] == r:
            factor = steps[2].strip("+") + operands[steps[3]]
            return "MAX_IN_LUA", f"share_axpy(n, {r}, {factor}, {operands[steps[4]]})"
        if operands.get(self.each) == "p2":
            return "MAX_UNSHARED", f"share_copy(n, {r}, p2)"
        return None

    def _result(self) -> str:
        """The element type of a new result, as the Lua side names it."""
        byte = TENSOR_CLASSES[BYTE.index]
        kinds = [a.kind for a in self.form.arguments if a.returned]
        is_byte = any(isinstance(kind, TensorKind) and kind.cls is byte for kind in kinds)
        return "byte" if is_byte else "double"

    def _formula(self, text: str) -> str:
        """A row's formula in terms of the call."""
        words = self._words()
        return re.sub(r"[a-z_]\w*", lambda m: words.get(m[0], m[0]), text)

    def _words(self) -> dict[str, str]:
        """What the names in a formula are in the call: x2 the element of argument 2, a3 argument 3.

        They are those of the implementation's parameters; a, b, c where that has a Call.
        """
        names = _parameters(self.row)
        words = {}
        for name, argument, place in zip(names, self.form.arguments, self.places, strict=False):
            if place is None:
                words[name] = repr(argument.default)
            else:
                tensor = isinstance(argument.kind, TensorKind)
                words[name] = f"x{place + 1}" if tensor else f"a{place + 1}"
        return words

    def _operands(self) -> dict[str, str]:
        """The same for whole tensors: p2 is where the elements of argument 2 start."""
        return {name: re.sub("^x", "p", word) for name, word in self._words().items()}
