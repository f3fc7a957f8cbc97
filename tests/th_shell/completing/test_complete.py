from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.completing.complete import complete
from th_shell.paragraphs import MOST_NAMES
from th_shell.runtime.shell import Engine
from th_shell.session.commands import COMMANDS

Complete = Callable[..., list[str]]

SETUP = data(__file__, "SETUP").encode()


@pytest.fixture(scope="module")
def prepared() -> Engine:
    engine = Engine()
    engine.run(engine.compile(SETUP))
    return engine


@pytest.fixture
def completed(prepared: Engine) -> Complete:
    """The texts before the cursor (a | in the text, or its end) that completion makes."""

    def texts(text: str) -> list[str]:
        before, _, behind = text.partition("|")
        found = complete(before + behind, len(before), prepared)
        return [before[: found.start] + candidate.text for candidate in found.candidates]

    return texts


@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_names"))
def test_names(completed: Complete, text: str, expected: list[str]) -> None:
    assert completed(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.randn(3, 4):narr", ["torch.randn(3, 4):narrow"]),
        ("x:clone():narr", ["x:clone():narrow"]),
        ("x:sum(1):narr", ["x:sum(1):narrow"]),
        ("x:sum():narr", []),
        ("x:sort():narr", ["x:sort():narrow"]),
        ("x:size():tota", ["x:size():totable"]),
        ("x:size(1):", []),
        ("x:storage():resi", ["x:storage():resize"]),
        ("x:storage():fill(1):resi", ["x:storage():fill(1):resize"]),
        ("torch.Tensor(2):narr", ["torch.Tensor(2):narrow"]),
        ("torch.Tensor{1, 2}:narr", ["torch.Tensor{1, 2}:narrow"]),
        ("torch.gt(x, f(1, 2)):narr", ["torch.gt(x, f(1, 2)):narrow"]),
        ("Foo():b", ["Foo():bar"]),
        ("('abc'):upp", ["('abc'):upper"]),
        ('("abc"):upper():low', ['("abc"):upper():lower']),
        ("(x):narr", ["(x):narrow"]),
        ("(x + x):narr", []),
        ("xs[1]:narr", ["xs[1]:narrow"]),
        ("xs[1][2]:narr", ["xs[1][2]:narrow"]),
        ("xs[2][1]:narr", []),
        ("x[1]:", []),
        ("xs[i]:narr", ["xs[i]:narrow"]),
        ("t[1].al", []),
        ("t['deep'].in", ["t['deep'].inner"]),
        ("t[3]:narr", ["t[3]:narrow"]),
        ("require('string').form", ["require('string').format"]),
        ("require 'my.loaded'.", []),
        ("count():", []),
        ("nothing():", []),
        ("f{", None),
        ("({1, 2}):", []),
        ("):", []),
        ("].", []),
    ],
)
def test_what_a_call_or_an_index_leads_to(
    completed: Complete, prepared: Engine, text: str, expected: list[str] | None
) -> None:
    found = completed(text)
    if expected is not None:
        assert found == expected
    assert prepared.variables.text_of([".ran"]) == ("nil", None)


@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_local_names"))
def test_local_names(completed: Complete, text: str, expected: list[str]) -> None:
    assert completed(text) == expected


@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_keys"))
def test_keys(completed: Complete, text: str, expected: list[str]) -> None:
    assert completed(text) == expected


def test_metamethods_are_offered_only_when_asked_for(completed: Complete) -> None:
    assert not [name for name in completed("x:") if "__" in name]
    assert "x:__add" in completed("x:__a")


def test_globals_come_with_keywords(completed: Complete) -> None:
    offered = completed("")
    assert {"torch", "x", "and", "_LAST"} <= set(offered)
    own = [name for name in offered if name in ("animal", "count", "Foo", "t", "text", "x", "xs")]
    assert offered[: len(own)] == own
    others = offered[len(own) :]
    assert others == sorted(others, key=lambda name: (name.lower(), name))


def test_own_variables_come_first(completed: Complete) -> None:
    assert completed("te") == ["text"]
    assert completed("local torso = 1\nto")[:2] == [
        "local torso = 1\ntorso",
        "local torso = 1\ntonumber",
    ]


@pytest.mark.parametrize("text", ["y = 'a'", 'print("a")', "t[1]", "f{1}", "[[a]]"])
def test_nothing_follows_what_is_finished(completed: Complete, text: str) -> None:
    assert completed(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('("x"):upp', ['("x"):upper']),
        ('io.open("x"):rea', ['io.open("x"):read']),
        ('io.open("x", "w"):', "close flush lines read seek setvbuf write".split()),
        ('io.popen("ls"):clo', ['io.popen("ls"):close']),
        ('local f = io.open("x")\nf:see', ['local f = io.open("x")\nf:seek']),
        ('open("x"):rea', []),
    ],
)
def test_methods_of_files_and_texts(completed: Complete, text: str, expected: list[str]) -> None:
    assert [one.removeprefix(text) for one in completed(text)] == [
        one.removeprefix(text) for one in expected
    ]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("also", "my", "my/sub", "empty"):
        (tmp_path / name).mkdir()
    for name in ("alpha.lua", "also/in.t7", ".hidden", "a b.txt", "it's", "my/init.lua"):
        (tmp_path / name).touch()
    (tmp_path / "my" / "sub" / "deep.lua").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("text", "expected"), data(__file__, "test_files_and_modules"))
def test_files_and_modules(
    completed: Complete, folder: Path, text: str, expected: list[str]
) -> None:
    assert completed(text) == expected


def test_commands(completed: Complete, folder: Path) -> None:
    assert completed("%") == sorted(COMMANDS.names())
    assert completed("%ti") == ["%time", "%timeit"]
    assert completed("%time x:narr") == ["%time x:narrow"]
    assert completed("%load alp") == ["%load alpha.lua"]
    assert completed("x = 5\n%ti") == []


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("torch.narr", None),
        ("x:narr", "narrow Tensor index long long"),
        ("x:clo", "clone Tensor"),
        ("torch.logs", "logspace [*Tensor*] number number [long]"),
        ("x:storage():resi", "resize *Storage* size"),
        ("animal:b", "bark(self, times, ...)"),
        ("Foo():b", "bar(self, first, second)"),
        ("animal.a", "number"),
        ("string.form", "function"),
        ("local abc abc", "local"),
        ("whi", "keyword"),
    ],
)
def test_what_is_shown_beside_a_candidate(prepared: Engine, text: str, detail: str | None) -> None:
    found = complete(text, len(text), prepared).candidates
    assert [candidate.detail for candidate in found] == ([detail] if detail else [])


@pytest.mark.parametrize(
    ("text", "explained"),
    data(__file__, "test_help_on_a_candidate"),
)
def test_help_on_a_candidate(prepared: Engine, text: str, explained: str) -> None:
    found = {
        candidate.text: candidate for candidate in complete(text, len(text), prepared).candidates
    }
    candidate = found.get(text) or next(iter(found.values()))
    assert candidate.explain() == explained


@pytest.mark.thorough
def test_a_table_with_very_many_names_is_cut() -> None:
    engine = Engine()
    source = b"big = {} for i = 1, 1e6 do big['key_' .. i] = i end"
    engine.run(engine.compile(source))
    seconds = []
    for _ in range(5):
        start = time.process_time()
        found = complete("big.key_9", 9, engine)
        seconds.append(time.process_time() - start)
    names = [candidate.text for candidate in found.candidates]
    assert len(names) == MOST_NAMES and names == sorted(names) and names[0].startswith("key_9")
    assert 0 < found.more <= 111_111 - MOST_NAMES
    assert min(seconds) <= 0.1
