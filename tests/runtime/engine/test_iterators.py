"""Iterators that cross: coroutines and functions of Lua in Python, Python's iterators in Lua."""

import gc
import itertools
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.data_files import data
from th_shell.runtime import Engine, LuaCoroutine, LuaError, LuaFunction


@pytest.fixture(scope="module")
def lua() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


# -- of Lua, in Python


@pytest.mark.parametrize(("source", "values"), data(__file__, "OF_LUA"))
def test_python_iterates_over_what_lua_does(lua: Engine, source: str, values: list[Any]) -> None:
    found = list(lua.eval(source))
    assert [list(x) if isinstance(x, tuple) else x for x in found] == values


def test_a_coroutine_is_a_generator(lua: Engine) -> None:
    thread = lua.eval("coroutine.create(function(a) return coroutine.yield(a), 'end' end)")
    assert type(thread) is LuaCoroutine and iter(thread) is thread and thread.kind == "thread"
    assert thread.send([1, 2]).to_python() == [1, 2]
    with pytest.raises(StopIteration) as stopped:
        thread.send({"x": 3})
    value, end = stopped.value.value
    assert value.x == 3 and end == "end"
    for _ in range(2):
        with pytest.raises(StopIteration) as stopped:
            next(thread)
        assert stopped.value.value is None


def test_what_a_coroutine_returns_is_the_value_of_yield_from(lua: Engine) -> None:
    def outer() -> Iterator[Any]:
        lua.run("function steps() coroutine.yield(torch.ones(2)) coroutine.yield() return 7 end")
        result = yield from lua.eval("coroutine.create(steps)")
        yield "returned", result

    x, nothing, last = outer()
    assert x.tolist() == [1, 1] and nothing is None and last == ("returned", 7)


def test_lua_goes_as_far_as_python_asks(lua: Engine) -> None:
    lua.run("n = 0")
    endless = lua.eval(
        "coroutine.wrap(function() while true do n = n + 1 coroutine.yield(n) end end)"
    )
    assert type(endless) is LuaFunction and isinstance(endless, Iterator) is False
    assert list(itertools.islice(endless, 3)) == [1, 2, 3] and lua["n"] == 3
    assert list(itertools.islice(endless, 2)) == [4, 5]


@pytest.mark.parametrize("make", ["create", "wrap"])
def test_an_error_in_a_coroutine(lua: Engine, make: str) -> None:
    source = "(function() coroutine.yield(1) error({code = 5}) end)"
    steps = iter(lua.eval(f"coroutine.{make}{source}"))
    assert next(steps) == 1
    with pytest.raises(LuaError) as raised:
        next(steps)
    assert raised.value.value.code == 5
    assert list(steps) == []


def test_a_coroutine_that_runs_is_not_resumed(lua: Engine) -> None:
    thread = lua.eval("coroutine.create(function() again() end)")
    lua["again"] = lambda: next(thread)
    with pytest.raises(LuaError, match="^lua:1: cannot resume running coroutine$"):
        next(thread)


def test_what_has_no_length(lua: Engine) -> None:
    for source, kind in (("print", "function"), ("coroutine.create(print)", "thread")):
        with pytest.raises(TypeError, match=f"^a {kind} of Lua has no length$"):
            len(lua.eval(source))


# -- of Python, in Lua


def squares(n: int) -> Iterator[int]:
    for i in range(n):
        yield i * i


def collect(lua: Engine, iterator: Iterator[Any]) -> list[Any]:
    lua["steps"] = iterator
    lua.run("found = {} for a, b in steps do found[#found + 1] = {a, b} end")
    return [x[0] if len(x) == 1 else tuple(x) for x in lua["found"].to_python()]


def test_lua_iterates_over_pythons_iterators(lua: Engine) -> None:
    assert collect(lua, squares(4)) == [0, 1, 4, 9]
    assert collect(lua, iter({"a": 1, "b": 2}.items())) == [("a", 1), ("b", 2)]
    assert collect(lua, map(str, range(2))) == ["0", "1"]
    assert collect(lua, iter([False, True])) == [False, True]
    (x,) = collect(lua, (np.full(n, n) for n in (3,)))
    assert x.tolist() == [3, 3, 3]
    lua["squares"] = squares
    assert lua.eval("squares(3)()") == 0
    lua.run("n = 0 for x in squares(4) do n = n + x end")
    assert lua["n"] == 14


def test_a_loop_that_ends_early_leaves_the_rest(lua: Engine) -> None:
    lua["steps"] = steps = squares(5)
    lua.run("for x in steps do if x == 4 then break end end")
    assert lua.eval("steps()") == 9 and list(steps) == [16]
    assert lua.eval("steps(), steps(1, 2)") == (None, None)


@pytest.mark.parametrize("value", [None, (None, 1), ()])
def test_none_does_not_end_a_loop_unsaid(lua: Engine, value: Any) -> None:
    with pytest.raises(LuaError, match="ValueError: an iterator has None, at which a loop"):
        collect(lua, iter([1, value, 2]))


def test_exceptions_of_generators(lua: Engine) -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise KeyError("gone")

    with pytest.raises(LuaError, match="^lua:1: KeyError: 'gone'") as raised:
        collect(lua, failing())
    assert type(raised.value.__cause__) is KeyError


def test_a_generator_over_a_coroutine_in_lua(lua: Engine) -> None:
    numbers = lua.eval("coroutine.create(function() for i = 1, 3 do coroutine.yield(i) end end)")
    assert collect(lua, (n * 10 for n in numbers)) == [10, 20, 30]


def test_a_generator_ends_when_lua_forgets_it(lua: Engine) -> None:
    steps = squares(2)
    gone = weakref.ref(steps)
    lua["steps"] = steps
    lua["steps"] = None
    del steps
    lua.run("collectgarbage() collectgarbage()")
    lua.run("")
    gc.collect()
    assert gone() is None
