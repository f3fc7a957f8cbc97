"""The collector: what finalizers may do; and that programs reach nothing of the runtime."""

import pytest


def _finalizers(count: int, body: str) -> str:
    return f"""
        local done = 0
        for _ = 1, {count} do
          getmetatable(newproxy(true)).__gc = function() {body} done = done + 1 end
        end
        collectgarbage() collectgarbage()
        print(done)
    """


@pytest.mark.thorough
def test_finalizers_may_make_large_tensors(lua) -> None:  # type: ignore[no-untyped-def]
    body = "local x = torch.ones(200000):add(1) assert(x[1] == 2)"
    assert lua.run(_finalizers(300, body)) == "300\t\n"
    assert lua.run("collectgarbage() print(torch.ones(300000):sum())") == "300000\t\n"


@pytest.mark.thorough
def test_finalizers_may_collect(lua) -> None:  # type: ignore[no-untyped-def]
    body = "collectgarbage() collectgarbage('step')"
    assert lua.run(_finalizers(20000, body)) == "20000\t\n"


def test_programs_see_none_of_the_runtime(lua) -> None:  # type: ignore[no-untyped-def]
    """All tables that a program reaches from its globals: none is the runtime's own."""
    walk = (
        "local seen = {} local function walk(t, path) if seen[t] then return end seen[t] = true "
        "for k, v in pairs(t) do if k == 'host' or k == 'count_object' then print(path, k) end "
        "if type(v) == 'table' then walk(v, path .. '.' .. tostring(k)) end end "
        "if type(getmetatable(t)) == 'table' then walk(getmetatable(t), path .. '()') end end "
        "walk(_G, '_G')"
    )
    assert lua.run(walk) == ""
