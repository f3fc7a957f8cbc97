"""What Lua's functions for few elements do is what Python does, bit for bit.

Each operation is called with random sizes, layouts, shared memory and indices, among them bad
ones: once as programs call it, and once as the function that such a call is passed on to, which is
Python's way. Results, arguments and messages must be the same; and enough calls must have been
computed without Python.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_th
from tests.runtime.finalizing import FINALIZING

PRELUDE = """
local ffi = require 'ffi'
local random = math.random
local nan, inf = 0 / 0, 1 / 0
local SPECIAL = { nan, inf, -inf, 0, -0.0, 1e-310, 1e300 }

-- The function that a function of torch passes calls on to.
local function python_of(f)
  for i = 1, 10 do
    local name, value = debug.getupvalue(f, i)
    if name == 'slow' then return value, i end
  end
end

-- Counts the calls that are passed on.
local passed = 0
local function counted(f)
  local slow, at = python_of(f)
  debug.setupvalue(f, at, function(...) passed = passed + 1 return slow(...) end)
  return slow, function() debug.setupvalue(f, at, slow) end
end

-- A tensor of some sizes in a random layout of a memory that is larger.
local function layout(kind, sizes)
  local n = #sizes
  local order, strides, span = {}, {}, 1
  for d = 1, n do order[d] = d end
  if random() < 0.4 then -- transposed
    for d = n, 2, -1 do
      local e = random(1, d)
      order[d], order[e] = order[e], order[d]
    end
  end
  local gap = random() < 0.3 and random(2, 3) or 1
  span = gap
  for d = n, 1, -1 do
    strides[order[d]] = span
    span = span * (sizes[order[d]] + (random() < 0.2 and 1 or 0))
  end
  if n > 0 and random() < 0.1 then strides[random(1, n)] = 0 end
  local offset = random() < 0.3 and random(1, 5) or 0
  local storage = torch[kind .. 'Storage'](math.max(span, 1) + offset + 3)
  local t = torch[kind .. 'Tensor']()
  t:set(storage, offset + 1, torch.LongStorage(sizes), torch.LongStorage(strides))
  if random() < 0.02 then storage:resize(math.max(1, span - 1)) end -- too small
  return t
end

function fill(t, make)
  local s = t:storage()
  for i = 1, s:size() do s[i] = make() end
  return t
end

local function real(kind)
  if kind == 'Float' or kind == 'Double' then
    return function()
      return random() < 0.03 and SPECIAL[random(1, #SPECIAL)] or random() * 4 - 2
    end
  end
  return function() return random(0, 100) end
end

function tensor(kind, ...) return fill(layout(kind, { ... }), real(kind)) end

function indices(limit, ...)
  local bad = random() < 0.05
  return fill(layout('Long', { ... }), function()
    return bad and random() < 0.2 and random(-1, 1) * 2 ^ random(0, 62) or random(1, limit)
  end)
end

function mask(...)
  local bad = random() < 0.03
  return fill(layout('Byte', { ... }), function() return bad and random(0, 2) or random(0, 1) end)
end

-- The bytes of a value, and of a tensor's whole storage.
local function bytes(value)
  if torch.isTensor(value) then
    local s = value:storage()
    local sizes = table.concat(value:size():totable(), 'x')
    local strides = table.concat(value:stride():totable(), ',')
    local width = value:elementSize()
    local data = s and ffi.string(s:data(), s:size() * width) or ''
    return table.concat({ value:type(), sizes, strides, value:storageOffset(), data }, ' ')
  elseif type(value) == 'number' then
    return ffi.string(ffi.new('double[1]', value), 8)
  end
  return tostring(value)
end

-- The same call twice on copies of the memory; the tensors of a call may have one storage.
local function copies(args)
  local storages, result = {}, {}
  for i = 1, args.n do
    local value = args[i]
    if torch.isTensor(value) and value:dim() > 0 then
      local s = value:storage()
      local key = tostring(s:data())
      if not storages[key] then
        local width = value:elementSize()
        storages[key] = s.new(s:size())
        ffi.copy(storages[key]:data(), s:data(), s:size() * width)
      end
      value = value.new():set(storages[key], value:storageOffset(), value:size(), value:stride())
      if storages[key]:size() > s:size() then storages[key]:resize(s:size()) end
    elseif torch.isTensor(value) then
      value = value.new()
    end
    result[i] = value
  end
  return result
end

local python_random, python_normal = python_of(torch.random), python_of(torch.normal)

-- What a call gives and leaves, as one string. seed: if not nil, that of the default generator,
-- whose next numbers are then part of it.
local function outcome(f, args, n, seed)
  if seed then torch.manualSeed(seed) end
  local results = { pcall(f, unpack(args, 1, n)) }
  if seed then results[#results + 1] = python_random() + python_normal() end
  local parts = {}
  for i = 1, math.max(#results, 2) do
    local value = results[i]
    for k = 1, n do
      if torch.isTensor(value) and value == args[k] then value = 'argument ' .. k end
    end
    parts[#parts + 1] = bytes(value)
  end
  for i = 1, n do parts[#parts + 1] = bytes(args[i]) end
  return table.concat(parts, '|')
end

-- Compares `count` calls of f with arguments that make() gives; prints those that differ, and how
-- many did not reach Python.
function compare(f, count, make, seeded)
  local slow, restore = counted(f)
  local wrong, before = 0, passed
  for k = 1, count do
    local args = { make() }
    args.n = select('#', unpack(args))
    local one, two = copies(args), copies(args)
    local found = outcome(f, one, args.n, seeded and k)
    local expected = outcome(slow, two, args.n, seeded and k)
    if found ~= expected then
      wrong = wrong + 1
      if wrong == 1 then
        for i = 1, args.n do
          local a = args[i]
          if torch.isTensor(a) then
            print(i, a:type(), table.concat(a:size():totable(), 'x'),
              table.concat(a:stride():totable(), ','), a:storageOffset(), a:storage():size())
          else
            print(i, a)
          end
        end
        print(pcall(f, unpack(copies(args), 1, args.n)))
        print(pcall(slow, unpack(copies(args), 1, args.n)))
      end
    end
  end
  restore()
  return wrong, 1 - (passed - before) / count
end
"""

COUNT = 20

# What makes the arguments of a random call; k, l, m: sizes.
BLAS = data(__file__, "BLAS")

INDEXING = data(__file__, "INDEXING")

BUILD = data(__file__, "BUILD")

ORDER = data(__file__, "ORDER")

PARTS = data(__file__, "PARTS")

RANDOM = data(__file__, "RANDOM")


def compare(lua: Lua, kind: str, name: str, make: str, seeded: bool = False) -> None:
    """Compare a function of torch, or the method of a class; the name may have blanks behind it."""
    function = name.strip() if name.startswith("torch.") else f"torch.{kind}Tensor.{name.strip()}"
    program = f"""{PRELUDE}
        math.randomseed(7)
        local last
        local function T(...)
          if last and random() < 0.1 then -- the memory of another argument
            local t = layout_of(last, ...)
            if t then return t end
          end
          return tensor('{kind}', ...)
        end
        local function R(...)
          last = tensor('{kind}', ...)
          return last
        end
        local function N() return ({{ 0, 1, 2.5, -1, nan }})[random(1, 5)] end
        local function F(...) -- with equal elements
          return fill(tensor('{kind}', ...), function() return random(0, 9) end)
        end
        local function C(...) return fill(torch.{kind}Tensor(...), real('{kind}')) end
        local function D(t) -- with few equal elements
          return fill(t, function() return (random() - 0.5) * 2 ^ random(1, 40) end)
        end
        local I, L = indices, function(...) return tensor('Long', ...) end
        function layout_of(t, ...)
          local sizes, n = {{ ... }}, 1
          for _, s in ipairs(sizes) do n = n * s end
          if n > t:nElement() or not t:isContiguous() then return nil end
          return t.new():set(t:storage(), t:storageOffset(), torch.LongStorage(sizes))
        end
        local wrong, in_lua = compare({function}, {COUNT}, function()
          local k, l, m = random(1, 5), random(1, 5), random(1, 5)
          if random() < 0.1 then k, l = random(20, 30), random(10, 20) end
          last = nil
          {make}
        end, {str(seeded).lower()})
        print(wrong, in_lua > 0.15 or in_lua)
    """
    try:
        assert lua.run(program) == "0\ttrue\t\n"
    finally:
        lua("torch.setdefaulttensortype('torch.DoubleTensor')")


KINDS = ("Double", "Float", "Byte", "Short", "Long")
SLOW = pytest.mark.slow
OTHERS = {**INDEXING, **ORDER, **BUILD, **PARTS}
PYTHONS = {("Long", name.strip()) for name in ("indexAdd", *ORDER)}


@pytest.mark.sample(7)
@pytest.mark.parametrize("kind", ["Double", "Float"])
@pytest.mark.parametrize("name", BLAS)
def test_products(lua: Lua, kind: str, name: str) -> None:
    compare(lua, kind, name, BLAS[name])


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, name, marks=[] if k % len(KINDS) == i or name in BUILD else SLOW)
        for k, name in enumerate(OTHERS)
        for i, kind in enumerate(KINDS)
        if (kind, name.strip()) not in PYTHONS and not (name in BUILD and kind != "Double")
    ],
)
def test_others(lua: Lua, kind: str, name: str) -> None:
    compare(lua, kind, name, OTHERS[name])


@pytest.mark.sample(13)
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("Double", name) for name in RANDOM),
        *(("Float", name) for name in ("uniform", "normal", "bernoulli", "random ")),
        *((kind, name) for kind in ("Byte", "Long") for name in ("bernoulli", "random ")),
    ],
)
def test_random_numbers(lua: Lua, kind: str, name: str) -> None:
    compare(lua, kind, name, RANDOM[name], seeded=True)


def test_destinations_are_resized(lua: Lua) -> None:
    lua.run("""
        local x = torch.rand(3, 4)
        for _, make in ipairs{ torch.Tensor, function() return torch.Tensor(20) end } do
          for _, name in ipairs{ 'tril', 'diag', 'sort' } do
            local r, indices = make(), name == 'sort' and torch.LongTensor() or nil
            local result = indices and torch.sort(r, indices, x) or torch[name](r, x)
            assert(rawequal(result, r) and r:equal((torch[name](x))), name)
          end
        end
        local indices, odd = torch.LongTensor(), torch.LongTensor(1, 2)
        assert(rawequal(x.multinomial(indices, x, 2), indices))
        assert(indices:size(1) == 3 and indices:size(2) == 2 and indices:max() <= 4)
        assert(not pcall(x.multinomial, odd, torch.zeros(3, 4), 2) and odd:size(1) == 1)
    """)


# A finalizer may run wherever Lua allocates memory; here a hook does what one may do, after one
# step of Lua's that has allocated, two of them and so on, until the call has ended before.
_FINALIZERS = (
    FINALIZING
    + """
    jit.off() jit.flush()
    local L, B = torch.LongTensor, torch.ByteTensor
    local function numbers() return torch.range(1, 12):view(3, 4) end
    local index, at = L{ { 1, 2, 3, 1 } }, L{ 3, 1 }
    local mask, rows = B(3, 4):fill(1), torch.ones(2, 4)
    local operations = {
      gather = function(x) return x:gather(1, index) end,
      index = function(x) return x:index(1, at) end,
      masked = function(x) return x[mask] end,
      mm = function(x) return torch.mm(x, x:t()) end,
      addmm = function(x) return torch.addmm(0.5, x, 2, x:narrow(2, 1, 3), x) end,
      sort = function(x) return (x:sort(2, true)) end,
      var = function(x) return x:var(1) end,
      cat = function(x) return torch.cat({ x, x }, 1) end,
      times = function(x) return x:repeatTensor(2, 2) end,
    }
    local finalizers = {
      move = function(x) x:storage():resize(30) x:narrow(1, 1, 1):fill(1) end,
      reuse = function(x)
        torch.mm(torch.ones(5, 5), torch.ones(5, 5)) torch.ones(5, 5):var(2)
        torch.ones(50):index(1, L(60):fill(7)) torch.sort(torch.ones(30)) x:storage():resize(13)
      end,
    }
    let_wait(finalizers)
    local tried, wrong = 0, {}
    for name, operation in pairs(operations) do
      local right = operation(numbers())
      local first_row = numbers()
      first_row:narrow(1, 1, 1):fill(1)
      local changed = operation(first_row)
      for finalizing, finalize in pairs(finalizers) do
        for step = 1, 200 do
          local x, ended = numbers(), true
          local allocations, before = 0, collectgarbage('count')
          sethook(function()
            local now = collectgarbage('count')
            if now > before then allocations = allocations + 1 end
            before = now
            if allocations == step then
              sethook()
              ended = false
              finalize(x)
            end
          end, '', 1)
          local ok, result = pcall(operation, x)
          sethook()
          if ended then break end
          tried = tried + 1
          if not ok or not result:equal(right) and not result:equal(changed) then
            wrong[#wrong + 1] = name .. ' ' .. finalizing .. ' ' .. step .. ' ' .. tostring(result)
          end
        end
      end
    end
    print(tried > 300 or tried, #wrong, wrong[1])
"""
)


@pytest.mark.thorough
def test_a_finalizer_may_resize_what_a_function_is_at(lua: Lua) -> None:
    try:
        assert lua.run(_FINALIZERS) == "true\t0\tnil\t\n"
    finally:
        lua("jit.on()")


def test_the_last_finalizers_draw_no_random_numbers(tmp_path: Path) -> None:
    # The stream is gone then, as all that Python has.
    script = tmp_path / "script.lua"
    script.write_text("""
        torch.uniform()
        kept = newproxy(true) -- to the end of the program
        getmetatable(kept).__gc = function() io.write(tostring(pcall(torch.uniform))) end
    """)
    assert run_th(script).stdout == "false"
