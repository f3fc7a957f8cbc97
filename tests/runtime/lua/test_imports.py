"""The modules of Lua: what they import stands at their top, is there, and is used."""

import os
import re
from functools import cache

import pytest

from tests.lua_modules import MODULES, code_of, import_lines, imports_of, loaded_by
from th_shell.runtime.compute import luajit

#: What Lua finds in these is not written in Lua.
_FOREIGN = {"ffi", "bit", "host", "torch"}


def _keys(table: str) -> set[str]:
    """The names of the fields of a table constructor, given its text without texts in it."""
    inner = re.sub(r"(?<=.)\{[^{}]*\}", "", table[1:-1], flags=re.DOTALL)
    return set(re.findall(r"(?:^|[{,])\s*(\w+)\s*=(?!=)", inner))


@cache
def offered(module: str) -> set[str]:
    """The fields of the table that a module returns, as its source sets them."""
    code = code_of(MODULES[module], texts=False)
    returned = re.search(r"^return (\w+|\{[^}]*\})\s*\Z", code, re.MULTILINE)
    if not returned:
        return set()
    name = returned[1]
    if name.startswith("{"):
        return _keys(name)
    fields = set(re.findall(rf"^\s*function {name}\.(\w+)", code, re.MULTILINE))
    for assigned in re.findall(
        rf"^\s*((?:[\w.]+, )*{name}\.\w+(?:, [\w.]+)*) =", code, re.MULTILINE
    ):
        fields |= set(re.findall(rf"\b{name}\.(\w+)", assigned))
    made = re.search(rf"^local {name} = (\{{.*?^\}}|\{{[^\n]*\}})", code, re.MULTILINE | re.DOTALL)
    return fields | (_keys(made[1]) if made else set())


def has_arguments(module: str) -> bool:
    """Return whether a module is for instances: its chunk begins with arguments."""
    code = code_of(MODULES[module], texts=False).lstrip()
    return bool(re.match(r"local \w+(?:, \w+)* = \.\.\.\n", code))


def test_what_modules_import_is_there_and_used() -> None:
    for module, path in MODULES.items():
        code = code_of(path, texts=False)
        for alias, imported in imports_of(module):
            place = f"{module}: {alias}"
            assert imported in _FOREIGN or imported in MODULES, place
            used = re.findall(rf"(?<![\w.:]){alias}\b(?:\.(\w+))?", code)
            assert len(used) > 1, place
            if imported not in _FOREIGN:
                assert not has_arguments(imported) or imported == "parallel.jobs", place
                assert {name for name in used if name} <= offered(imported), place


def test_imports_stand_at_the_top() -> None:
    for module, path in MODULES.items():
        lines = code_of(path).splitlines()
        if numbers := import_lines(lines):
            above = [line.strip() for line in lines[: numbers[0]] if line.strip()]
            assert all(re.fullmatch(r"local [\w, ]+ = \.\.\.", line) for line in above), module
            assert numbers == list(range(numbers[0], numbers[-1] + 1)), module


def test_no_modules_import_each_other() -> None:
    known: set[str] = set()
    left = {module: loaded_by(module) for module in MODULES}
    while ready := [module for module, used in left.items() if used <= known]:
        known.update(ready)
        for module in ready:
            del left[module]
    assert left == {}


def _import_from(
    monkeypatch: pytest.MonkeyPatch, sources: dict[bytes, bytes], name: bytes
) -> object:
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)  # without bytecode
    source = luajit._source
    monkeypatch.setattr(luajit, "_source", lambda path: sources.get(path) or source(path))
    return luajit._importer(luajit._new_state())(name)


def test_a_circle_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {
        b"core/a": b"local b = import 'core.b' return {}",
        b"core/b": b"local a = import 'core.a' return {}",
    }
    message = "modules import each other: core.a > core.b > core.a"
    with pytest.raises(luajit.RawError, match=message):
        _import_from(monkeypatch, sources, b"core.a")


def test_a_module_is_loaded_once_and_an_instance_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {
        b"core/a": b"local n = ... return { n = n }",
        b"core/b": b"""local a, same = import('core.a', 'core.a')
          local one, two = import.instance('core.a', 1), import.instance('core.a', 2)
          return tostring(rawequal(a, same)) .. tostring(a.n) .. one.n .. two.n""",
    }
    assert _import_from(monkeypatch, sources, b"core.b") == b"truenil12"
