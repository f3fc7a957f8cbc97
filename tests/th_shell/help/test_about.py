from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.entry import Entry
from th_shell.help.about import about, overview
from th_shell.help.meanings import sections
from th_shell.runtime.shell import Engine
from th_shell.session.session import Session

Ask = Callable[[str], str]

LEGEND = "[x] may be left out, *x* is the destination; of a method, the first one is its object.\n"
GATHER = f"""\
torch.gather
    Picks elements along a dimension by a tensor of indices, one for each
    place of the result.

torch.gather(...), x:gather(...)
    [*DoubleTensor*] DoubleTensor index LongTensor
        r[i][j] = src[index[i][j]][j] for dim 1, and so on.
{LEGEND}"""
VALUES = data(__file__, "VALUES")


@pytest.fixture(scope="module")
def asked() -> Engine:
    engine = Engine()
    engine.run(engine.compile(VALUES.encode()))
    return engine


@pytest.fixture
def ask(asked: Engine) -> Ask:
    return lambda name: about(name, asked)


@pytest.mark.parametrize(
    "name", ["torch.gather", "gather", "x:gather", "x.gather", " torch.gather ( x, 1 ) ;"]
)
def test_functions_of_torch(ask: Ask, name: str) -> None:
    assert ask(name) == GATHER


@pytest.mark.parametrize(("name", "expected"), data(__file__, "test_other_functions_and_words"))
def test_other_functions_and_words(ask: Ask, name: str, expected: str) -> None:
    assert ask(name) == expected


def test_a_function_by_another_name(ask: Ask) -> None:
    assert ask("total").startswith("torch.sum\n    The sum of all elements")


def test_a_method_is_that_of_its_objects_class(ask: Ask) -> None:
    assert ask("s:fill").startswith("s:fill\n    Sets every element to a number.\n\ns:fill(...)\n")
    assert ask("x:narrow").startswith("x:narrow\n    A view of a range of indices")


@pytest.mark.parametrize("section", ["torch", "Tensor", "paths", "sys", "xlua", "string"])
def test_there_is_text_for_every_function(ask: Ask, section: str) -> None:
    for name, meaning in sections()[section].items():
        path = f"x:{name}" if section == "Tensor" else f"{section}.{name}"
        assert meaning.text in " ".join(ask(path).split()), path


@pytest.mark.parametrize(("name", "expected"), data(__file__, "test_values"))
def test_values(ask: Ask, name: str, expected: str) -> None:
    assert re.sub(r"\b0x[0-9a-f]+", "@", ask(name)) == expected


def test_an_open_file(ask: Ask, asked: Engine, tmp_path: Path) -> None:
    asked.run(asked.compile(f"file = torch.DiskFile('{tmp_path}/f', 'w')".encode()))
    opened = f"file: torch.DiskFile on <{tmp_path}/f> [status: open -- mode  w]\nmethods:\n  ascii"
    assert ask("file").startswith(opened)


def test_of_a_large_tensor_some_elements_are_looked_at(ask: Ask, asked: Engine) -> None:
    asked.run(asked.compile(b"big = torch.ByteTensor(5000, 2000):fill(3):t()"))
    start = time.process_time()
    text = ask("big")
    assert time.process_time() - start < 0.5
    assert "min 3, max 3, mean 3, no nan (of 909,091 elements, at equal distances)\n" in text


def test_a_tensor_beyond_its_storage_is_not_read(ask: Ask, asked: Engine) -> None:
    asked.run(asked.compile(b"b = torch.Tensor(4) b:storage():resize(2)"))
    assert "  reaches past the end of its storage, which has 2 elements\n" in ask("b")


@pytest.mark.parametrize(("name", "expected"), data(__file__, "test_names_of_nothing"))
def test_names_of_nothing(ask: Ask, name: str, expected: str) -> None:
    assert ask(name) == expected


def test_a_class_of_the_user(told: Ask, session: Session) -> None:
    session.evaluate("m = torch.class('Mine')")
    session.evaluate("function Mine:__init(a, b) self.a = a end")
    session.evaluate("function Mine:twice() return 2 end")
    assert told("Mine").startswith(
        "Mine(a, b): a class; its constructor is defined in input 5, line 1\nmethods:\n"
    )
    assert " twice" in told("Mine")


@pytest.mark.thorough
def test_words_list_functions(ask: Ask) -> None:
    words = ask("permute dimensions").split()
    assert " ".join(words).startswith("torch.permute A view with the dimensions")
    assert ask("permute dimensions?") == ask("permute dimensions")
    assert ask("eigenvalues").startswith("nothing is named eigenvalues\n  torch.")


@pytest.mark.parametrize("columns", [40, 60, 200])
@pytest.mark.parametrize("name", ["matrix product", "torch", "x:map2", "t"])
def test_lines_are_not_wider_than_the_screen(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, columns: int, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = ask(name).removesuffix(LEGEND)
    assert max(map(len, text.splitlines())) < columns


# -- the user's own functions

OWN = data(__file__, "OWN")


@pytest.fixture
def told(session: Session) -> Ask:
    session.submit(OWN)
    session.submit("other = 1")
    return lambda name: about(name, session.engine, session.log)


def test_a_function_of_the_user_is_never_shadowed(told: Ask) -> None:
    lines = "".join(f"  {line}\n" for line in OWN.splitlines())
    assert told("sum") == "sum(a): defined in input 1, lines 1-4\n" + lines


def test_a_function_of_a_numbered_input(engine: Engine) -> None:
    source = b"x = 1\nfunction own()\nend"
    engine.run(engine.compile(source, b"=[7]"))
    log = [Entry(7, source.decode(), None), Entry(8, "x = 1\nfunction other()\nend", None)]
    assert about("own", engine, log) == (
        "own(): defined in input 7, lines 2-3\n  function own()\n  end\n"
    )


def test_a_function_of_a_file_with_the_comment_above(
    told: Ask, session: Session, tmp_path: Path
) -> None:
    source = "local t = 1\n-- Doubles.\n-- Well.\nfunction double(x, ...)\n  return 2 * x\nend\n"
    (tmp_path / "own.lua").write_text(source)
    session.submit(f"dofile '{tmp_path}/own.lua'")
    assert told("double") == (
        f"double(x, ...): defined in {tmp_path}/own.lua, lines 4-6\n"
        "  -- Doubles.\n  -- Well.\n  function double(x, ...)\n    return 2 * x\n  end\n"
    )


def test_a_function_whose_source_is_gone(told: Ask, session: Session, tmp_path: Path) -> None:
    file = tmp_path / "gone.lua"
    file.write_text("function gone() end")
    session.submit(f"dofile '{file}'")
    file.unlink()
    assert told("gone") == f"gone(): defined in {file}, line 1\n"


def test_a_function_of_a_loaded_text(told: Ask, session: Session) -> None:
    session.submit("f = loadstring('\\nreturn function(q) return q end')()")
    assert told("f") == (
        "f(q): defined in a text that was loaded, line 2\n  return function(q) return q end\n"
    )


@pytest.mark.parametrize(("columns", "lines"), [(80, 22), (200, 22), (40, 64)])
def test_the_overview_fits_the_screen(
    monkeypatch: pytest.MonkeyPatch, columns: int, lines: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = overview().splitlines()
    assert len(shown) <= lines
    assert max(map(len, shown)) <= columns - 2
