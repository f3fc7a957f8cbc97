"""Lua functions for reductions whose row has a formula: sums, means, norms, extrema.

What is added up is an expression of the elements (`total` of the row), by one of numpy's inner
loops in the order in which numpy adds the same elements up, so that the results have the same
bits. Elements that are not added up as they are come to a buffer first.
``lua/tensor/reductions.lua`` has the loops over rows. The names in the code, and how it minds
finalizers, are told in formula_code.py.
"""

import numpy as np

from th_shell.runtime.compute.c_functions import inner_loop
from th_shell.runtime.compute.formula_calls import (
    POINTERS,
    SIZES,
    Call,
    chosen,
    function,
    lua_text,
    rounded,
    run_code,
    start,
    structs,
)
from th_shell.runtime.compute.formula_steps import Operand, Steps, cases, parse
from th_shell.runtime.core.dtypes import DOUBLE, FLOAT

_FIRST = {"add": "0", "multiply": "1"}  # what a fold begins with; others with the first element
_ELEMENTS, _TERMS, _TOTALS, _RESULT = 9, 8, 7, 6  # buffers
_SECTIONS = "outer, o, count, d, inner, i"
_COMPACT = "outer, count * inner, count, inner, inner, 1"  # the same in a buffer


class _Reduction:
    """The code for one call, in parts.

    before: what comes before the function. choice: what chooses among it for the call's numbers.
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        self.before: list[str] = []
        self.choice: list[str] = []
        self._found: set[str] = set()
        self._possible = True

    def fold(self, kind: str) -> str:
        """The arguments that tell Lua how elements of a type are copied and added up."""
        copy = self.copy(kind)
        names = f"loop_{kind}, data_{kind}"
        if names not in self._found:
            loop = inner_loop(getattr(np, self.call.row.fold), f"{kind}{kind}->{kind}")
            self._add(names, loop)
        first = _FIRST.get(self.call.row.fold)
        begin = f"{POINTERS[kind]}_{first}" if first else "nil"
        in_pairs = "true" if self.call.row.fold == "add" else "false"
        return f"{copy}, {names}, {SIZES[kind]}, {begin}, {in_pairs}"

    def copy(self, kind: str) -> str:
        """The loop that copies elements of a type, and its data."""
        names = f"copy_{kind}, copy_data_{kind}"
        if names not in self._found:
            self._add(names, inner_loop(np.positive, f"{kind}->{kind}"))
        return names

    def _add(self, names: str, loop: tuple[int, int] | None) -> None:
        self._found.add(names)
        self._possible &= loop is not None
        self.before.append(f"local {names} = to_loop({loop[0]}), {loop[1]}" if loop else "")

    def terms(self, formula: str) -> str:
        """A function that computes what is added up of copied elements, in the wide type."""
        kind = self.call.type
        operands = {
            name: Operand("buffer", str(_ELEMENTS), kind) if x.kind == "tensor" else x
            for name, x in self.call.operands().items()
        }
        return self._function(
            "terms", formula, operands, Operand("buffer", str(_TERMS), self.call.wide)
        )

    def finish(self, formula: str, name: str, kind: str, result: str) -> str:
        """A function that computes the results from totals of a type, and what their number is."""
        operands = {key: x for key, x in self.call.operands().items() if x.kind == "number"}
        operands["total"] = Operand("buffer", str(_TOTALS), kind)
        operands["n"] = Operand("number", "of", "")
        out = Operand("buffer", str(_RESULT), result)
        return self._function(name, formula, operands, out, ", of")

    def _function(
        self, name: str, formula: str, operands: dict[str, Operand], out: Operand, more: str = ""
    ) -> str:
        choice: list[tuple[str, str | None]] = []
        for k, (tree, condition) in enumerate(cases(parse(formula)), 1):
            steps = Steps(operands, self.call.type, self.call.wide).write(tree, out)
            code = run_code(f"{name}{k}", [], more, steps)
            self._possible &= code is not None
            self.before.append(code or "")
            choice.append(
                (f"{name}{k}", self.call.in_lua(lua_text(condition)) if condition else None)
            )
        self.choice += chosen(name, choice)
        return name

    def function(self, lines: list[str]) -> str | None:
        """The text of all."""
        begin = [*structs(self.call.sources), *rounded(self.call), *self.choice]
        text = function(self.before, [*begin, *lines])
        return text if self._possible else None


def _is_bare(call: Call) -> bool:
    """Tell whether the elements themselves are added up."""
    return call.words().get(call.row.total or "", "").startswith("x")


# ------------------------------------------------------------------ all elements


def total_code(call: Call) -> str | None:
    """The Lua function for a call that reduces all elements to a number."""
    row, (k, *further) = call.row, call.sources
    if further:
        return None
    reduction = _Reduction(call)
    kind = call.wide if row.in_double and not row.holds else call.type
    fold = reduction.fold(kind)
    lines = [
        start(k, call.type),
        f"if not lay_out_in_memory(MAX_IN_LUA, c{k}) then return nil end",
    ]
    if _is_bare(call) and kind == call.type:
        lines.append(f"local n = fold_rows({fold}, buffer{_TOTALS}, p{k})")
    else:
        copy = f"{reduction.copy(call.type)}, {SIZES[call.type]}, buffer{_ELEMENTS}"
        terms = reduction.terms(f"wide({row.total})" if _is_bare(call) else row.total or "")
        lines.append(f"local n = copy_in_memory({copy}, p{k})")
        lines.append(f"{terms}(n)")
        compact = "1, n, n, 1, 1, 1"
        lines.append(f"fold({fold}, buffer{_TOTALS}, buffer{_TERMS}, {compact})")
    if row.then:
        lines.append(f"{reduction.finish(row.then, 'finish', kind, kind)}(1, n)")
    at = f"{POINTERS[kind]}_buffer{_RESULT if row.then else _TOTALS}"
    lines.append(f"local value = load_{POINTERS[kind]}({at}, 0)")
    if row.fold in ("maximum", "minimum") and call.dtype.is_float:
        lines.append("if value == 0 then return nil end")  # which of several zeros, Python finds
    lines.append("return value ~= 0" if row.holds else "return value")
    return reduction.function(lines)


# ------------------------------------------------------------------ along a dimension


def along_code(call: Call) -> str | None:
    """The Lua function for a call that reduces a tensor along a dimension."""
    if len(call.sources) != 1 or call.takes_new:
        return None
    k, r, row = call.sources[0], call.destination or 0, call.row
    reduction = _Reduction(call)
    running = "true" if row.running else "false"
    kind, arguments = POINTERS[call.type], f"c{k}, {call.dimension}, {running}"
    bare = _is_bare(call)
    if bare and call.dtype is not FLOAT:  # sums of whole numbers wrap at any time
        body = _direct(reduction)
    elif row.in_double or not bare:
        body = _gathered(reduction)
    else:
        near = _gathered(reduction)
        body = ["if near then", *near, "else", *_direct(reduction), "end"]
    lines = [
        *(_resize(k, arguments, [(f"c{r}", f"a{r}", "dtype")]) if r else []),
        f"local {_SECTIONS}, near = sections(MAX_IN_LUA, {arguments})",
        f"if not outer or not fits(c{r}, {arguments}) then return nil end",
        f"local results = outer * inner{' * count' if row.running else ''}",
        start(r, call.type),
        start(k, call.type),
        *body,
    ]
    if r:
        lines = [*structs([r]), *lines, f"return a{r}"]
    else:
        size = f"sections(MAX_IN_LUA, {arguments})"
        block = [
            f"if not {size} then return nil end",
            f"local c0 = block_along({kind}, {arguments})",
        ]
        lines = [*block, *lines, f"return (publish({kind}, c0))"]
    return reduction.function(lines)


def _resize(source: int, arguments: str, results: list[tuple[str, str, str]]) -> list[str]:
    """Return Lua code that resizes results. A result: its struct, its tensor, and its type."""
    suit = " and ".join(f"fits({struct}, {arguments})" for struct, _, _ in results)
    same = " or ".join(f"rawequal({tensor}, a{source})" for _, tensor, _ in results)
    done = " and ".join(f"resize_along({of}, {tensor}, {arguments})" for _, tensor, of in results)
    all_results = [*results, (f"c{source}", f"a{source}", "dtype")]
    return [
        f"if not ({suit}) then",
        f"  if {same} or not sections(MAX_IN_LUA, {arguments}) then return nil end",
        f"  if not ({done}) then return nil end",
        *[f"  {c} = {of}.structs[{a}] or {of}.fetch_struct({a})" for c, a, of in all_results],
        "end",
    ]


def _direct(reduction: _Reduction) -> list[str]:
    """Adds up in the element type."""
    call, row = reduction.call, reduction.call.row
    k, r, kind = call.sources[0], call.destination or 0, call.type
    fold, function = reduction.fold(kind), "accumulate" if row.running else "fold"
    if row.then:
        finish = reduction.finish(row.then, "finish", kind, kind)
        lines = [
            f"{function}({fold}, buffer{_TOTALS}, p{k}, {_SECTIONS})",
            f"{finish}(results, count)",
        ]
        return [*lines, _copied(call, _RESULT)]
    lines = [f"{function}({fold}, p{r}, p{k}, {_SECTIONS})"]
    if r:
        last = f"{SIZES[kind]} * ((outer - 1) * o + (count - 1) * d + (inner - 1) * i)"
        clash = f"p{r} <= p{k} + {last} and p{k} < p{r} + {SIZES[kind]} * results"
        if row.running:  # which may take the elements' place
            clash = f"p{r} ~= p{k} and {clash}"
        lines.insert(0, f"if {clash} then return nil end")
    return lines


def _gathered(reduction: _Reduction) -> list[str]:
    """Computes what is added up, in double precision, and adds it up."""
    call, row = reduction.call, reduction.call.row
    k = call.sources[0]
    fold, function = reduction.fold("d"), "accumulate" if row.running else "fold"
    copy = f"{reduction.copy(call.type)}, {SIZES[call.type]}"
    terms = reduction.terms(f"wide({row.total})" if _is_bare(call) else row.total or "")
    lines = [
        f"{terms}(outer * count * inner)",
        f"{function}({fold}, buffer{_TOTALS}, buffer{_TERMS}, {_COMPACT})",
    ]
    at, finish = _TOTALS, row.then or ("total" if call.dtype is not DOUBLE else None)
    finishing = []
    if finish:
        name = reduction.finish(finish, "finish_double", "d", call.type)
        finishing.append(f"{name}(results, count)")
        at = _RESULT
    lines += finishing
    lines.insert(0, f"copy_sections({copy}, buffer{_ELEMENTS}, p{k}, {_SECTIONS})")
    return [*lines, _copied(call, at)]


def _copied(call: Call, buffer: int) -> str:
    """Return Lua code that copies the results, which are contiguous, from a buffer."""
    return f"copy_bytes(p{call.destination or 0}, buffer{buffer}, {SIZES[call.type]} * results)"


# ------------------------------------------------------------------ extrema and their places


def extrema_code(call: Call) -> str | None:
    """The Lua function for extrema along a dimension and their indices."""
    values, places, *_ = call.places
    if (values is None) != (places is None) or not call.dimension:
        return None
    reduction = _Reduction(call)
    arguments = f"c{call.sources[-1]}, {call.dimension}, false"
    lines = _extrema(reduction, arguments)
    if values is not None and places is not None:
        v, p = f"a{values + 1}", f"a{places + 1}"
        search = [
            f"local values = structs[{v}] or fetch_struct({v})",
            f"local places = long.structs[{p}] or long.fetch_struct({p})",
            "if not values or not places then return nil end",
            *_resize(call.sources[-1], arguments, [("values", v, "dtype"), ("places", p, "long")]),
        ]
        return reduction.function([*search, *lines, f"return {v}, {p}"])
    kind = POINTERS[call.type]
    search = [
        f"if not sections(MAX_IN_LUA, {arguments}) then return nil end",
        f"local values = block_along({kind}, {arguments})",
        f"local places = block_along(long, {arguments})",
    ]
    return reduction.function(
        [*search, *lines, f"return publish({kind}, values), publish(long, places)"]
    )


def _extrema(reduction: _Reduction, arguments: str) -> list[str]:
    """Writes extrema and their indices to `values` and `places`."""
    call = reduction.call
    k, kind, size = call.sources[-1], call.type, SIZES[call.type]
    fold, copy = reduction.fold(kind), reduction.copy(kind)
    reduction.before.append("local find_places = make_find_places(dtype)")
    buffer = f"{POINTERS[kind]}_buffer"
    return [
        f"local {_SECTIONS} = sections(MAX_IN_LUA, {arguments})",
        f"if not (outer and fits(values, {arguments}) and fits(places, {arguments}))",
        "then return nil end",
        f"local p0 = address(values.storage.data) + {size} * tonumber(values.storageOffset)",
        "local q0 = address(places.storage.data) + 8 * tonumber(places.storageOffset)",
        start(k, kind),
        f"copy_sections({copy}, {size}, buffer{_ELEMENTS}, p{k}, {_SECTIONS})",
        "local n = outer * inner",
        f"local rows, elements = buffer{_ELEMENTS}, {buffer}{_ELEMENTS}",
        "if inner > 1 then",
        f"  rows, elements = buffer{_TERMS}, {buffer}{_TERMS}",
        f"  gather_results({copy}, {size}, rows, buffer{_ELEMENTS}, {_SECTIONS})",
        "end",
        f"fold({fold}, buffer{_TOTALS}, rows, n, count, count, 1, 1, 0)",
        f"find_places(load, long_buffer{_RESULT}, {buffer}{_TOTALS}, elements, n, count)",
        f"copy_bytes(p0, buffer{_TOTALS}, {size} * n)",
        f"copy_bytes(q0, buffer{_RESULT}, 8 * n)",
    ]
