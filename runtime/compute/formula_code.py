"""Lua functions for calls whose row has a formula, element by element: the text of the code.

Each function looks up the structs of its tensors, and returns nil, before anything has changed,
where it does not handle them. ``lua/tensor/formulas.lua`` has what the code uses. In it, argument k
of the call is ``ak``; of a tensor, ``ck`` is the struct, ``pk`` the address of the first element,
and ``tk``, ``rk`` and ``bk`` the distances in bytes of neighbouring elements, rows and blocks (told
in ``lua/tensor/layouts.lua``). k is 0 for a new result.

The program's finalizers wait meanwhile (``lua/core/finalizers.lua``). Formulas that convert
elements are computed by Python.
"""

import ast
import re
import struct

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
from th_shell.runtime.compute.formula_steps import Operand, Step, Steps, cases, parse
from th_shell.runtime.core.dtypes import DOUBLE

AXPY = re.compile(r"(\w+) ([-+]) (\w+) \* (\w+)")  # what a row with axpy has for `each`


def each_code(call: Call, formula: str) -> str | None:
    """The Lua function for a call whose result is computed element by element."""
    if not call.tensors or call.takes_new:
        return None
    runs: list[str] = []
    choice: list[tuple[str, str | None]] = []
    for k, (tree, condition) in enumerate(cases(parse(formula)), 1):
        steps = _steps(call, tree)
        run = run_code(f"run{k}", _in_order(call), numbers(call), steps)
        if run is None:
            return None
        runs.append(run)
        choice.append((f"run{k}", call.in_lua(lua_text(condition)) if condition else None))
    body = _given(call, formula) if call.destination else _new(call)
    return function(runs, [*_structs(call), *rounded(call), *chosen("run", choice), *body])


def either(code: str, flags: str) -> str:
    """The function for calls whose first tensor is of the element type, or is a ByteTensor."""
    return f"""local own = (function()
{code}
end)()
local flags = (function()
{flags}
end)()
return function(a1, a2, a3, a4, a5, ...)
  local result
  if not structs[a1] then result = flags(a1, a2, a3, a4, a5) end
  if result == nil then result = own(a1, a2, a3, a4, a5) end
  return result
end"""


def _structs(call: Call) -> list[str]:
    """Return Lua code that finds the structs of all tensors."""
    r = call.destination
    if r is None or call.result == call.type:
        return structs(call.tensors)
    return [*structs([r], f"{POINTERS[call.result]}."), *structs(call.sources)]


def _given(call: Call, formula: str) -> list[str]:
    """Return Lua code that computes into a given destination."""
    r, size = call.destination, SIZES[call.type]
    tensors = _in_order(call)
    same = "".join(f" and dense(c{k}) == n" for k in tensors[1:])
    if call.sources and call.sources[0] != r:
        same += f" and same_sizes(c{r}, c{call.sources[0]})"
    starts = [start(k, _type(call, k)) for k in tensors]
    item_size = _size(call, tensors[0])
    return [
        *(_resize(call) if call.resizes else []),
        f"local n = dense(c{r})",
        f"if n > 0{same} then",
        *[f"  {line}" for line in starts],
        *[
            f"  if {f'p{k} ~= p{r} and ' * (item_size == size)}p{k} < p{r} + {item_size} * n "
            f"and p{r} < p{k} + {size} * n then return nil end"
            for k in tensors[1:]
        ],
        *_nothing_to_add(call, formula),
        *_many(call, formula),
        *[f"  {line}" for line in _dense(call)],
        f"  return a{r}",
        "end",
        *starts,
        *_lay_out(tensors, _is_loop(call, parse(formula))),
        *[
            f"if clash({i}, {item_size}, {size}, p{r}, p{k}) then return nil end"
            for i, k in enumerate(tensors)
            if i > 0
        ],
        *_strided(call),
        f"return a{r}",
    ]


def _resize(call: Call) -> list[str]:
    """Return Lua code that resizes a destination to the sizes of contiguous sources."""
    r, first, *sources = call.destination, *call.sources
    same = "".join(f" or not same_sizes(c{first}, c{k}) or dense(c{k}) == 0" for k in sources)
    return [
        f"if not same_sizes(c{r}, c{first}) then",
        f"  if dense(c{first}) == 0{same} then return nil end",
        f"  resize_as(a{r}, c{first})",
        *[f"  c{k} = structs[a{k}] or fetch_struct(a{k})" for k in _in_order(call)],
        "end",
    ]


def _new(call: Call) -> list[str]:
    """Return Lua code that computes a new tensor."""
    first, kind = call.sources[0], POINTERS[call.result]
    tensors = _in_order(call)
    same = "".join(f" and dense(c{k}) == n" for k in call.sources)
    starts = [start(k, _type(call, k)) for k in tensors]
    return [
        f"local n = few(c{first})",
        "if n == 0 then return nil end",
        f"local c0 = block_like({kind}, c{first}, n)",
        f"if same_sizes(c0, c{first}){same} then",
        *[f"  {line}" for line in starts],
        *[f"  {line}" for line in _dense(call)],
        "else",
        *[f"  {line}" for line in starts],
        *[f"  {line}" for line in _lay_out(tensors)],
        *[f"  {line}" for line in _strided(call)],
        "end",
        f"return (publish({kind}, c0))",
    ]


def _in_order(call: Call) -> list[int]:
    """The tensors of a call, the result first."""
    r = call.destination or 0
    return [r, *(k for k in call.tensors if k != r)]


def _lay_out(tensors: list[int], rows_alone: bool = False) -> list[str]:
    """Return Lua code that finds how elements lie in memory.

    rows_alone: whether only the number of rows is limited, since one inner loop computes a row.
    """
    limit = "LARGE - 1" if rows_alone else "MAX_IN_LUA"
    arguments = f"{limit}, {', '.join(f'c{k}' for k in tensors)}"
    return [f"if not lay_out({arguments}) then return nil end"]


def _type(call: Call, k: int) -> str:
    """numpy's letter for the elements of tensor k; 0 is a new result."""
    return call.result if k == (call.destination or 0) else call.type


def _size(call: Call, k: int) -> int:
    """The bytes of an element of tensor k."""
    return SIZES[_type(call, k)]


def _dense(call: Call) -> list[str]:
    """Return Lua code that computes contiguous elements."""
    pointers = "".join(f", p{k}, {_size(call, k)}" for k in _in_order(call))
    return [f"run(n{pointers}{numbers(call)})"]


def _strided(call: Call) -> list[str]:
    """Return Lua code that computes elements with the strides that `lay_out` has found."""
    tensors = _in_order(call)
    lines = ["local n, rows, blocks = shape[0], shape[1], shape[2]"]
    for i, k in enumerate(tensors):
        size = _size(call, k)
        steps = ", ".join(f"{size} * step[{3 * i + j}]" for j in range(3))
        lines.append(f"local t{k}, r{k}, b{k} = {steps}")
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


def numbers(call: Call) -> str:
    """The numbers of the call as further arguments, or parameters, of a function `run`."""
    return "".join(f", {word}" for word in sorted(call.words().values()) if word[0] == "a")


# ------------------------------------------------------------------ many elements


def _many(call: Call, formula: str) -> list[str]:
    """Return Lua code that computes many elements, or leaves them to Python."""
    *conditional_cases, (last, _) = cases(parse(formula))
    lines, word = [], "if"
    for tree, condition in conditional_cases:
        assert condition is not None
        test = call.in_lua(lua_text(condition))
        lines.append(f"  {word} {test} then {_many_of(call, tree, formula)}")
        word = "elseif"
    more = _many_of(call, last, formula)
    return [*lines, f"  else {more} end" if lines else f"  {more}"]


def _many_of(call: Call, tree: ast.expr, formula: str) -> str:
    """Return Lua code that computes many elements by one case of a formula."""
    r, threads = call.destination, None
    source = call.words().get(ast.unparse(tree), "")
    if source.startswith("x"):
        threads = f"share_copy({SIZES[call.type]} * n, p{r}, p{source[1:]})"
    elif ast.unparse(tree) == "0":
        threads = f"share_clear({SIZES[call.type]} * n, p{r})"
    elif call.dtype is DOUBLE and call.result == call.type:
        threads = _threads(call, tree)
    limit = "LARGE - 1" if threads or _is_loop(call, tree) else "MAX_IN_LUA"
    if call.row.axpy and call.dtype.is_float and not threads:
        threads = _axpy(call, formula)
    result = f"{threads} and a{r} or nil" if threads else "nil"
    return f"if n > {limit} then return {result} end"


def _is_loop(call: Call, tree: ast.expr) -> bool:
    """Tell whether a formula is one inner loop."""
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
        operands.append(f"p{x.name}, 8" if x.kind == "tensor" else f"{_as_double(x)}, 0")
    return f"share_loop(n, {loop[0]}, {loop[1]}, {', '.join(operands)}, p{step.out.name})"


def _as_double(x: Operand) -> str:
    """A number as a job gets it: where bits are meant, the double that has them."""
    bits = struct.pack("q", int(x.name)) if x.kind == "whole" else None
    return repr(struct.unpack("d", bits)[0]) if bits else x.name


def _axpy(call: Call, formula: str) -> str | None:
    """The call that shares BLAS's axpy out, where the result takes the place of t."""
    t, sign, factor, source = _scaled_sum(call, formula)
    if t != f"x{call.destination}":
        return None
    to, size = f"p{call.destination}", SIZES[call.type]
    return f"share_axpy(n, {size}, {to}, {sign.strip('+')}{factor}, p{source[1:]})"


def _nothing_to_add(call: Call, formula: str) -> list[str]:
    """Return Lua code that leaves t as it is where the factor is 0 and the result takes its place.

    Torch7: BLAS's axpy computes that, and adds no products with infinities and nans then.
    """
    if not (call.row.axpy and call.dtype.is_float):
        return []
    r, (t, _, factor, _) = call.destination, _scaled_sum(call, formula)
    same = "" if t == f"x{r}" else f" and c{t[1:]} == c{r}"
    return [] if factor == "1" else [f"  if {factor} == 0{same} then return a{r} end"]


def _scaled_sum(call: Call, formula: str) -> tuple[str, ...]:
    """Return t, the sign, the factor and the source of a row with axpy, as code."""
    parts = AXPY.fullmatch(formula)
    assert parts is not None
    return tuple(call.words().get(part, part) for part in parts.groups())


def _steps(call: Call, tree: ast.expr) -> list[Step]:
    out = Operand("tensor", str(call.destination or 0), call.result)
    return Steps(call.operands(), call.type, call.wide).write(tree, out)
