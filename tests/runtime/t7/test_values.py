"""Tables with Lua's keys, and what becomes of them in Python."""

import copy
import math
import pickle
from typing import Any

import pytest

from th_shell.runtime import Function, T7Error, Table, TorchObject


def test_keys_are_those_of_lua() -> None:
    inner = Table()
    t = Table([(1, "one"), (True, "yes"), (1.5, "more"), ("a", "text"), (inner, "table")])
    t[False] = "no"
    t[b"b"] = 2
    assert (t[1], t[1.0], t[True], t[False]) == ("one", "one", "yes", "no")
    assert t[b"a"] == "text" and t["b"] == 2 and t[inner] == "table"
    assert list(t)[:2] == [1, True] and [type(key) for key in list(t)[:2]] == [int, bool]
    assert Table() not in t and 0 not in t and len(t) == 7
    del t[True]
    t[1] = None
    assert True not in t and 1 not in t and len(t) == 5


@pytest.mark.parametrize(
    ("key", "message"), [(None, "table index is nil"), (math.nan, "table index is NaN")]
)
def test_keys_that_lua_has_not(key: Any, message: str) -> None:
    with pytest.raises(T7Error, match=message):
        Table([(key, 1)])


def test_what_is_missing() -> None:
    t = Table()
    for key in ("a", True, 1):
        with pytest.raises(KeyError) as raised:
            t[key]
        assert raised.value.args == (key,)
        with pytest.raises(KeyError):
            del t[key]
    assert t.get("a", 5) == 5


def test_lists() -> None:
    t = Table.of("abc")
    assert t.is_list and t.to_list() == ["a", "b", "c"] and t.to_python() == ["a", "b", "c"]
    t[5] = "e"
    assert not t.is_list and t.to_list() == ["a", "b", "c"]
    assert not Table().is_list and Table().to_python() == {}


def test_python_objects_keep_what_is_shared() -> None:
    shared = Table.of([1, 2])
    t = Table([("a", shared), ("b", shared)])
    t["self"] = t
    plain = t.to_python()
    assert plain["a"] == [1, 2] and plain["a"] is plain["b"] and plain["self"] is plain
    assert t == t and t != Table(t) and len({t, shared, t}) == 2
    with pytest.raises(T7Error, match="both a number and a boolean"):
        Table([(1, "a"), (True, "b")]).to_python()


def test_texts_are_short() -> None:
    t = Table([("name", "x" * 100), ("list", Table.of(range(100))), ("control", "\x1b[0m")])
    t["self"] = t
    text = repr(t)
    assert text.startswith("{'name': '" + "x" * 60 + "'...") and "9: 8, 10: 9, ...}" in text
    assert "\x1b" not in text and len(text) < 3000
    assert repr(Table.of([Table.of([Table.of([Table.of([1])])])])) == "{1: {1: {1: {...}}}}"


def test_fields_are_attributes() -> None:
    o = TorchObject("nn.Linear", {"weight": 1, "fields": 2, "two words": 3})
    o.bias = 5
    assert o.weight == 1 and o["fields"] == 2 and o.bias == 5 and "bias" in o
    assert isinstance(o.fields, Table) and "weight" in dir(o) and "two words" not in dir(o)
    assert repr(o) == "nn.Linear(weight=1, fields=2, 'two words'=3, bias=5)"
    del o.bias
    with pytest.raises(AttributeError, match="nn.Linear has no field 'bias'"):
        o.bias  # noqa: B018
    with pytest.raises(AttributeError, match="nn.Linear has no field 'bias'"):
        del o.bias
    assert Function(b"code").upvalues.to_python() == {}


@pytest.mark.parametrize("copied", [lambda t: pickle.loads(pickle.dumps(t)), copy.deepcopy])
def test_copies(copied: Any) -> None:
    t = Table([(1, "a"), (True, TorchObject("x.Y", {"f": Function(b"ab")}))])
    t["self"] = t
    again = copied(t)
    assert again["self"] is again and again[True].f.bytecode == b"ab" and again[1] == "a"
