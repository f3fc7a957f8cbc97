"""Lua functions for reductions whose row has a formula: sums, means, norms, extrema.

What is added up is an expression of the elements (`total` of the row), by one of numpy's inner
loops in the order in which numpy adds the same elements up, so that the results have the same
bits. ``lua/tensor/reductions.lua`` has the loops over rows. The names in the code are those of
formula_code.py.
"""

from __future__ import annotations

import ast

import numpy as np

from runtime.compute.c_functions import inner_loop
from runtime.compute.formula_code import (
    POINTERS,
    SIZES,
    Call,
    cases,
    chosen,
    function,
    rounded,
    run_code,
    structs,
)
from runtime.compute.steps import Operand, Steps, parse
from runtime.core.dtypes import BYTE, DOUBLE

__all__ = ["along_code", "extremum_code", "total_code"]

_FIRST = {"add": "0", "multiply": "1"}  # what a fold begins with; others with the first element


def _fold_loop(call: Call, kind: str) -> str | None:
    """The arguments that say how elements of a type are added up, for functions of Lua."""
    loop = inner_loop(getattr(np, call.row.fold), f"{kind}{kind}->{kind}")
    if loop is None:
        return None
    return f"to_loop({loop[0]}), {loop[1]}, {SIZES[kind]}, {_FIRST.get(call.row.fold, 'nil')}"


class _Reduction:
    """What the functions for one call have in common."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.before: list[str] = []  # the code before the function
        self.choice: list[str] = []  # what chooses among it for the numbers of the call
        self.loops: dict[str, bool] = {}
        self.possible = True

    def fold(self, kind: str) -> str:
        """The names of the fold's loop and the rest of it."""
        if kind not in self.loops:
            text = _fold_loop(self.call, kind)
            self.possible &= text is not None
            names = ", ".join(f"{word}_{kind}" for word in ("loop", "data", "size", "first"))
            self.before.append(f"local {names} = {text}")
            self.loops[kind] = True
        return ", ".join(f"{word}_{kind}" for word in ("loop", "data", "size", "first"))

    def add_terms(self, formula: str) -> None:
        """A function `terms` that computes in double precision what is added up."""
        operands = self.call.operands()
        self._add("terms", formula, operands, [0, *self.call.sources], "d")

    def add_finish(self, formula: str, name: str, kind: str, result: str) -> None:
        """A function that computes results from totals of a type, and their number of elements."""
        operands = {key: x for key, x in self.call.operands().items() if x.kind == "number"}
        operands["total"] = Operand("tensor", "total", kind)
        operands["n"] = Operand("number", "of", "")
        self._add(name, formula, operands, [0, "total"], result, ", of")

    def _add(
        self,
        name: str,
        formula: str,
        operands: dict[str, Operand],
        tensors: list[int | str],
        result: str,
        more: str = "",
    ) -> None:
        choice = []
        out = Operand("tensor", "0", result)
        for k, (tree, condition) in enumerate(cases(parse(formula)), 1):
            steps = Steps(operands, self.call.type).write(tree, out)
            code = run_code(f"{name}{k}", tensors, more, steps)
            self.possible &= code is not None
            self.before.append(code or "")
            choice.append((f"{name}{k}", condition and self.call.in_lua(_lua(condition))))
        self.choice += chosen(name, choice)

    def start(self) -> list[str]:
        """The lines that every function begins with."""
        return [*structs(self.call.tensors), *rounded(self.call), *self.choice]

    def function(self, lines: list[str], makes: bool) -> str | None:
        """The text of all."""
        return function(self.before, lines, makes, alone=True) if self.possible else None


def _lua(tree: ast.expr) -> str:
    return ast.unparse(tree).replace("!=", "~=")


def _is_bare(call: Call) -> bool:
    """Whether the elements themselves are added up."""
    return call.words().get(call.row.total or "", "").startswith("x")


# ------------------------------------------------------------------ all elements


def total_code(call: Call) -> str | None:
    """The Lua function for a call that reduces all elements to a number."""
    row, sources = call.row, call.sources
    if row.fold == "matmul":
        return _product_code(call)
    if len(sources) != 1:
        return None
    reduction, k = _Reduction(call), sources[0]
    kind = "d" if row.in_double else call.type
    lines = [
        f"if not lay_out_in_memory(MAX_IN_LUA, c{k}) then return nil end",
        f"local p{k} = c{k}.storage.data + c{k}.storageOffset",
    ]
    at = f"{POINTERS[kind]}_buffer"
    fold = reduction.fold(kind)
    if _is_bare(call) and kind == call.type:
        lines.append(f"local n = fold_rows({fold}, {at}5, p{k})")
    else:
        tree = (row.total or "") if not _is_bare(call) else f"double({row.total})"
        reduction.add_terms(tree)
        lines.append(f"local n = gather_rows(terms, double_buffer4, p{k})")
        lines.append(f"fold({fold}, double_buffer5, double_buffer4, 1, 0, n, 1, 1, 0)")
    if row.then:
        reduction.add_finish(row.then, "finish", kind, kind)
        lines.append(f"finish(1, {at}4, 0, {at}5, 0, n)")
    lines.append(f"return load_{POINTERS[kind]}({at}{4 if row.then else 5}, 0)")
    return reduction.function([*reduction.start(), *lines], makes=False)


def _product_code(call: Call) -> str | None:
    """The Lua function for the sum of the products of two tensors' elements."""
    loop = inner_loop(np.matmul, f"{call.type}{call.type}->{call.type}")
    first, *rest = call.sources
    if loop is None:
        return None
    second = rest[0] if rest else first
    lines = [
        *structs(call.tensors),
        f"local n = dense(c{first})",
        f"if n == 0 or n > MAX_IN_LUA or dense(c{second}) ~= n then return nil end",
        f"local p1 = c{first}.storage.data + c{first}.storageOffset",
        f"local p2 = c{second}.storage.data + c{second}.storageOffset",
        f"local at = {POINTERS[call.type]}_buffer0",
        f"inner_product(n, product, {loop[1]}, {SIZES[call.type]}, p1, p2, at)",
        f"return load_{POINTERS[call.type]}(at, 0)",
    ]
    return function([f"local product = to_loop({loop[0]})"], lines, makes=False, alone=True)


# ------------------------------------------------------------------ along a dimension


def along_code(call: Call) -> str | None:
    """The Lua function for a call that reduces a tensor along a dimension."""
    if len(call.sources) != 1 or call.takes_new:
        return None
    k, r = call.sources[0], call.destination or 0
    reduction = _Reduction(call)
    body = _along_body(reduction, k, r)
    kind = POINTERS[call.type]
    running = "true" if call.row.running else "false"
    sections = f"sections(MAX_IN_LUA, c{k}, {call.dimension}, {running})"
    lines = [
        *reduction.start(),
        f"local outer, o, count, d, inner, i, near = {sections}",
        "if not outer then return nil end",
    ]
    if r:
        lines.append(f"if not fits(c{r}, c{k}, {call.dimension}, {running}) then return nil end")
    else:
        lines.append(f"local c0 = block_along({kind}, c{k}, {call.dimension}, {running})")
        lines.append(f"outer, o, count, d, inner, i, near = {sections}")
        lines.append(f"if not outer or not fits(c0, c{k}, {call.dimension}, {running}) then")
        lines.append("  return nil")
        lines.append("end")
    lines.append(f"local p{r} = c{r}.storage.data + c{r}.storageOffset")
    lines.append(f"local p{k} = c{k}.storage.data + c{k}.storageOffset")
    if r:
        last = "(outer - 1) * o + (count - 1) * d + (inner - 1) * i"
        size = "outer * inner" + (" * count" if call.row.running else "")
        lines.append(f"if p{r} <= p{k} + ({last}) and p{k} < p{r} + {size} then return nil end")
    lines += body
    lines.append(f"return a{r}" if r else f"return publish({kind}, c0)")
    return reduction.function(lines, makes=not r)


def _along_body(reduction: _Reduction, k: int, r: int) -> list[str]:
    """What computes the results at pr from the elements at pk."""
    call, row = reduction.call, reduction.call.row
    bare = _is_bare(call)
    if call.dtype is DOUBLE and bare:
        return _direct(reduction, k, r)
    if row.in_double or not bare:
        return _gathered(reduction, k, r)
    far = _direct(reduction, k, r)
    near = _gathered(reduction, k, r)
    return ["if near then", *near, "else", *far, "end"]


_SECTIONS = "outer, o, count, d, inner, i"


def _direct(reduction: _Reduction, k: int, r: int) -> list[str]:
    """Adds up in the element type."""
    call, row = reduction.call, reduction.call.row
    fold, how = reduction.fold(call.type), "accumulate" if row.running else "fold"
    at = f"{POINTERS[call.type]}_buffer5" if row.then else f"p{r}"
    lines = [f"{how}({fold}, {at}, p{k}, {_SECTIONS})"]
    if row.then:
        reduction.add_finish(row.then, "finish", call.type, call.type)
        lines.append(f"finish(outer * inner, p{r}, 1, {at}, 1, count)")
    return lines


def _gathered(reduction: _Reduction, k: int, r: int) -> list[str]:
    """Computes what is added up, in double precision, and adds it up."""
    call, row = reduction.call, reduction.call.row
    fold, how = reduction.fold("d"), "accumulate" if row.running else "fold"
    reduction.add_terms(f"double({row.total})" if _is_bare(call) else row.total or "")
    finish = row.then or "total"
    direct = finish == "total" and call.dtype is DOUBLE
    at = f"p{r}" if direct else "double_buffer5"
    size = "outer * inner" + (" * count" if row.running else "")
    lines = [
        f"gather(terms, double_buffer4, p{k}, {_SECTIONS})",
        f"{how}({fold}, {at}, double_buffer4, outer, count * inner, count, inner, inner, 1)",
    ]
    if not direct:
        reduction.add_finish(finish, "finish_double", "d", call.type)
        lines.append(f"finish_double({size}, p{r}, 1, {at}, 1, count)")
    return lines


# ------------------------------------------------------------------ extrema and their places


def extremum_code(call: Call) -> str | None:
    """The Lua function for extrema along a dimension and their indices."""
    *results, tensor, dim = (call.place(i) for i in range(len(call.form.arguments)))
    if any(place is not None for place in results) or tensor is None or dim is None:
        return None
    better = f"local function better(x, best) return {call.row.better} end"
    kind = POINTERS[call.type]
    lines = [
        *structs([tensor + 1]),
        f"return extremum({kind}, c{tensor + 1}, a{dim + 1}, better, ...)",
    ]
    return function([better], lines, makes=True, alone=False)
