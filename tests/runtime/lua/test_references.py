"""Tensors that Lua makes by itself outlive what Python knew of them."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

_USES = {
    "sort": "x:sort()",
    "product": "torch.mm(x:view(1, -1), x:view(-1, 1))",
    "storage": "x:storage()",
    "retain": "x:storage():retain()",
    "print": "tostring(x)",
    "resize": "x:resize(30)",
    "convert": "x:float()",
}


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
_STEPS = [
    "local x = t[{i}] x:add(1) x:add(-1)",
    "t[{i}] = t[{j}]",
    "t[{i}] = t[{j}]:narrow(1, 1, 2)",
    "t[{i}] = t[{j}]:view(-1)",
    "t[{i}] = t[{j}]:clone()",
    "t[{i}] = torch.zeros({j} + 2)",
    "t[{i}]:sort()",
    "tostring(t[{i}])",
    "local s = t[{i}]:storage() s:resize(s:size() + {j})",
    "t[{i}] = torch.Tensor(t[{j}]:storage(), 1, 2)",
    "t[{i}]:set(t[{j}])",
    "t[{i}] = torch.zeros(3) + t[{j}][1]",
    "collectgarbage()",
    "collectgarbage() collectgarbage()",
]


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
