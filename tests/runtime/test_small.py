"""What Lua's functions for few elements do is what Python does, bit for bit.

Each operation is called with random sizes, layouts, shared memory and indices, among them bad
ones: once as programs call it, and once as the function that such a call is passed on to, which is
Python's way. Results, arguments and messages must be the same; and enough calls must have been
computed without Python.
"""

from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_th
from tests.runtime.finalizing import FINALIZING

PRELUDE = data(__file__, "PRELUDE")

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
OTHERS = {**INDEXING, **ORDER, **BUILD, **PARTS}
PYTHONS = {("Long", name.strip()) for name in ("indexAdd", *ORDER)}


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["Double", "Float"])
@pytest.mark.parametrize("name", BLAS)
def test_products_and_factors(lua: Lua, kind: str, name: str) -> None:
    compare(lua, kind, name, BLAS[name])


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for name in OTHERS
        for kind in KINDS
        if (kind, name.strip()) not in PYTHONS and not (name in BUILD and kind != "Double")
    ],
)
def test_others(lua: Lua, kind: str, name: str) -> None:
    compare(lua, kind, name, OTHERS[name])


@pytest.mark.sample(5)
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
    lua.run(data(__file__, "test_destinations_are_resized"))


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
