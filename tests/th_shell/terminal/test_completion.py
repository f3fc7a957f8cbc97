from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from runtime import Engine
from th_shell.terminal.completion import LuaCompleter, NameContext, file_context, name_context

Complete = Callable[[str], list[str]]

SETUP = b"""
x = torch.Tensor(3)
text = 'a'
t = { alpha = 1, beta = print, deep = { inner = true }, ['no name'] = 1 }
setmetatable(t, { __index = function() error('ran') end })
animal = setmetatable({}, { __index = { bark = function() end, age = 3 } })
"""


@pytest.fixture
def complete(engine: Engine) -> Complete:
    engine.run(engine.compile(SETUP))
    completer = LuaCompleter(engine.names)

    def texts(text: str) -> list[str]:
        found = completer.get_completions(Document(text), CompleteEvent())
        return [text[: len(text) + c.start_position] + c.text for c in found]

    return texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.repea", ["torch.repeatTensor"]),
        ("y = torch.typen", ["y = torch.typename", "y = torch.typename2id"]),
        ("x:narr", ["x:narrow"]),
        ("x.narr", ["x.narrow"]),
        ("print(x:nEl", ["print(x:nElement"]),
        ("#x:stor", ["#x:storage", "#x:storageOffset"]),
        ("t.", ["t.alpha", "t.beta", "t.deep"]),
        ("t.deep.", ["t.deep.inner"]),
        ("t:", ["t:beta"]),
        ("t.missing.", []),
        ("animal:", ["animal:bark"]),
        ("animal.", ["animal.age", "animal.bark"]),
        ("text:upp", ["text:upper"]),
        ("'a'..tex", ["'a'..text"]),
        ("whi", ["while"]),
        ("if x then ret", ["if x then return"]),
        ("string.form", ["string.format"]),
        ("f().na", []),
        ("t[1].al", []),
        ("12x", []),
        ("-- tor", []),
        ("x = 1 -- torch.ran", []),
        ("'--' .. tex", ["'--' .. text"]),
        ("? torch.randn", ["? torch.randn"]),
    ],
)
def test_names(complete: Complete, text: str, expected: list[str]) -> None:
    assert complete(text) == expected


def test_metamethods_are_offered_only_when_asked_for(complete: Complete) -> None:
    assert not [name for name in complete("x:") if "__" in name]
    assert "x:__add" in complete("x:__a")


def test_globals_come_with_keywords(complete: Complete) -> None:
    offered = complete("")
    assert {"torch", "x", "and", "_LAST"} <= set(offered)
    assert offered == sorted(offered, key=lambda name: (name.lower(), name))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dofile('al", ["dofile('alpha.lua", "dofile('also/"]),
        ('dofile("also/', ['dofile("also/in.t7']),
        ("dofile('./alp", ["dofile('./alpha.lua"]),
        ("f('a', \"alp", ["f('a', \"alpha.lua"]),
        ("dofile('.h", ["dofile('.hidden"]),
        ("dofile('nowhere/", []),
        ("$ ls al", ["$ ls alpha.lua", "$ ls also/"]),
    ],
)
def test_files(
    complete: Complete,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    text: str,
    expected: list[str],
) -> None:
    (tmp_path / "also").mkdir()
    for name in ("alpha.lua", "also/in.t7", ".hidden"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert complete(text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("f('a", "a"),
        ("f('a')", None),
        ("f(\"it's", "it's"),
        ("f('it\\'s", "it\\'s"),
        ("f('a' .. '", ""),
        ("-- don't", None),
        ("x", None),
    ],
)
def test_the_string_that_is_open(line: str, expected: str | None) -> None:
    assert file_context(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", NameContext("", "", "")),
        ("a.b.c", NameContext("a.b", ".", "c")),
        ("a.b:", NameContext("a.b", ":", "")),
        ("(a", NameContext("", "", "a")),
        ("a[1].b", None),
        ("é", None),
    ],
)
def test_the_name_that_is_typed(line: str, expected: NameContext | None) -> None:
    assert name_context(line) == expected
