"""Lua functions for calls whose row has a formula: the text of the code.

Each function looks up the structs of its tensors, and returns nil, before anything has changed,
where it does not handle them. ``lua/tensor/formulas.lua`` has what the code uses. In it, argument k
of the call is ``ak``; of a tensor, ``ck`` is the struct, ``pk`` a pointer to the first element,
and ``tk`` the distance of neighbours in elements. k is 0 for a new result.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runtime.calls.forms import Form, TensorKind
from runtime.calls.table import Row
from runtime.compute.c_functions import inner_loop
from runtime.compute.steps import Operand, Step, Steps, chooses, names, parse
from runtime.core.dtypes import BYTE, DOUBLE, DType
from runtime.core.tensor import TENSOR_CLASSES

__all__ = [
    "AXPY",
    "POINTERS",
    "SIZES",
    "Call",
    "cases",
    "chosen",
    "each_code",
    "function",
    "numbers",
    "rounded",
    "run_code",
    "structs",
]

AXPY = re.compile(r"(\w+) ([-+]) (\w+) \* (\w+)")  # what a row with axpy has for `each`

SIZES = {"d": 8, "f": 4, "?": 1}
POINTERS = {"d": "double", "f": "float", "?": "byte"}


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

    def operands(self) -> dict[str, Operand]:
        """What the parameters are for steps."""
        found = {}
        for name, word in self.words().items():
            is_tensor = word.startswith("x")
            text = word[1:] if is_tensor else word
            kind = self.type if is_tensor else ""
            found[name] = Operand("tensor" if is_tensor else "number", text, kind)
        return found

    def in_lua(self, text: str) -> str:
        """A formula in terms of the call."""
        words = self.words()
        return re.sub(r"[a-z_]\w*", lambda m: words.get(m[0], m[0]), text)


# ------------------------------------------------------------------ element by element


def each_code(call: Call, formula: str) -> str | None:
    """The Lua function for a call whose result is computed element by element."""
    if not call.tensors or call.takes_new:
        return None
    runs, choice = [], []
    for k, (tree, condition) in enumerate(cases(parse(formula)), 1):
        run = _run(call, tree, f"run{k}")
        if run is None:
            return None
        runs.append(run)
        choice.append((f"run{k}", condition and call.in_lua(_lua(condition))))
    body = _given(call, formula) if call.destination else _new(call)
    lines = [*structs(call.tensors), *rounded(call), *chosen("run", choice), *body]
    alone = any("load_" in run for run in runs)
    return function(runs, lines, makes=call.destination is None, alone=alone)


def function(before: list[str], lines: list[str], makes: bool, alone: bool) -> str:
    """The text of a function for a call, and of what comes before it.

    makes: whether it makes a tensor: the function takes `...` (runtime/README.md tells why).
    alone: whether it allocates memory while it uses the buffers: finalizers, which run then, must
    not use these; their calls are Python's.
    """
    more = ", ..." if makes else ""
    head = f"function(a1, a2, a3, a4, a5{more})"
    text = "\n  ".join([head, *lines]) + "\nend"
    if not alone:
        return "\n".join([*before, f"return {text}"])
    alone = [
        f"return {head}",
        "if state.busy then return nil end",
        "state.busy = true",
        "local result = compute(a1, a2, a3, a4, a5)",
        "state.busy = false",
        "return result",
    ]
    return "\n".join([*before, f"local compute = {text}", "\n  ".join(alone), "end"])


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


def _lua(tree: ast.expr) -> str:
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
    return [f"a{k} = as_float(a{k})" for k in call.reals]


def _given(call: Call, formula: str) -> list[str]:
    """What computes a given destination."""
    r, others = call.destination, [k for k in call.tensors if k != call.destination]
    same = "".join(f" and dense(c{k}) == n" for k in others)
    if call.sources and call.sources[0] != r:
        same += f" and same_sizes(c{r}, c{call.sources[0]})"
    return [
        f"local n = dense(c{r})",
        f"if n > 0{same} then",
        f"  local p{r} = c{r}.storage.data + c{r}.storageOffset",
        *[f"  local p{k} = c{k}.storage.data + c{k}.storageOffset" for k in others],
        *[
            f"  if p{k} ~= p{r} and p{k} < p{r} + n and p{r} < p{k} + n then return nil end"
            for k in others
        ],
        *_many(call, formula),
        f"  {_dense_run(call, formula)}",
        f"  return a{r}",
        "end",
        f"if not {_lay_out(call.tensors)} then return nil end",
        *_strided(call, call.tensors),
        f"return a{r}",
    ]


def _new(call: Call) -> list[str]:
    """What computes a new tensor. It is allocated before any geometry is read to be used."""
    first, kind = call.sources[0], POINTERS[call.result]
    same = "".join(f" and dense(c{k}) == n" for k in call.sources)
    return [
        f"local n = few(c{first})",
        "if n == 0 then return nil end",
        f"local c0 = block_like({kind}, c{first}, n)",
        f"if same_sizes(c0, c{first}){same} then",
        "  local p0 = c0.data",
        *[f"  local p{k} = c{k}.storage.data + c{k}.storageOffset" for k in call.sources],
        f"  {_dense_run(call, '')}",
        "else",
        f"  if not {_lay_out([0, *call.sources])} then return nil end",
        *[f"  {line}" for line in _strided(call, [0, *call.sources])],
        "end",
        f"return publish({kind}, c0)",
    ]


def _many(call: Call, formula: str) -> list[str]:
    """What computes many elements, or returns nil for them."""
    r, tree = call.destination, parse(formula)
    call_of_threads = None
    if call.words().get(formula, "").startswith("x"):
        size = SIZES[call.type]
        call_of_threads = f"share_copy({size} * n, p{r}, p{call.words()[formula][1:]})"
    elif call.dtype is DOUBLE and not chooses(tree):
        call_of_threads = _threads(call, tree)
    limit = "MAX_UNSHARED" if call_of_threads or _is_loop(call, tree) else "MAX_IN_LUA"
    if call.row.axpy and call.dtype is DOUBLE and not call_of_threads:
        call_of_threads = _axpy(call, formula)
    result = f"{call_of_threads} and a{r} or nil" if call_of_threads else "nil"
    return [f"  if n > {limit} then return {result} end"]


def _steps(call: Call, tree: ast.expr) -> list[Step]:
    out = Operand("tensor", str(call.destination or 0), call.result)
    return Steps(call.operands(), call.type).write(tree, out)


def _is_loop(call: Call, tree: ast.expr) -> bool:
    """Whether a formula is one inner loop."""
    if chooses(tree) or isinstance(tree, ast.IfExp):
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
    operands = [f"p{x.name}" if x.kind == "tensor" else x.name for x in (*step.inputs, step.out)]
    return f"share_loop(n, {loop[0]}, {loop[1]}, {', '.join(operands)})"


def _axpy(call: Call, formula: str) -> str | None:
    """The call that shares BLAS's axpy out, where the result takes the place of t."""
    parts, words = AXPY.fullmatch(formula), call.words()
    if parts is None or words[parts[1]] != f"x{call.destination}":
        return None
    factor = parts[2].strip("+") + words[parts[3]]
    return f"share_axpy(n, p{call.destination}, {factor}, p{words[parts[4]][1:]})"


def _dense_run(call: Call, formula: str) -> str:
    r = call.destination or 0
    if formula == "0":
        return f"fill(p{r}, {SIZES[call.type]} * n)"
    if call.words().get(formula, "").startswith("x"):
        return f"copy(p{r}, p{call.words()[formula][1:]}, {SIZES[call.type]} * n)"
    tensors = [r, *(k for k in call.tensors if k != r)]
    return f"run(n{''.join(f', p{k}, 1' for k in tensors)}{numbers(call)})"


def numbers(call: Call) -> str:
    """The numbers of the call as further arguments, or parameters, of a function `run`."""
    return "".join(f", {word}" for word in sorted(call.words().values()) if word[0] == "a")


def _lay_out(tensors: list[int]) -> str:
    return f"lay_out(MAX_IN_LUA, {', '.join(f'c{k}' for k in tensors)})"


def _strided(call: Call, tensors: list[int]) -> list[str]:
    """What computes elements that lie as `lay_out` has found."""
    starts = [f"local q{k} = c{k}.storage.data + c{k}.storageOffset" for k in tensors]
    clash = [
        f"if clash({i}, q{tensors[0]}, q{k}) then return nil end"
        for i, k in enumerate(tensors)
        if i > 0 and tensors[0]
    ]
    return [
        *starts,
        *clash,
        "local n, rows, blocks = shape[0], shape[1], shape[2]",
        *[
            f"local t{k}, r{k}, b{k} = step[{3 * i}], step[{3 * i + 1}], step[{3 * i + 2}]"
            for i, k in enumerate(tensors)
        ],
        "for _ = 1, blocks do",
        *[f"  local p{k} = q{k}" for k in tensors],
        "  for _ = 1, rows do",
        f"    run(n{''.join(f', p{k}, t{k}' for k in tensors)}{numbers(call)})",
        *[f"    p{k} = p{k} + r{k}" for k in tensors],
        "  end",
        *[f"  q{k} = q{k} + b{k}" for k in tensors],
        "end",
    ]


# ------------------------------------------------------------------ one run of elements


def _run(call: Call, tree: ast.expr, name: str) -> str | None:
    """A Lua function that computes n elements that lie in equal distances."""
    r = call.destination or 0
    tensors = [r, *(k for k in call.tensors if k != r)]
    parameters = "n" + "".join(f", p{k}, t{k}" for k in tensors) + numbers(call)
    if chooses(tree):
        return f"local function {name}({parameters})\n{_loop(call, tree)}\nend"
    return run_code(name, tensors, numbers(call), _steps(call, tree))


def run_code(name: str, tensors: Sequence[int | str], more: str, steps: list[Step]) -> str | None:
    """A Lua function of n, pointers to tensors and distances that calls inner loops.

    more: further parameters. None where there is no such loop.
    """
    loops, lines = _calls(steps, name)
    if loops is None:
        return None
    parameters = "n" + "".join(f", p{k}, t{k}" for k in tensors) + more
    return "\n".join([*loops, f"local function {name}({parameters})", *lines, "end"])


def _loop(call: Call, tree: ast.expr) -> str:
    r = call.destination or 0
    used = {call.words()[word] for word in names(tree)}
    loads = [
        f"    local x{k} = load(p{k}, i * t{k})" for k in call.sources if f"x{k}" in used
    ]
    body = [*loads, f"    p{r}[i * t{r}] = {call.in_lua(_lua(tree))}"]
    return "\n".join(["  for i = 0, n - 1 do", *body, "  end"])


def _calls(steps: list[Step], name: str) -> tuple[list[str] | None, list[str]]:
    """What looks up the inner loops, and what calls them; no memory is allocated in between."""
    places = _buffers(steps)
    loops, lines = [], ["  count[0] = n"]
    for i, step in enumerate(steps):
        if step.ufunc is None:
            lines.append(_conversion(step, places))
            continue
        loop = inner_loop(step.ufunc, step.signature)
        if loop is None:
            return None, []
        loops.append(f"local {name}_{i} = to_loop({loop[0]})")
        pointers, distances = [], []
        for k, x in enumerate((*step.inputs, step.out)):
            if x.kind == "number":
                lines.append(f"  {POINTERS[x.type]}_cells[{k}] = {x.name}")
            pointers.append(_pointer(x, places, k))
            distances.append(_distance(x))
        for target, values in (("operands", pointers), ("steps", distances)):
            left = ", ".join(f"{target}[{k}]" for k in range(len(values)))
            lines.append(f"  {left} = {', '.join(values)}")
        lines.append(f"  {name}_{i}(operands, count, steps, {loop[1]})")
    return loops, lines


def _conversion(step: Step, places: dict[Operand, int]) -> str:
    """A loop that converts elements: float to double, a truth value to a number, and back."""
    source, out = step.inputs[0], step.out
    at, to = (f"i * t{x.name}" if x.kind == "tensor" else "i" for x in (source, out))
    read, target = _pointer(source, places, 0), _pointer(out, places, 1)
    value = f"load_{POINTERS[source.type]}({read}, {at})" if source.type != "?" else f"{read}[{at}]"
    return f"  for i = 0, n - 1 do {target}[{to}] = {value} end"


def _pointer(x: Operand, places: dict[Operand, int], k: int) -> str:
    if x.kind == "tensor":
        return f"p{x.name}"
    if x.kind == "number":
        return f"{POINTERS[x.type]}_cell{k}"
    return f"{POINTERS[x.type]}_buffer{places[x]}"


def _distance(x: Operand) -> str:
    size = SIZES[x.type]
    if x.kind == "tensor":
        return f"{size} * t{x.name}"
    return "0" if x.kind == "number" else str(size)


def _buffers(steps: list[Step]) -> dict[Operand, int]:
    """The buffer of each temporary operand: one that nothing needs any more, or the next."""
    last = {x: i for i, step in enumerate(steps) for x in step.inputs if x.kind == "temporary"}
    places: dict[Operand, int] = {}
    for i, step in enumerate(steps):
        if step.out.kind == "temporary":
            taken = {at for x, at in places.items() if last.get(x, -1) >= i}
            places[step.out] = min(set(range(len(places) + 1)) - taken)
    return places
