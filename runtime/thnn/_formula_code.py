"""Lua functions for the rows that are formulas: for few contiguous elements.

``lua/tensor/formulas.lua`` has what the code uses, and runtime/compute/formula_code.py tells the
names in it: argument k of the call is ``ak``, here the pointer to a tensor's struct, and ``pk`` the
address of the first element. A function returns nil, before anything has changed but the sizes of
results, for calls that it does not handle: other layouts, tensors that overlap.
"""

from __future__ import annotations

import ast
import re

import numpy as np

from runtime.compute.c_functions import inner_loop
from runtime.compute.formula_calls import FIRST_BUFFER, SIZES, lua_text, run_code
from runtime.compute.pieces import PIECE
from runtime.compute.steps import Operand, Step, Steps, names, parse
from runtime.core.dtypes import FLOAT, DType
from runtime.thnn._formulas import Formula, used
from runtime.thnn.table import Row

_OVERLAP = "if {p} ~= {r} and {p} < {r} + {size} * n and {r} < {p} + {size} * n then return nil end"


class _Code:
    """The code of one row for an element type."""

    def __init__(self, row: Row, dtype: DType) -> None:
        self.row, self.dtype = row, dtype
        self.letter = dtype.numpy.char
        kinds = row.kinds.replace("?", "")
        self.at = {name: k for k, name in enumerate(row.fields, 1)}
        self.kind = dict(zip(row.fields, kinds, strict=True))
        self.lines: list[str] = []
        self.before: list[str] = []
        self._runs = 0

    def text(self) -> str | None:
        """The source; None where numpy has no such loop."""
        arguments = ", ".join(f"a{k}" for k in self.at.values())
        for formula in self.row.formulas:
            if not self._add(formula):
                return None
        lines = [f"return function({arguments})", *self.lines, "return true", "end"]
        return "\n".join([*self.before, *lines])

    def _add(self, formula: Formula) -> bool:
        """Add what computes a formula; whether numpy has its loops."""
        tensors = [self.at[n] for n in used(formula, self.row.fields) if self.kind[n] == "T"]
        self.lines += ["do", *self._count(formula, tensors), *self._numbers(formula)]
        more = "".join(f", {x}" for x in (*self._reals(formula), "norm"))
        choice = []
        for text, test in formula.cases:
            self._runs += 1
            sources = [k for k in tensors if self._has(text, k)]
            run = self._run(formula, text, sources, f"run{self._runs}")
            if run is None:
                return False
            self.before.append(run)
            choice.append((f"run{self._runs}", sources, self._condition(test)))
        is_total = formula.result == "TOTAL"
        self.lines += self._starts(formula, tensors)
        for i, (name, sources, condition) in enumerate(choice):
            given = "".join(f", p{k}, {SIZES[self.letter]}" for k in sources)
            out = "" if is_total else f", p0, {SIZES[self.letter]}"
            self.lines.append(f"{'else' * (i > 0)}if {condition} then {name}(n{given}{out}{more})")
        self.lines += ["else return nil end", *(self._total() if is_total else []), "end"]
        return True

    def _has(self, text: str, k: int) -> bool:
        return self.row.fields[k - 1] in names(parse(text))

    def _reals(self, formula: Formula) -> list[str]:
        found = used(formula, self.row.fields)
        return [f"a{self.at[name]}" for name in found if self.kind[name] == "r"]

    def _count(self, formula: Formula, tensors: list[int]) -> list[str]:
        """What finds the number of elements, which all tensors of the call have, and the sizes."""
        first, *others = tensors
        most = PIECE if formula.result == "TOTAL" else "MAX_IN_LUA"  # numpy adds up pieces apart
        lines = [f"local n = dense(a{first})", f"if n == 0 or n > {most} then return nil end"]
        results = {f.result for f in self.row.formulas} | {"output"}
        for name, k in self.at.items():
            is_optional = k in self._optional()
            if k in others or (self.kind[name] == "T" and not is_optional and name not in results):
                dense = f" or dense(a{k}) ~= n" if k in others else ""
                differs = f"(not same_sizes(a{k}, a{first}){dense})"
                lines.append(f"if {self._there(k)}{differs} then return nil end")
        return lines

    def _there(self, k: int) -> str:
        """The condition, before others, that a tensor which may be NULL is there."""
        return f"a{k} ~= nil and " if k in self._optional() else ""

    def _optional(self) -> set[int]:
        kinds = re.findall(r"\w\??", self.row.kinds)
        return {k for k, kind in enumerate(kinds, 1) if kind.endswith("?")}

    def _numbers(self, formula: Formula) -> list[str]:
        lines = []
        if self.dtype is FLOAT:
            lines += [f"{a} = as_float({a})" for a in self._reals(formula)]
        average = self.at.get("sizeAverage")
        norm = f"a{average} and 1 / n or 1" if average else "1"
        return [*lines, f"local norm = {'as_float' * (self.dtype is FLOAT)}({norm})"]

    def _condition(self, test: ast.expr | None) -> str:
        """A case's condition in Lua."""
        if test is None:
            return "true"
        text = lua_text(test).replace(" is not None", " ~= nil").replace(" is None", " == nil")
        text = text.replace(".ndim", ".nDimension").replace("input.is_contiguous", "true")
        return re.sub(r"[a-zA-Z_]\w*", lambda m: self._word(m[0]), text)

    def _word(self, name: str) -> str:
        return f"a{self.at[name]}" if name in self.at else name

    def _run(self, formula: Formula, text: str, sources: list[int], name: str) -> str | None:
        """A Lua function of n elements side by side, of their addresses, and of numbers."""
        kind = "d" if formula.result == "TOTAL" else self.letter
        plain = self._steps(text, sources, "tensor", Operand("tensor", "0", kind))
        buffered = formula.result == "TOTAL" or any(step.ufunc is None for step in plain)
        more = "".join(f", {x}" for x in (*self._reals(formula), "norm"))
        if not buffered:
            return run_code(name, [*sources, 0], more, plain)
        out = Operand("buffer", str(FIRST_BUFFER + len(sources)), kind)
        steps = self._steps(text, sources, "buffer", out)
        run = run_code(f"{name}_steps", [], more, steps)
        if run is None:
            return None
        size = SIZES[self.letter]
        given = "".join(f", p{k}, t{k}" for k in sources)
        copies = [
            f"copy_bytes(buffer{FIRST_BUFFER + i}, p{k}, {size} * n)" for i, k in enumerate(sources)
        ]
        back = f"copy_bytes(p0, buffer{out.name}, {size} * n)"
        result = "" if formula.result == "TOTAL" else ", p0, t0"
        return "\n".join(
            [
                f"local {name}",
                "do",
                run,
                f"function {name}(n{given}{result}{more})",
                *copies,
                f"{name}_steps(n{more})",
                f"total_at = buffer{out.name}" if formula.result == "TOTAL" else back,
                "end",
                "end",
            ]
        )

    def _steps(self, text: str, sources: list[int], kind: str, out: Operand) -> list[Step]:
        operands = {"NORM": Operand("number", "norm", ""), "NAN": Operand("number", "0/0", "")}
        for name, k in self.at.items():
            operands[name] = Operand("number", f"a{k}", "")
        for i, k in enumerate(sources):
            at = str(k if kind == "tensor" else FIRST_BUFFER + i)
            operands[self.row.fields[k - 1]] = Operand(kind, at, self.letter)
        return Steps(operands, self.letter, "d").write(parse(text), out)

    def _starts(self, formula: Formula, tensors: list[int]) -> list[str]:
        """What gives the result its sizes, and finds where elements are."""
        size, first = SIZES[self.letter], tensors[0]
        lines = []
        if formula.result != "TOTAL":
            result = self.at[formula.result]
            fit = f"if not fit(dtype, a{result}, a{first}, n) then return nil end"
            inplace = self.at.get("inplace")
            if inplace:
                source = self.at["gradOutput" if "gradOutput" in self.at else "input"]
                fit = (
                    f"if a{inplace} then if not share(dtype, a{result}, a{source}, n) then "
                    f"return nil end else{fit}"
                )
            lines += [
                fit,
                *[f"if {self._there(k)}dense(a{k}) ~= n then return nil end" for k in tensors[1:]],
            ]
            lines.append(f"local p0 = {self._address(result)}")
        for k in tensors:
            given = self._there(k)
            lines.append(f"local p{k} = {given}{self._address(k)}")
            if formula.result != "TOTAL":
                overlap = _OVERLAP.format(p=f"p{k}", r="p0", size=size)
                lines.append(f"if p{k} then {overlap} end" if given else overlap)
        return lines

    def _address(self, k: int) -> str:
        size = SIZES[self.letter]
        return f"address(a{k}.storage.data) + {size} * tonumber(a{k}.storageOffset)"

    def _total(self) -> list[str]:
        """What adds up the terms. A sum that is no number is left to Python, for its errors."""
        loop = inner_loop(np.add, "dd->d")
        assert loop is not None
        self.before = [f"local add, total_at = to_loop({loop[0]})", *self.before]
        r, average = self.at["output"], self.at.get("sizeAverage")
        divided = f"if a{average} then sum = sum / n end" if average else ""
        return [
            f"if a{r}.nDimension ~= 1 or dense(a{r}) ~= 1 then return nil end",
            "double_cells[0] = 0",
            "operands[0], operands[1], operands[2] = double_cell0, total_at, double_cell0",
            "steps[0], steps[1], steps[2], count[0] = 0, 8, 0, n",
            f"add(operands, count, steps, {loop[1]})",
            "local sum = load_double(double_cells, 0)",
            f"if sum ~= sum then return nil end {divided}",
            f"a{r}.storage.data[a{r}.storageOffset] = sum",
        ]


def source(row: Row, dtype: DType) -> str | None:
    """The source of the Lua function for a row's formulas; None where there are no such loops."""
    return _Code(row, dtype).text()
