"""The fields of Lua's objects as attributes, and what these objects show."""

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.data_files import data
from th_shell.runtime import Engine, LuaFunction

CLASS = data(__file__, "CLASS")


@pytest.fixture(scope="module")
def lua() -> Iterator[Engine]:
    with Engine() as engine:
        engine.run(f"fields = {{}} {CLASS}")
        yield engine


def test_methods_of_a_class_are_bound(lua: Engine) -> None:
    box = lua.eval("fields.Box()")
    assert box.add(2) == 3 and box.n == 3
    add = box.add
    assert add(1) == 4 and add.__self__ == box and isinstance(add.__func__, LuaFunction)
    assert box.plain(7) == 7  # a function among the object's own fields is not
    assert lua.eval("setmetatable({}, {__index = {me = function(self) return self end}})").me()
    assert lua["math"].floor(2.5) == 2
    assert lua.eval("torch.Timer()").time()["real"] >= 0


def test_fields_are_set_and_removed(lua: Engine) -> None:
    box = lua.eval("fields.Box()")
    box.n = 5
    box.weight += 1
    assert box["n"] == 5 and box.weight.tolist() == [2, 2]
    del box.n
    assert not hasattr(box, "n") and hasattr(box, "add") and box["n"] is None
    with pytest.raises(AttributeError, match="^Lua table fields.Box has no field 'n'$"):
        box.n  # noqa: B018
    with pytest.raises(AttributeError, match="^attempt to index a function value$"):
        lua["print"].name  # noqa: B018


def test_names_of_an_object_come_before_those_of_dicts(lua: Engine) -> None:
    box = lua.eval("fields.Box()")
    assert box.get(3) == "number 3" and sorted(box.keys()) == sorted(box) == sorted(dict(box))
    table = lua.eval("{get = 1}")
    assert table.get("get") == table["get"] == 1


def test_names_are_completed(lua: Engine) -> None:
    names = dir(lua.eval("fields.Box()"))
    assert {"add", "n", "weight", "torch_typename"} <= {*names}
    assert {"derived", "base"} <= {
        *dir(lua.eval("setmetatable({derived = 1}, {__index = {base = 2}})"))
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("{1, 'two'}", "<Lua table {1: 1, 2: 'two'}>"),
        ("{}", "<Lua table>"),
        ("{{{}}}", "<Lua table {1: <Lua table>}>"),
        ("{torch.ones(2, 3)}", "<Lua table {1: <torch.float64 2x3>}>"),
        ("{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}", f"<Lua table {dict.fromkeys(range(1, 11), 1)}>"),
        (
            "{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}",
            f"<Lua table {dict.fromkeys(range(1, 11), 1)}>".replace("}", ", ...}"),
        ),
        ("setmetatable({}, {__index = error, __pairs = error})", "<Lua table>"),
        ("fields.Box", "<Lua table>"),
        ("print", "<Lua function>"),
        ("torch.Generator()", "<Lua userdata torch.Generator>"),
    ],
)
def test_texts(lua: Engine, value: str, text: str) -> None:
    assert repr(lua.eval(value)) == text


def test_a_closed_engine_shows_no_fields() -> None:
    with Engine() as engine:
        table = engine.eval("{1}")
    assert repr(table) == "<Lua table>"


@pytest.mark.parametrize("take", [pickle.dumps, copy.copy, copy.deepcopy])
def test_they_stay_in_their_engine(lua: Engine, take: Callable[[Any], Any]) -> None:
    for value, message in [
        ("{}", "Lua table stays in its engine: to_python() copies it"),
        ("print", "Lua function stays in its engine"),
        ("coroutine.create(print)", "Lua thread stays in its engine"),
    ]:
        with pytest.raises(TypeError) as raised:
            take(lua.eval(value))
        assert str(raised.value) == message
