"""Lua functions for calls whose row has a formula, element by element: the text of the code.

Each function looks up the structs of its tensors, and returns nil, before anything has changed,
where it does not handle them. ``lua/tensor/formulas.lua`` has what the code uses. In it, argument k
of the call is ``ak``; of a tensor, ``ck`` is the struct, ``pk`` the address of the first element,
and ``tk``, ``rk`` and ``bk`` the distances in bytes of neighbouring elements, rows and blocks (told
in ``lua/tensor/layouts.lua``). k is 0 for a new result.

Finalizers of the program may run wherever Lua allocates memory. So new tensors are made first;
then geometry and addresses are read, all of which are numbers; then the code looks whether a
storage has moved meanwhile (``moves``); and what follows calls inner loops alone, which allocates
nothing. A formula that needs a loop in Lua has one over buffers, to which elements are copied
before, and looks again for storages that have moved before it copies the results. A compiled trace
may run finalizers where it begins, such as behind a loop: there, too, the code looks again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from runtime.calls.forms import Form, TensorKind
from runtime.calls.table import Row
from runtime.compute.c_functions import inner_loop
from runtime.compute.steps import Operand, Step, Steps, parse
from runtime.core.dtypes import BYTE, DOUBLE, FLOAT, INT, LONG, DType
from runtime.core.tensor import TENSOR_CLASSES

__all__ = [
    "AXPY",
    "FIRST_BUFFER",
    "POINTERS",
    "SIZES",
    "Call",
    "cases",
    "chosen",
    "each_code",
    "function",
    "lua_text",
    "rounded",
    "run_code",
    "start",
    "structs",
]

AXPY = re.compile(r"(\w+) ([-+]) (\w+) \* (\w+)")  # what a row with axpy has for `each`

_LONG, _INT, _BYTE = (dtype.numpy.char for dtype in (LONG, INT, BYTE))
SIZES = {"d": 8, "f": 4, "?": 1, _LONG: 8, _INT: 4, _BYTE: 1}
POINTERS = {"d": "double", "f": "float", "?": "byte", _LONG: "long", _INT: "int", _BYTE: "byte"}
_WHOLE = {"d": "long", "f": "int"}  # whole numbers of the size of a type
FIRST_BUFFER = 6  # of those that tensors are copied to; steps use the ones before


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
    def sources(self) -> list[int]:
        """The positions of tensors that are no destinations, from 1; each once, in order."""
        found = []
        for i, argument in enumerate(self.form.arguments):
            place = self.place(i)
            if isinstance(argument.kind, TensorKind) and not argument.returned:
                if place is not None and place + 1 not in found:
                    found.append(place + 1)
        return found

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
        """Whether a source is the new destination, as in x:cmax()."""
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
        is_byte = any(isinstance(kind, TensorKind) and kind.cls is byte for kind in kinds)
        return "?" if is_byte else self.type

    @property
    def dimension(self) -> str | None:
        """The dimension that the call names, from 1, as Lua code; None where there is none."""
        for argument, at in zip(self.form.arguments, self.places, strict=True):
            if argument.kind.name == "index":
                return f"a{at + 1}" if at is not None else repr(argument.default + 1)
        return None

    def words(self) -> dict[str, str]:
        """What the parameters are in Lua: x2 for an element of tensor 2, a3 for number 3."""
        words = {}
        for i, (name, argument) in enumerate(zip(self.names, self.form.arguments, strict=False)):
            place = self.place(i)
            if place is None:
                words[name] = repr(argument.default)
            else:
                words[name] = f"{'ax'[isinstance(argument.kind, TensorKind)]}{place + 1}"
        return words

    def operands(self, buffered: bool = False) -> dict[str, Operand]:
        """What the parameters are for steps. buffered: whether tensors were copied to buffers."""
        found = {}
        for name, word in self.words().items():
            if not word.startswith("x"):
                found[name] = Operand("number", word, "")
            elif buffered and int(word[1:]) in self.sources:
                found[name] = Operand("buffer", str(self.buffer(int(word[1:]))), self.type)
            else:
                found[name] = Operand("tensor", word[1:], self.type)
        return found

    def buffer(self, k: int) -> int:
        """The buffer that tensor k of the call is copied to."""
        return FIRST_BUFFER + self.sources.index(k)

    def in_lua(self, text: str) -> str:
        """A formula in terms of the call."""
        words = self.words()
        return re.sub(r"[a-z_]\w*", lambda m: words.get(m[0], m[0]), text)


# ------------------------------------------------------------------ element by element


def each_code(call: Call, formula: str) -> str | None:
    """The Lua function for a call whose result is computed element by element."""
    if not call.tensors or call.takes_new:
        return None
    trees = list(cases(parse(formula)))
    in_lua = any(_is_in_lua(call, tree) for tree, _ in trees)
    runs: list[str] = []
    choice: list[tuple[str, str | None]] = []
    for k, (tree, condition) in enumerate(trees, 1):
        run = _buffered_run(call, tree, f"run{k}") if in_lua else _run(call, tree, f"run{k}")
        if run is None:
            return None
        runs.append(run)
        choice.append((f"run{k}", call.in_lua(lua_text(condition)) if condition else None))
    copies = _copy_loop(call.type)
    if in_lua and copies is None:
        return None
    body = _given(call, formula, in_lua) if call.destination else _new(call, in_lua)
    lines = [*structs(call.tensors), *rounded(call), *chosen("run", choice), *body]
    if any("buffer" in run for run in runs) and not in_lua:
        lines.insert(0, "if state.busy then return nil end")
    before = [copies or "", *runs] if in_lua else runs
    return function(before, lines, alone=in_lua)


def _copy_loop(kind: str) -> str | None:
    """What looks up the inner loop that copies elements, as ``to_copy`` and ``copy_data``."""
    loop = inner_loop(np.positive, f"{kind}->{kind}")
    return loop and f"local to_copy, copy_data = to_loop({loop[0]}), {loop[1]}"


def function(before: list[str], lines: list[str], alone: bool) -> str:
    """The text of a function for a call, and of what comes before it.

    It takes `...`, since it may make a tensor, and has loops: LuaJIT starts no trace at it.
    alone: whether it allocates memory while it uses the buffers: finalizers, which run then, must
    not use these; their calls are Python's.
    """
    head = "function(a1, a2, a3, a4, a5, ...)"
    text = "\n  ".join([head, *lines]) + "\nend"
    if not alone:
        return "\n".join([*before, f"return {text}"])
    guarded = [
        f"return {head}",
        "if state.busy then return nil end",
        "state.busy = true",
        "local result, second = compute(a1, a2, a3, a4, a5)",
        "state.busy = false",
        "return result, second",
    ]
    return "\n".join([*before, f"local compute = {text}", "\n  ".join(guarded), "end"])


def cases(tree: ast.expr) -> Iterable[tuple[ast.expr, ast.expr | None]]:
    """The expressions of a formula `a if condition else b …`, and their conditions."""
    while isinstance(tree, ast.IfExp):
        yield tree.body, tree.test
        tree = tree.orelse
    if not (isinstance(tree, ast.Constant) and tree.value is None):
        yield tree, None


def chosen(name: str, choice: list[tuple[str, str | None]]) -> list[str]:
    """What chooses a function for the numbers of the call, from functions and conditions."""
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


def structs(tensors: list[int]) -> list[str]:
    """What finds the structs of tensors of the element type."""
    lines = []
    for k in tensors:
        lines.append(f"local c{k} = structs[a{k}] or fetch_struct(a{k})")
        lines.append(f"if not c{k} then return nil end")
    return lines


def rounded(call: Call) -> list[str]:
    """What converts the numbers of the call to the element type."""
    if call.dtype is DOUBLE:
        return []
    how = "as_float" if call.dtype is FLOAT else "dtype.convert"
    return [f"a{k} = {how}(a{k})" for k in call.reals]


def start(k: int, kind: str) -> str:
    """What reads where the elements of a tensor begin, if it has some."""
    begin = f"address(c{k}.storage.data) + {SIZES[kind]} * tonumber(c{k}.storageOffset)"
    return f"if c{k}.storage == nil then return nil end local p{k} = {begin}"


def _given(call: Call, formula: str, in_lua: bool) -> list[str]:
    """What computes a given destination."""
    r, size = call.destination, SIZES[call.type]
    tensors = _in_order(call)
    same = "".join(f" and dense(c{k}) == n" for k in tensors[1:])
    if call.sources and call.sources[0] != r:
        same += f" and same_sizes(c{r}, c{call.sources[0]})"
    starts = [start(k, call.type) for k in tensors]
    return [
        "local moved = moves[0]",
        f"local n = dense(c{r})",
        f"if n > 0{same} then",
        *[f"  {line}" for line in starts],
        "  if moves[0] ~= moved then return nil end",
        *[
            f"  if p{k} ~= p{r} and p{k} < p{r} + {size} * n and p{r} < p{k} + {size} * n then "
            "return nil end"
            for k in tensors[1:]
        ],
        *_many(call, formula, in_lua),
        *[f"  {line}" for line in _dense(call, in_lua)],
        f"  return a{r}",
        "end",
        *starts,
        *_lay_out(tensors),
        *[
            f"if clash({i}, {size}, p{r}, p{k}) then return nil end"
            for i, k in enumerate(tensors)
            if i > 0
        ],
        *_strided(call, in_lua),
        f"return a{r}",
    ]


def _new(call: Call, in_lua: bool) -> list[str]:
    """What computes a new tensor. It is allocated before any geometry is read to be used."""
    first, kind = call.sources[0], POINTERS[call.result]
    tensors = _in_order(call)
    same = "".join(f" and dense(c{k}) == n" for k in call.sources)
    starts = [start(k, call.type if k else call.result) for k in tensors]
    return [
        f"local n = few(c{first})",
        "if n == 0 then return nil end",
        f"local c0 = block_like({kind}, c{first}, n)",
        "local moved = moves[0]",
        f"if same_sizes(c0, c{first}){same} then",
        *[f"  {line}" for line in starts],
        "  if moves[0] ~= moved then return nil end",
        *[f"  {line}" for line in _dense(call, in_lua)],
        "else",
        *[f"  {line}" for line in starts],
        *[f"  {line}" for line in _lay_out(tensors)],
        *[f"  {line}" for line in _strided(call, in_lua)],
        "end",
        f"return publish({kind}, c0)",
    ]


def _in_order(call: Call) -> list[int]:
    """The tensors of a call, the result first."""
    r = call.destination or 0
    return [r, *(k for k in call.tensors if k != r)]


def _lay_out(tensors: list[int]) -> list[str]:
    """What finds how elements lie. What follows reads that as numbers, which allocates nothing."""
    found = f"lay_out(MAX_IN_LUA, {', '.join(f'c{k}' for k in tensors)})"
    return [
        f"local mine = {found}",
        "if not mine or turn[0] ~= mine or moves[0] ~= moved then return nil end",
    ]


def _size(call: Call, k: int) -> int:
    """The bytes of an element of tensor k; 0 is the result."""
    return SIZES[call.result if k == 0 else call.type]


def _dense(call: Call, in_lua: bool) -> list[str]:
    """What computes contiguous elements."""
    tensors = _in_order(call)
    if in_lua:
        sizes = [f"local t{k}, r{k}, b{k} = {_size(call, k)}, 0, 0" for k in tensors]
        return [*sizes, "local rows, blocks, all = 1, 1, n", *_by_buffers(call)]
    pointers = "".join(f", p{k}, {_size(call, k)}" for k in tensors)
    return [f"run(n{pointers}{numbers(call)})"]


def _strided(call: Call, in_lua: bool) -> list[str]:
    """What computes elements that lie as `lay_out` has found."""
    tensors = _in_order(call)
    lines = ["local n, rows, blocks = shape[0], shape[1], shape[2]"]
    for i, k in enumerate(tensors):
        size = _size(call, k)
        steps = ", ".join(f"{size} * step[{3 * i + j}]" for j in range(3))
        lines.append(f"local t{k}, r{k}, b{k} = {steps}")
    if in_lua:
        return [*lines, "local all = n * rows * blocks", *_by_buffers(call)]
    run = f"run(n{''.join(f', q{k}, t{k}' for k in tensors)}{numbers(call)})"
    return [
        *lines,
        *[f"local q{k} = p{k}" for k in tensors],
        "local total, row = rows * blocks, 0",
        "if total == 1 then",
        f"  {run}",
        "else",
        "  for k = 1, total < MIN_TURNS and MIN_TURNS or total do",
        f"    {run}",
        "    row = row + 1",
        "    if k >= total then",
        f"      n{''.join(f', q{k}' for k in tensors)} = 1{', buffer0' * len(tensors)}",
        "    elseif row == rows then",
        "      row = 0",
        *[f"      p{k} = p{k} + b{k}" for k in tensors],
        *[f"      q{k} = p{k}" for k in tensors],
        "    else",
        *[f"      q{k} = q{k} + r{k}" for k in tensors],
        "    end",
        "  end",
        "end",
    ]


def _by_buffers(call: Call) -> list[str]:
    """What copies elements to buffers, computes `all` of them there, and copies the results."""
    r, size = call.destination or 0, SIZES[call.type]
    buffer = f"buffer{FIRST_BUFFER + len(call.sources)}"
    compact = f"{size}, {size} * n, {size} * n * rows"
    lines = [
        f"copy_rows(to_copy, copy_data, n, rows, blocks, buffer{call.buffer(k)}, {compact}, "
        f"p{k}, t{k}, r{k}, b{k})\nif moves[0] ~= moved then return nil end"
        for k in call.sources
    ]
    return [
        *lines,
        f"run(all{numbers(call)})",
        "if moves[0] ~= moved then return nil end",
        f"copy_rows(to_copy, copy_data, n, rows, blocks, p{r}, t{r}, r{r}, b{r}, "
        f"{buffer}, {compact})",
    ]


def numbers(call: Call) -> str:
    """The numbers of the call as further arguments, or parameters, of a function `run`."""
    return "".join(f", {word}" for word in sorted(call.words().values()) if word[0] == "a")


# ------------------------------------------------------------------ many elements


def _many(call: Call, formula: str, in_lua: bool) -> list[str]:
    """What computes many elements, or returns nil for them."""
    r, tree, threads = call.destination, parse(formula), None
    if call.words().get(formula, "").startswith("x"):
        threads = f"share_copy({SIZES[call.type]} * n, p{r}, p{call.words()[formula][1:]})"
    elif call.dtype is DOUBLE:
        threads = _threads(call, tree)
    limit = "MAX_UNSHARED" if threads or _is_loop(call, tree) else "MAX_IN_LUA"
    if call.row.axpy and call.dtype is DOUBLE and not threads:
        threads = _axpy(call, formula)
    result = f"{threads} and a{r} or nil" if threads else "nil"
    return [f"  if n > {limit} then return {result} end"]


def _is_loop(call: Call, tree: ast.expr) -> bool:
    """Whether a formula is one inner loop."""
    if isinstance(tree, ast.IfExp):
        return False
    steps = _steps(call, tree)
    return len(steps) == 1 and steps[0].ufunc is not None


def _threads(call: Call, tree: ast.expr) -> str | None:
    """The call that shares an inner loop of two operands out to threads."""
    if not _is_loop(call, tree):
        return None
    step = _steps(call, tree)[0]
    loop = step.ufunc and inner_loop(step.ufunc, step.signature)
    if not loop or len(step.inputs) != 2:
        return None
    operands = []
    for x in step.inputs:
        operands.append(f"p{x.name}, 8" if x.kind == "tensor" else f"{x.name}, 0")
    return f"share_loop(n, {loop[0]}, {loop[1]}, {', '.join(operands)}, p{step.out.name})"


def _axpy(call: Call, formula: str) -> str | None:
    """The call that shares BLAS's axpy out, where the result takes the place of t."""
    parts, words = AXPY.fullmatch(formula), call.words()
    if parts is None or words[parts[1]] != f"x{call.destination}":
        return None
    factor = parts[2].strip("+") + words[parts[3]]
    return f"share_axpy(n, p{call.destination}, {factor}, p{words[parts[4]][1:]})"


# ------------------------------------------------------------------ one run of elements


def _steps(call: Call, tree: ast.expr, buffered: bool = False) -> list[Step]:
    out = Operand("tensor", str(call.destination or 0), call.result)
    if buffered:
        out = Operand("buffer", str(FIRST_BUFFER + len(call.sources)), call.result)
    return Steps(call.operands(buffered), call.type, call.wide).write(tree, out)


def _is_in_lua(call: Call, tree: ast.expr) -> bool:
    """Whether a formula needs a loop in Lua."""
    return any(step.ufunc is None for step in _steps(call, tree))


def _run(call: Call, tree: ast.expr, name: str) -> str | None:
    """A Lua function that computes n elements that lie in equal distances."""
    return run_code(name, _in_order(call), numbers(call), _steps(call, tree))


def _buffered_run(call: Call, tree: ast.expr, name: str) -> str | None:
    """A Lua function that computes n elements in buffers."""
    return run_code(name, [], numbers(call), _steps(call, tree, buffered=True))


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
    places = _buffers(steps)
    loops, lines = [], []
    for i, step in enumerate(steps):
        if step.ufunc is None:
            if step.out.type == "d":
                widen = _widen()
                if widen is None:
                    return None, []
                loops.append(widen)
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


def _conversion(step: Step, places: dict[Operand, int]) -> str:
    """What converts elements in buffers: float to double, and back."""
    source, out = (str(places.get(x, x.name)) for x in (step.inputs[0], step.out))
    if step.out.type == "d":
        addresses = f"buffer{source}, buffer{out}"
        return f"  widen(n, {addresses}, float_buffer{source}, double_buffer{out})"
    return f"  narrow(n, double_buffer{source}, float_buffer{out})"


# What lua/tensor/formulas.lua needs for its function `widen`.
_WIDEN: list[tuple[np.ufunc, str]] = [
    (np.add, "f"),
    (np.positive, "i"),
    (np.left_shift, "l"),
    (np.right_shift, "l"),
    (np.bitwise_and, "l"),
    (np.multiply, "d"),
]


def _widen() -> str | None:
    """What makes the function that converts floats in a buffer to double."""
    loops = [inner_loop(ufunc, f"{kind * ufunc.nin}->{kind}") for ufunc, kind in _WIDEN]
    if any(loop is None for loop in loops):
        return None
    found = ", ".join(f"to_loop({loop[0]}), {loop[1]}" for loop in loops if loop)
    return f"local widen = make_widen({found})"


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


def _buffers(steps: list[Step]) -> dict[Operand, int]:
    """The buffer of each temporary operand: one that nothing needs any more, or the next."""
    last = {x: i for i, step in enumerate(steps) for x in step.inputs if x.kind == "temporary"}
    places: dict[Operand, int] = {}
    for i, step in enumerate(steps):
        if step.out.kind == "temporary" and step.out not in places:
            taken = {at for x, at in places.items() if last.get(x, -1) >= i}
            places[step.out] = min(set(range(len(places) + 1)) - taken)
    return places
