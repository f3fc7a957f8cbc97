"""Tensors that Lua makes by itself outlive what Python knew of them."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import Lua
from tests.data_files import data
from tests.runtime.finalizing import FINALIZING

_USES = data(__file__, "_USES")


@pytest.mark.sample(20)
@pytest.mark.parametrize(("first", "second"), list(product(_USES, _USES)))
def test_blocks_become_known_more_than_once(lua, first: str, second: str) -> None:  # type: ignore[no-untyped-def]
    program = f"""
        local function first(x) {_USES[first]} end
        local function second(x) {_USES[second]} end
        local function collect() for _ = 1, 3 do collectgarbage() end end
        local b = torch.zeros(12)
        local v, w = b:view(3, 4), b:narrow(1, 2, 5)
        first(v:view(12))
        v = nil
        collect()
        second(b)
        b = nil
        collect()
        first(w:view(5))
        print(w[1], w[5])
    """
    assert lua.run(program) == "0\t0\t\n"


@pytest.mark.parametrize("use", _USES)
def test_views_follow_a_storage_that_leaves_its_block(lua, use: str) -> None:  # type: ignore[no-untyped-def]
    program = f"""
        local function use(x) {_USES[use]} end
        local b = torch.zeros(12)
        local v, w = b:view(3, 4), b:view(4, 3)
        use(v:view(12))
        b:resize(200000):fill(3)
        b, v = nil, nil
        for _ = 1, 3 do collectgarbage() end
        for _ = 1, 20 do torch.Tensor(200000):fill(7) end
        print(w:sum(), w:storage():size())
    """
    assert lua.run(program) == "36\t200000\t\n"


# What may be done with tensor i of a list, which then may be replaced; each keeps all numbers.
_STEPS = data(__file__, "_STEPS")


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(_STEPS), st.integers(1, 4), st.integers(1, 4)),
        min_size=5,
        max_size=40,
    )
)
def test_nothing_is_lost_between_collections(engine, steps) -> None:  # type: ignore[no-untyped-def]
    lines = [f"do {step.format(i=i, j=j)} check() end" for step, i, j in steps]
    program = f"""
        local t = {{}}
        for k = 1, 4 do t[k] = torch.zeros(4) end
        local function check()
          for k = 1, 4 do
            if t[k][1] ~= 0 or t[k][2] ~= 0 then error(k .. ': ' .. tostring(t[k])) end
          end
        end
        {" ".join(lines)}
    """
    engine.run(engine.compile(program.encode()))


# A finalizer may run between any two steps of Lua's; here a hook does what one may do, after one
# step, two steps and so on, until the operation has ended before: each finalizer after every second
# step, and after the others where the tensor is made in another way.
_AT_EVERY_STEP = (
    FINALIZING
    + """
    jit.off() jit.flush()
    local function numbers() return torch.range(1, 12):add(0) end
    local makers = {
      block = numbers,
      view = function() return numbers():view(3, 4) end,
      storage = function() return torch.range(1, 2000):view(4, 500)[2] end,
    }
    local finalizers = {
      ask = function(x) torch.sort(x) end,
      move = function(x) x:storage():resize(3000) end,
      add = function(x) local y = x + x y:add(3):cmul(x) end,
      dot = function(x) local y = torch.ones(5) y:dot(y) end,
    }
    local operations = {
      sort = function(x) return torch.sort(x:view(-1)):sum() end,
      sum = function(x) return x:sum() end,
      plus = function(x) return (x + x):sum() end,
      add = function(x) return x:add(x):sum() end,
      half = function(x) return torch.add(x, 0.5):cmul(x):sum() end,
      dot = function(x) return x:dot(x) end,
      view = function(x) return x:view(-1)[2] end,
      row = function(x) local r = x[1] return type(r) == 'number' and r or r:sum() end,
      storage = function(x) return x:storage()[2] end,
      narrow = function(x) return x:narrow(1, 1, 1):sum() end,
      t = function(x) return x:dim() == 2 and x:t():sum() or 0 end,
      range = function(x) return x[{{1, 2}}]:sum() end,
      cat = function(x) return torch.cat({x, x}, 1):sum() end,
      data = function(x) return tonumber(x:data()[0]) end,
    }
    local writes = { add = true }
    let_wait(finalizers)
    local tried, wrong, turn = 0, {}, 0
    for making, make in pairs(makers) do
      turn = turn + 1
      for name, operation in pairs(operations) do
        local right = operation(make())
        turn = turn + 1
        for finalizing, finalize in pairs(finalizers) do
          -- What is written goes to memory that the elements have left.
          local steps = writes[name] and finalizing == 'move' and 0 or 150
          turn = turn + 1
          for step = turn % 2 + 1, steps, 2 do
            local x, ended = make(), true
            sethook(function()
              sethook()
              ended = false
              finalize(x)
            end, '', step)
            local ok, result = pcall(operation, x)
            sethook()
            if ended then break end
            tried = tried + 1
            if not ok or result ~= right then
              wrong[#wrong + 1] = table.concat({making, name, finalizing, tostring(result)}, ' ')
            end
          end
        end
      end
    end
    print(tried > 1000 or tried, #wrong, wrong[1])
"""
)


@pytest.mark.thorough
def test_a_finalizer_may_use_a_tensor_at_any_moment(lua) -> None:  # type: ignore[no-untyped-def]
    try:
        assert lua.run(_AT_EVERY_STEP) == "true\t0\tnil\t\n"
    finally:
        lua("jit.on()")


# The same where a finalizer changes the sizes of what an operation is at: it may run wherever
# Lua allocates memory. The operation goes on with the elements that it found, or says what is
# wrong; positions that it has checked stay what they were.
_RESIZED = (
    FINALIZING
    + """
    jit.off() jit.flush()
    local positions
    local operations = {
      sort = function(x) return torch.sort(x, 1) end,
      kthvalue = function(x) return torch.kthvalue(x, 2) end,
      mode = function(x) return torch.mode(x, 1) end,
      topk = function(x) return torch.topk(x, 3, 2, true, true) end,
      gather = function(x) return x:gather(2, positions) end,
      randperm = function(x) return x:randperm(24) end,
      view = function(x) return x[2] end,
    }
    local finalizers = {
      shrink = function(x) x:resize(1) end,
      grow = function(x) x:resize(30, 40) end,
    }
    let_wait(finalizers)
    local tried, wrong = 0, {}
    for name, operation in pairs(operations) do
      for _, finalize in pairs(finalizers) do
        for step = 1, 300 do
          local x, ended = torch.randn(30, 6):narrow(1, 3, 4), true
          positions = torch.LongTensor(4, 6):fill(2)
          local allocations, before = 0, collectgarbage('count')
          sethook(function()
            local now = collectgarbage('count')
            if now > before then allocations = allocations + 1 end
            before = now
            if allocations == step then
              sethook()
              ended = false
              finalize(x)
              positions:fill(2 ^ 50)
            end
          end, '', 1)
          local ok, message = pcall(operation, x)
          sethook()
          if ended then break end
          tried = tried + 1
          local ours = not ok and (message:find('internal error') or message:find('%[th%]'))
          if ours then wrong[#wrong + 1] = name .. ': ' .. message end
        end
      end
    end
    print(tried > 450 or tried, #wrong, wrong[1])
"""
)


@pytest.mark.thorough
def test_a_finalizer_may_resize_what_an_operation_is_at(lua) -> None:  # type: ignore[no-untyped-def]
    try:
        assert lua.run(_RESIZED) == "true\t0\tnil\t\n"
    finally:
        lua("jit.on()")


AT_EACH_ALLOCATION = data(__file__, "AT_EACH_ALLOCATION")


@pytest.mark.thorough
def test_a_storage_is_kept_wherever_the_collector_ends_its_cycle(lua: Lua) -> None:
    assert lua.run(AT_EACH_ALLOCATION) == "0\t\n"
