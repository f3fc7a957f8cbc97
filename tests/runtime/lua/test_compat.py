"""The collector: what finalizers may do."""

from __future__ import annotations


def _finalizers(count: int, body: str) -> str:
    return f"""
        local done = 0
        for _ = 1, {count} do
          getmetatable(newproxy(true)).__gc = function() {body} done = done + 1 end
        end
        collectgarbage() collectgarbage()
        print(done)
    """


def test_finalizers_may_make_large_tensors(lua) -> None:  # type: ignore[no-untyped-def]
    body = "local x = torch.ones(200000):add(1) assert(x[1] == 2)"
    assert lua.run(_finalizers(300, body)) == "300\t\n"
    assert lua.run("collectgarbage() print(torch.ones(300000):sum())") == "300000\t\n"


def test_finalizers_may_collect(lua) -> None:  # type: ignore[no-untyped-def]
    body = "collectgarbage() collectgarbage('step')"
    assert lua.run(_finalizers(20000, body)) == "20000\t\n"
