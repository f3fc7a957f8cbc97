"""What LuaJIT does by itself on few elements is what Python does, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import pytest

import th_shell.runtime.ops  # noqa: F401 (adds the rows)
from tests.conftest import Lua
from tests.data_files import data
from th_shell.runtime.calls.table import TABLE
from th_shell.runtime.compute.formulas import has_formula, source
from th_shell.runtime.shell import Engine

MOST_ARGUMENTS = 5

# Prints all that calls give and change, for tensors that lie in memory in several ways.
PRELUDE = """
local inf, nan = 1 / 0, 0 / 0
local VALUES = {
  { 0, -0.0, 1, -1, 2.5, -2.5, inf, -inf, nan, 1e-300, 0.5, 3, 7, -0.75, 1e17 },
  { 1, 2, -1, 0, -0.0, nan, 3, inf, -inf, 2.5, 0.1, -7, 1e-5, 1, -0.75 },
  { -3, nan, 0.5, 2, inf, 1, 0, 4, -1.5, -0.0, -inf, 1e9, 1, 0.3, 2.5 },
  { 2, 3, 5, -7, 1, nan, inf, 0, 0.5, -1, 9, -inf, 8, 1, -0.0 },
  { 0.1, 0.2, 0.3, 0.7, 1.1, 1.3, -1.7, 1.9, 2.3, -0.9, 0.6, 4.1, 3.3, 1e-3, 5.7 },
  { 1.1, -1.3, 0.7, 1.9, 2.9, 0.4, 0.9, 1.2, -3.1, 0.8, 6.1, 7.3, 0.11, 0.13, 2.2 },
}
local LAYOUTS = {
  few = function() return torch.Tensor(3, 5) end,
  narrowed = function() return torch.Tensor(3, 8):narrow(2, 2, 5) end,
  transposed = function() return torch.Tensor(5, 3):t() end,
  selected = function() return torch.Tensor(3, 2, 5, 4):select(4, 2):select(2, 1) end,
  row = function() return torch.Tensor(1, 5):expand(3, 5) end,
  column = function() return torch.Tensor(3, 1):expand(3, 5) end,
  cube = function() return torch.Tensor(3, 2, 5):transpose(1, 3) end,
  many = function() return torch.Tensor(100, 15) end,
}
local NUMBERS = {
  { 2.5, -1, 3, 0.5, 2 }, { 2, 0.1, 1, 2, 1 }, { 1, 2, 0, 1, 2 }, { 0, 1, 2, 3, 0.5 },
}
local function set(x, k)
  local v, i = VALUES[k], 0
  return x:apply(function() i = i + 1 return v[(i - 1) % 15 + 1] end)
end
local function text(x)
  if type(x) ~= 'userdata' then return x ~= x and 'nan' or tostring(x) end
  local words = { torch.type(x), table.concat(x:size():totable(), 'x') }
  words[2] = words[2] .. table.concat(x:stride():totable(), '/')
  x:clone():apply(function(v)
    words[#words + 1] = v ~= v and 'nan' or ('%.17g'):format(v)
  end)
  return table.concat(words, ' ')
end
local function try(call, pattern, kinds, k, n, twice)
  local args = {}
  for i = 1, #pattern do
    local layout = LAYOUTS[kinds[(i - 1) % #kinds + 1]]
    args[i] = pattern:sub(i, i) == 'T' and set(layout(), (i + k) % 6 + 1) or NUMBERS[n][i]
  end
  if twice then args[2] = args[1] end
  local found = { pcall(call, unpack(args)) }
  for i = 2, #found do
    local result = found[i]
    for j = 1, #pattern do if rawequal(result, args[j]) then result = 'argument ' .. j end end
    found[i] = text(result)
  end
  for i = 1, #args do found[#found + 1] = text(args[i]) end
  found[1] = tostring(found[1])
  print(table.concat(kinds, ' '), n, table.concat(found, '; '))
end
local MIXED = {
  { 'few' }, { 'narrowed' }, { 'transposed' }, { 'selected' }, { 'many' }, { 'cube' }, { 'row' },
  { 'few', 'row', 'column', 'transposed' }, { 'transposed', 'few', 'selected' },
  { 'narrowed', 'column', 'few', 'row' }, { 'few', 'narrowed' }, { 'column', 'few' },
}
local TYPES = { 'Double', 'Float', 'Long', 'Float', 'Byte', 'Double', 'Int' }
local function try_with(call, pattern, turn)
  torch.setdefaulttensortype('torch.' .. TYPES[turn % #TYPES + 1] .. 'Tensor')
  local kinds, n = MIXED[turn % #MIXED + 1], math.floor(turn / 12) % #NUMBERS + 1
  try(call, pattern, kinds, turn % 6, n, pattern:find('^TT') and turn % 3 == 0)
end
"""

_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}


@cache
def all_calls() -> list[tuple[str, str, str]]:
    """All calls that Lua can run: operation, 'method' or 'function', kinds of arguments."""
    return sorted(calls())


def calls() -> Iterator[tuple[str, str, str]]:
    """The same, in any order."""
    for name, space in product(filter(has_formula, TABLE), ("method", "function")):
        for count in range(1, MOST_ARGUMENTS + 1):
            for pattern in product("TN", repeat=count):
                code = sum(("", "T", "N").index(kind) * 3**i for i, kind in enumerate(pattern))
                if source(name, space, code) is not None:
                    yield name, space, "".join(pattern)


def _expression(name: str, space: str, pattern: str) -> str:
    names = "abcde"[: len(pattern)]
    if name == "operator_unm":
        return "-a"
    if name.startswith("operator_"):
        return f" {_OPERATORS[name.removeprefix('operator_')]} ".join(names)
    if space == "method" and pattern[0] == "N":
        return f"torch.Tensor.{name}({', '.join(names)})"
    if space == "method":
        return f"a:{name}({', '.join(names[1:])})"
    return f"torch.{name}({', '.join(names)})"


TURNS = 84  # all layouts with all types


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("part", "turns"),
    [(part, 3) for part in range(8)]
    + [pytest.param(part, TURNS, marks=pytest.mark.slow) for part in range(8, 16)],
)
def test_same_as_python(lua: Lua, by_python: Callable[[str], None], part: int, turns: int) -> None:
    lines = []
    for at, (name, space, pattern) in enumerate(all_calls()[part % 8 :: 8]):
        names = ", ".join("abcde"[: len(pattern)])
        call = f"function({names}) return {_expression(name, space, pattern)} end"
        at *= turns + 1
        lines.append(
            f"io.write('{name} {pattern}\\n') for turn = {at}, {at + turns - 1} do "
            f"try_with({call}, '{pattern}', turn) end"
        )
    program = PRELUDE + "\n".join(lines)
    found = lua.run(program)
    by_python(program)
    expected = lua.output()
    assert found.count("\n") > 100
    for a, b in zip(found.splitlines(), expected.splitlines(), strict=True):
        assert a == b


OVERLAPS = """
local x, first, second, wide, cube
local some = {
  function() first:add(second) end,
  function() second:add(first) end,
  function() first:t():cmul(first:t()) end,
  function() wide:narrow(2, 1, 3):add(wide:narrow(2, 2, 3)) end,
  function() wide:narrow(2, 2, 3):add(wide:narrow(2, 1, 3)) end,
  function() wide:add(wide:t()) end,
  function() wide:copy(wide:t()) end,
  function() wide:cmax(wide:t(), 7) end,
  function() x:narrow(1, 1, 6):view(6, 1):expand(6, 4):add(1) end,
  function() x:unfold(1, 5, 2):mul(2) end,
  function() torch.sum(x:narrow(1, 3, 4):view(4, 1), first, 2) end,
  function() torch.cumsum(second, first, 2) end,
  function() torch.sum(wide:sub(1, 3, 2, 2), cube:select(2, 4), 2) end,
  function() torch.norm(wide:sub(2, 5, 6, 6):t(), second:sub(1, 3, 1, 4), 2, 1) end,
  function() wide:select(2, 3):add(-1, wide:select(1, 3)) end,
  function() wide:narrow(2, 1, 3):add(-1, wide:narrow(2, 4, 3)) end,
  function() wide:narrow(2, 4, 2):t():cmul(wide:narrow(2, 2, 2):t()) end,
  function() wide:sub(2, 5, 3, 4):cdiv(wide:sub(1, 4, 1, 2), wide:sub(3, 6, 5, 6)) end,
  function() x:narrow(1, 5, 24):view(4, 6):narrow(2, 1, 4):add(first:sub(1, 4, 3, 6)) end,
  function() x:narrow(1, 5, 24):view(4, 6):narrow(2, 1, 3):add(first:sub(1, 4, 2, 4)) end,
  function() cube:narrow(3, 1, 1):add(cube:narrow(3, 3, 1)) end,
  function() cube:narrow(2, 1, 2):narrow(3, 1, 2):mul(cube:narrow(2, 3, 2):sum()) end,
  function() cube:narrow(2, 1, 2):narrow(3, 1, 2):cmul(cube:narrow(2, 3, 2):narrow(3, 2, 2)) end,
  function() wide:select(2, 3):copy(wide:select(2, 1)) end,
  function() wide:narrow(2, 1, 2):cmul(wide:narrow(2, 4, 2), wide:narrow(2, 3, 2)) end,
  function() first:view(2, 2, 2, 3):select(3, 1):copy(first:view(2, 2, 2, 3):select(3, 2)) end,
  function() x:narrow(1, 1, 4):view(1, 4, 1):expand(3, 4, 2):add(2, first:view(3, 4, 2)) end,
  function() x:narrow(1, 30, 6):view(3, 1, 2):expand(3, 4, 2):cmul(first:view(3, 4, 2)) end,
  function() x:narrow(1, 40, 1):expand(6):add(3, x:narrow(1, 20, 6)) end,
}
for _, name in ipairs{ 'torch.DoubleTensor', 'torch.FloatTensor' } do
  x = torch.range(1, 40):type(name)
  first, second = x:narrow(1, 1, 24):view(4, 6), x:narrow(1, 4, 24):view(4, 6)
  wide, cube = x:narrow(1, 1, 36):view(6, 6), x:narrow(1, 1, 36):view(3, 4, 3)
  for _, f in ipairs(some) do
    f()
    print(table.concat(x:totable(), ' '))
    x:copy(torch.range(1, 40))
  end
end
"""


def test_overlaps(lua: Lua, by_python: Callable[[str], None]) -> None:
    found = lua.run(OVERLAPS)
    by_python(OVERLAPS)
    assert found == lua.output()
    assert len(set(found.splitlines())) > 10


# Results of other sizes, and results that have gaps.
RESULTS = """
for _, kind in ipairs{ 'Double', 'Float', 'Long' } do
  torch.setdefaulttensortype('torch.' .. kind .. 'Tensor')
  local used, other = torch.Tensor(3, 7), torch.LongTensor(2)
  for _, sizes in ipairs{ { 15 }, { 3, 5 }, { 5, 1, 3 }, { 1, 3, 1, 5 }, { 3, 1, 1, 1, 5 } } do
    local x = set(torch.Tensor():resize(torch.LongStorage(sizes)), #sizes)
    for d = 1, #sizes do
      for _, r in ipairs{ torch.Tensor(), used, x:clone() } do
        print(text(r:sum(x, d)), text(torch.max(r, other, x, d)), text(other))
        print(text(r:cumsum(x, d)), text(r:prod(x, d)), kind == 'Long' or text(r:norm(x, 2, d)))
      end
      sizes[d], sizes[#sizes + 1] = 1, 2
      local apart = torch.Tensor():resize(torch.LongStorage(sizes)):zero()
      sizes[d], sizes[#sizes] = x:size(d), nil
      local r = apart:select(#sizes + 1, 2)
      print(text(r:sum(x, d)), kind == 'Long' or text(r:mean(x, d)), text(apart))
    end
    print(text(x:sum(x, 1)), text(used:sum(used, 1)))
  end
end
"""


@pytest.mark.thorough
def test_results_of_other_sizes(lua: Lua, by_python: Callable[[str], None]) -> None:
    found = lua.run(PRELUDE + RESULTS)
    by_python(PRELUDE + RESULTS)
    assert found == lua.output()
    assert found.count("torch.") > 500


FLAGS = """
for _, kind in ipairs{ 'Float', 'Long' } do
  torch.setdefaulttensortype('torch.' .. kind .. 'Tensor')
  local x, y = set(torch.Tensor(3, 5), 1), set(torch.Tensor(5, 3):t(), 2)
  local memory = torch.ByteTensor(8, 6)
  for _, name in ipairs{ 'lt', 'gt', 'le', 'ge', 'eq', 'ne' } do
    for _, r in ipairs{ torch.ByteTensor(3, 5), memory:narrow(1, 1, 5):narrow(2, 2, 3):t(),
        memory:narrow(1, 2, 1):narrow(2, 1, 5):expand(3, 5), torch.ByteTensor(15),
        torch.ByteTensor(), torch.Tensor(3, 5), torch.ShortTensor(3, 5) } do
      for _, b in ipairs{ y, 1, torch.Tensor(2) } do
        local ok, result = pcall(x[name], r, x, b)
        print(ok, rawequal(result, r) or result, text(r), text(memory))
      end
    end
  end
end
"""


@pytest.mark.thorough
def test_flags_in_a_destination(lua: Lua, by_python: Callable[[str], None]) -> None:
    found = lua.run(PRELUDE + FLAGS)
    by_python(PRELUDE + FLAGS)
    assert found == lua.output()
    assert found.count("true") > 150


@pytest.mark.parametrize("call", data(__file__, "test_past_the_end"))
def test_past_the_end(lua: Lua, call: str) -> None:
    answer = lua.error(f"local x = torch.ones(4, 5) x:storage():resize(12) {call}")
    assert answer.endswith("elements of its storage, which holds 12")


# A finalizer runs wherever memory is allocated. It moves the elements of both tensors each time.
FINALIZERS = """
collectgarbage('setpause', 1)
collectgarbage('setstepmul', 1000)
for _, name in ipairs{ 'torch.DoubleTensor', 'torch.FloatTensor' } do
  torch.setdefaulttensortype(name)
  local x, y, r = torch.ones(4, 5), torch.ones(5, 4):t(), torch.Tensor(4, 5)
  local size, moves = 20, 0
  local function litter()
    local proxy = newproxy(true)
    getmetatable(proxy).__gc = function()
      moves, size = moves + 1, size == 20 and 100000 or 20
      x:storage():resize(size) y:storage():resize(size)
      local z = x:clone():cmax(y, 0.5):sum(1)
    end
  end
  local calls = {
    function() return torch.add(x, y) end, function() return torch.cmax(r, x, y) end,
    function() return x:sum() end, function() return y:sum(2) end, function() return x:max(1) end,
    function() return x % 0.75 end, function() return torch.gt(r, y, 0.5) end,
    function() return torch.cumsum(x, 2) end, function() return y:norm(2, 1) end,
  }
  local rounds = 0
  repeat
    rounds = rounds + 1
    for k, f in ipairs(calls) do
      litter()
      local ok, a = pcall(f)
      if not ok then error(a) end
      local sum = type(a) == 'number' and a or a:sum()
      local want = ({ 40, 20, 20, 20, 5, 5, 20, 60, nil })[k]
      if want and sum ~= want then error(k .. ' gave ' .. sum) end
    end
  until rounds >= 60 and moves >= 100 or rounds == 2000
  if moves < 100 then error('too few finalizers: ' .. moves) end
end
collectgarbage('setpause', 200)
collectgarbage('setstepmul', 200)
"""


@pytest.mark.thorough
def test_finalizers_that_move_elements() -> None:
    engine = Engine()  # with few objects, so that it collects often
    engine.run(engine.compile(FINALIZERS.encode(), b"=lua"))
    engine.close()


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


EXTREMA = """
for _, name in ipairs{{ 'torch.DoubleTensor', 'torch.FloatTensor' }} do
  torch.setdefaulttensortype(name)
  for dim = 1, 3 do
    local v, k = {{ 3, 1, 3, -2, 0/0, 7, 7, -1/0, 1/0, 2, 0, 5, 4 }}, 0
    local few, strided = torch.Tensor(3, 4, 5), torch.Tensor(4, 6):t():narrow(1, 2, 3)
    few:apply(function() k = k + 1 return v[(k * k + k) % 13 + 1] end)
    strided:apply(function() k = k + 1 return v[(k * k + k) % 13 + 1] end)
    for _, x in ipairs{{ few, dim < 3 and strided or few }} do
      local values, places = x:{name}(dim)
      print(values, places)
      local r, i = torch.Tensor():resizeAs(values), torch.LongTensor():resizeAs(places)
      local a, b = torch.{name}(r, i, x, dim)
      assert(rawequal(a, r) and rawequal(b, i))
      print(a, b)
      torch.{name}(torch.Tensor(), i, x, dim)
      print(pcall(torch.{name}, r, torch.Tensor(3), x, dim))
      print(x:{name}())
    end
  end
end
"""


@pytest.mark.parametrize("name", ["min", "max"])
def test_extrema(lua: Lua, by_python: Callable[[str], None], name: str) -> None:
    program = EXTREMA.format(name=name)
    found = lua.run(program)
    by_python(program)
    assert found == lua.output()
    assert " nan" in found
    assert found.count("LongTensor") > 20


@pytest.mark.parametrize("dim", ["0", "4", "-1", "1.5"])
def test_extrema_of_no_dimension(lua: Lua, dim: str) -> None:
    few = f"torch.ones(2, 3, 2):max({dim})"
    many = f"torch.ones(20, 30, 2):max({dim})"
    if dim == "1.5":
        assert lua.run(f"io.write(tostring(({few}):size(1)), ({many}):size(1))") == "11"
    else:
        assert lua.error(few) == lua.error(many)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "cumsum", "norm"])
@pytest.mark.parametrize(
    ("dim", "number"), [("0", 0), ("3", 3), ("-1", -1), ("1e15", -1530494976), ("0/0", 0)]
)
def test_results_along_no_dimension(lua: Lua, name: str, dim: str, number: int) -> None:
    """Nothing is looked up along it, also where the result is no contiguous tensor."""
    numbers = f"2, {dim}" if name == "norm" else dim
    places = ", torch.LongTensor(3, 3):t()" if name == "max" else ""
    message = f"bad argument #2 to '{name}' (dimension {number} out of range)"
    if name == "norm":
        message = f"bad argument #3 to 'norm' (invalid dimension {number})"
    for size in (3, 300):
        lua(f"x = torch.ones({size}, {size})")
        assert lua.error(f"x.{name}(torch.Tensor(3, 3):t(){places}, x, {numbers})") == message


def test_new_tensor_as_source(lua: Lua) -> None:
    assert lua.error("torch.ones(2):cmax()").startswith("inconsistent tensor size, expected r []")


@pytest.mark.thorough
def test_there_are_such_calls() -> None:
    named = {name for name, _, _ in all_calls()}
    assert {"add", "mul", "cmul", "exp", "lt", "sum", "max", "fill", "clone"} <= named


def test_results_of_another_type_get_other_sizes(lua: Lua) -> None:
    lua("m, x = torch.ByteTensor(5), torch.FloatTensor{{3, 2, 1}}")
    for n in range(1, 4):
        lua(f"y = x:narrow(2, 1, {n}):clone() x.lt(m, y, 3)")
        assert lua("print(m:nDimension(), m:size(2), m:sum())") == f"2\t{n}\t{n - 1}\t\n"
    lua("m, x, y = nil, nil, nil")
