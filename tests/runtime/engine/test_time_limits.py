"""The time that a program allows Lua: blocks of `Engine.timeout`."""

import asyncio
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.data_files import data
from th_shell.runtime import Engine, Interrupted, LuaError, LuaTimeout

FOREVER = "while true do end"


@pytest.fixture(scope="module")
def lua() -> Iterator[Engine]:
    with Engine() as engine:
        engine["wait"] = lambda *_: time.sleep(0.03)
        yield engine


def limited(lua: Engine, seconds: float, source: str) -> Any:
    with lua.timeout(seconds):
        return lua.eval(source)


def in_thread(work: Callable[..., Any], *args: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, *args).result(20)


@pytest.mark.parametrize("source", data(__file__, "ENDLESS"))
@pytest.mark.parametrize("call", [lambda f, *args: f(*args), in_thread], ids=["main", "thread"])
def test_what_does_not_end_is_stopped(lua: Engine, call: Callable[..., Any], source: str) -> None:
    start = time.monotonic()
    with pytest.raises(LuaTimeout, match=r"^the code took longer than 0\.1 s$"):
        call(limited, lua, 0.1, source)
    assert 0.1 <= time.monotonic() - start < 5
    assert limited(lua, 10, "1 + 1") == 2


def test_the_error_is_pythons_and_luas(lua: Engine) -> None:
    for kind in (TimeoutError, LuaError, Interrupted):
        with pytest.raises(kind, match="took longer") as raised:
            limited(lua, 0.01, FOREVER)
        copy = pickle.loads(pickle.dumps(raised.value))
        assert type(copy) is LuaTimeout and str(copy) == str(raised.value) == copy.value


def test_a_block_has_one_time_for_all_its_calls(lua: Engine) -> None:
    lua.run("count = 0")
    with pytest.raises(LuaTimeout), lua.timeout(0.1):
        for _ in range(100):
            lua.run("count = count + 1 wait()")
    assert 0 < lua["count"] < 10


def test_python_is_not_stopped_and_the_next_call_is(lua: Engine) -> None:
    with lua.timeout(0.05):
        time.sleep(0.1)
        for use in (lambda: lua.run("x = 1"), lambda: lua["wait"], lambda: len(lua.globals)):
            with pytest.raises(LuaTimeout):
                use()
    with lua.timeout(0.05):
        time.sleep(0.1)  # nothing is raised where nothing is stopped
    assert lua["x"] is None


@pytest.mark.parametrize(("inner", "outer"), [(0.05, 0.2), (5, 0.1)])
def test_blocks_within_blocks(lua: Engine, inner: float, outer: float) -> None:
    with pytest.raises(LuaTimeout, match=f"^the code took longer than {outer} s$"):
        with lua.timeout(outer):
            with pytest.raises(LuaTimeout, match=f"than {min(inner, outer)} s$"):
                limited(lua, inner, FOREVER)
            lua.run(FOREVER)
    assert lua.eval("1") == 1


def test_no_limit_and_one_that_never_ends(lua: Engine) -> None:
    with lua.timeout(None), lua.timeout(float("inf")):
        assert lua.eval("1 + 1", timeout=1e300) == 2
    for seconds in (0, -1):
        with pytest.raises(LuaTimeout, match=f"^the code took longer than {seconds} s$"):
            limited(lua, seconds, "1")


def test_a_block_in_a_function_that_lua_calls(lua: Engine) -> None:
    """Lua that waits for it ends, too, whatever the function makes of the error."""

    def call() -> str:
        try:
            return str(limited(lua, 0.05, FOREVER))
        except LuaTimeout:
            return "caught"

    lua["call"] = call
    with pytest.raises(LuaTimeout, match="0.05"):
        lua.run("while true do pcall(call) end")
    lua["call"] = lambda: limited(lua, 5, "1")
    assert lua.eval("call()") == 1
    with pytest.raises(LuaTimeout, match="0.1"):  # that of the call still holds
        limited(lua, 0.1, "(function() while true do call() end end)()")


def test_threads_have_limits_of_their_own(lua: Engine) -> None:
    """Eight share an engine: who waits too long for the others does not stop them."""

    def work(n: int) -> str:
        try:
            limited(lua, 0.1 if n % 2 else 60, "wait()")
            return "done"
        except LuaTimeout as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(8)))
    assert results[::2] == ["done"] * 4
    assert set(results[1::2]) <= {"done", "the code took longer than 0.1 s"}
    assert results.count("done") < 8


def test_a_task_has_its_limit_in_threads(lua: Engine) -> None:
    async def main(seconds: float) -> None:
        with lua.timeout(seconds):
            await asyncio.to_thread(lua.run, FOREVER)

    async def both() -> list[BaseException | None]:
        return await asyncio.gather(main(0.1), main(0.2), return_exceptions=True)

    first, second = asyncio.run(both())
    assert type(first) is type(second) is LuaTimeout
    assert [str(first), str(second)] == [f"the code took longer than {s} s" for s in (0.1, 0.2)]


def test_other_threads_do_not_have_the_limit_of_a_block(lua: Engine) -> None:
    done = threading.Event()

    def work() -> list[int]:
        results = [lua.eval("1")]
        while not done.is_set():
            results.append(lua.eval("wait() or 1"))
        return results

    with ThreadPoolExecutor(7) as pool:
        others = [pool.submit(work) for _ in range(7)]
        for _ in range(5):
            with pytest.raises(LuaTimeout), lua.timeout(0.03):
                time.sleep(0.02)
                lua.run(FOREVER)
        done.set()
        assert {result for other in others for result in other.result(10)} == {1}


@pytest.mark.thorough
def test_each_of_eight_threads_has_its_own_errors_alone(lua: Engine) -> None:
    """They share an engine, and set limits or none, at random."""
    lua.run("function spin(n) local s = 0 for i = 1, n do s = s + i % 7 end return n end")
    end = time.monotonic() + 3

    def work(seed: int) -> set[str]:
        random = Random(seed)
        seen: set[str] = set()
        while time.monotonic() < end:
            seconds, n = random.choice([None, 0.001, 0.01, 0.1]), random.choice([1, 10**5, 10**7])
            try:
                with lua.timeout(seconds):
                    assert [lua["spin"](n) for _ in range(2)] == [n, n]
                    assert "".join(lua.eval("string.gmatch('1 2 3', '%d')")) == "123"
                seen.add("in time")
            except LuaTimeout as error:
                assert str(error) == f"the code took longer than {seconds} s"
                seen.add("stopped")
        return seen

    with ThreadPoolExecutor(8) as pool:
        assert set().union(*pool.map(work, range(8))) == {"in time", "stopped"}
    assert lua.eval("spin(3)") == 3


def test_a_block_that_ends_in_another_thread(lua: Engine) -> None:
    """As those of FastAPI's dependencies do: it limits nothing there."""
    block = lua.timeout(0.02)
    in_thread(block.__enter__)
    in_thread(lua.run, "wait() wait()")
    in_thread(block.__exit__, None, None, None)
    lua.run("wait()")


def test_what_goes_on_after_the_block_is_not_stopped(lua: Engine) -> None:
    async def main() -> int:
        with lua.timeout(0.2):  # which is over before the loop is
            loop = "(function() for i = 1, 10 do wait() end end)(), 1"
            work = asyncio.create_task(asyncio.to_thread(lua.eval, loop))
            await asyncio.sleep(0.01)
        assert await work == (None, 1)
        return 5

    assert asyncio.run(main()) == 5


def test_what_began_before_a_block_is_not_stopped_by_it(lua: Engine) -> None:
    begun = threading.Event()
    lua["begin"] = begun.set
    with ThreadPoolExecutor(1) as pool:
        long = pool.submit(lua.eval, "begin(), (function() for i = 1, 8 do wait() end end)()")
        begun.wait()
        with pytest.raises(LuaTimeout):
            limited(lua, 0.05, "1")
        assert long.result(10) is None


def test_of_operations_the_one_that_is_computed_ends(lua: Engine) -> None:
    lua["x"] = x = np.random.default_rng(1).random((200, 200))
    with pytest.raises(LuaTimeout):
        limited(lua, 0.1, "(function() while true do y = torch.mm(x, x) end end)()")
    np.testing.assert_allclose(lua["y"].numpy(), x @ x)


def test_loops_count_where_an_engine_is_not_stoppable() -> None:
    with Engine(stoppable=False) as lua, pytest.raises(LuaTimeout), lua.timeout(0.1):
        lua.run("local n = 0 for i = 1, 1e11 do n = n + i % 7 end")


def test_no_thread_is_left(lua: Engine) -> None:
    before = threading.active_count()
    for _ in range(20):
        limited(lua, 60, "1")
    assert threading.active_count() == before
