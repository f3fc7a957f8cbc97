"""What LuaJIT does by itself on few elements is what Python does on any."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

import runtime.ops  # noqa: F401 (adds the rows)
from runtime.calls.table import TABLE
from runtime.compute.formulas import source
from tests.conftest import Lua

MOST_ARGUMENTS = 4

# The same values in tensors of few contiguous elements, in strided ones and in many: the
# latter two take Python's way, or C functions compute many.
PRELUDE = """
local inf, nan = 1 / 0, 0 / 0
local VALUES = {
  { 0, -0.0, 1, -1, 2.5, -2.5, inf, -inf, nan, 1e-300, 0.5, 3, 7, -0.75, 1e17 },
  { 1, 2, -1, 0, -0.0, nan, 3, inf, -inf, 2.5, 0.25, -7, 1e-5, 1, -0.75 },
  { -3, nan, 0.5, 2, inf, 1, 0, 4, -1.5, -0.0, -inf, 1e9, 1, 0.125, 2.5 },
  { 2, 3, 5, -7, 1, nan, inf, 0, 0.5, -1, 9, -inf, 8, 1, -0.0 },
}
local makers = {
  few = function() return torch.Tensor(3, 5):fill(9) end,
  strided = function() return torch.Tensor(3, 8):fill(9):narrow(2, 2, 5) end,
  many = function() return torch.Tensor(60, 15):fill(9) end,
}
local function make(kind, k)
  local x = makers[kind]()
  local v, size = VALUES[k], x:size(2)
  for i = 1, x:size(1) do
    for j = 1, size do x[i][j] = v[((i - 1) * size + j - 1) % 15 + 1] end
  end
  return x
end
local function numbers(x) -- of the first 15 elements
  if type(x) ~= 'userdata' then return { x } end
  local t, size = {}, x:size(2)
  for i = 0, 14 do t[i + 1] = x[math.floor(i / size) + 1][i % size + 1] end
  return t
end
local function same(a, b)
  if a ~= a or b ~= b then return a ~= a and b ~= b end
  return a == b or math.abs(a - b) <= 1e-14 * math.max(math.abs(a), math.abs(b))
end
local function agree(a, b, what)
  if torch.type(a) ~= torch.type(b) then
    print(what, torch.type(a), torch.type(b))
  end
  local x, y = numbers(a), numbers(b)
  for i = 1, #y do
    if not same(x[i], y[i]) then print(what, i, x[i], y[i]) return end
  end
end
local function check(kind, call, pattern, twice)
  local function run(kind)
    local args = {}
    for k = 1, #pattern do
      args[k] = pattern:sub(k, k) == 'T' and make(kind, k) or ({ 2.5, -1, 3, 0.5 })[k]
    end
    if twice then args[2] = args[1] end
    local result = call(unpack(args))
    for k = 1, #pattern do if rawequal(result, args[k]) then result = k end end
    return result, args
  end
  local a, args = run('few')
  local b, others = run(kind)
  agree(a, b, kind .. ' result')
  for k = 1, #pattern do agree(args[k], others[k], kind .. ' argument ' .. k) end
end
"""

_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def calls() -> Iterator[tuple[str, str, str]]:
    """All calls that Lua can run: operation, 'method' or 'function', kinds of arguments."""
    for name, space in product(TABLE, ("method", "function")):
        if any(row.better for row in TABLE[name]):
            continue  # see test_extrema: the number is a dimension
        for count in range(1, MOST_ARGUMENTS + 1):
            for pattern in product("TN", repeat=count):
                code = sum(("", "T", "N").index(kind) * 3**i for i, kind in enumerate(pattern))
                if source(name, space, code) is not None:
                    yield name, space, "".join(pattern)


CALLS = sorted(calls())


def kinds() -> Iterator[tuple[str, str, str, str]]:
    """Each call, with views of few elements and with many; many have another sum than few."""
    for name, space, pattern in CALLS:
        yield name, space, pattern, "strided"
        if not any(row.total for row in TABLE[name]):
            yield name, space, pattern, "many"


@pytest.mark.parametrize(("name", "space", "pattern", "kind"), list(kinds()))
def test_same_as_python(lua: Lua, name: str, space: str, pattern: str, kind: str) -> None:
    names = "abcd"[: len(pattern)]
    if name.startswith("operator_"):
        expression = f" {_OPERATORS[name.removeprefix('operator_')]} ".join(names)
    elif space == "method":
        expression = f"a:{name}({', '.join(names[1:])})"
    else:
        expression = f"torch.{name}({', '.join(names)})"
    function = f"function({', '.join(names)}) return {expression} end"
    checks = f"check('{kind}', {function}, '{pattern}', false)\n"
    if pattern.startswith("TT"):
        checks += f"check('{kind}', {function}, '{pattern}', true)\n"
    assert lua.run(PRELUDE + checks) == ""


@pytest.mark.parametrize("count", [4, 700], ids=["few", "many"])
@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_views_that_overlap(lua: Lua, count: int, first: int, second: int) -> None:
    answer = lua.run(
        f"local n, x = {count}, torch.range(1, {count})\n"
        f"local a, b = x:narrow(1, {first}, n - 1), x:narrow(1, {second}, n - 1)\n"
        "a:copy(b) io.write(a[1], ' ', a[2], ' ', a[3], ' ')\n"
        "x:copy(torch.range(1, n)) a:add(b, 1) io.write(a[1], ' ', a[2], ' ', a[3])"
    )
    if second == 1:
        assert answer == "1 2 3 2 3 4"
    else:
        assert answer == "2 3 4 3 4 5"


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("name", ["min", "max"])
def test_extrema(lua: Lua, name: str, dim: int) -> None:
    assert source(name, "method", 1 + 2 * 3) is not None
    answer = lua.run(f"""
        local few, strided = torch.Tensor(3, 4, 5), torch.Tensor(3, 4, 6):narrow(3, 1, 5)
        local v = {{ 3, 1, 3, -2, 0/0, 7, 7, -1/0, 1/0, 2, 0, 5, 4 }}
        local k = 0
        few:apply(function() k = k + 1 return v[(k * k + k) % 13 + 1] end)
        strided:copy(few)
        local a, i = few:{name}({dim})
        local b, j = strided:{name}({dim})
        assert(torch.type(a) == torch.type(b) and torch.type(i) == torch.type(j))
        assert(a:isSameSizeAs(b) and i:isSameSizeAs(j) and a:isContiguous() and i:isContiguous())
        assert(i:equal(j), tostring(i) .. tostring(j))
        assert(a:eq(b):sum() + a:ne(a):cmul(b:ne(b)):sum() == a:nElement())
        io.write(a:ne(a):sum() > 0 and a:eq(a):sum() > 0 and 'some nan' or 'all the same')
    """)
    assert answer == "some nan"


@pytest.mark.parametrize("dim", ["0", "4", "-1", "1.5"])
def test_extrema_of_no_dimension(lua: Lua, dim: str) -> None:
    few = f"torch.ones(2, 3, 2):max({dim})"
    many = f"torch.ones(20, 30, 2):max({dim})"
    if dim == "1.5":
        assert lua.run(f"io.write(tostring(({few}):size(1)), ({many}):size(1))") == "11"
    else:
        assert lua.error(few) == lua.error(many)


def test_new_tensor_as_source(lua: Lua) -> None:
    assert lua.error("torch.ones(2):cmax()").startswith("inconsistent tensor size, expected r []")


def test_there_are_such_calls() -> None:
    named = {name for name, _, _ in CALLS}
    assert {"add", "mul", "cmul", "exp", "lt", "sum", "fill", "clone"} <= named
