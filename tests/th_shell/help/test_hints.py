from __future__ import annotations

from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.entry import Entry
from th_shell.help.hints import hints_on, hints_on_nil
from th_shell.runtime.shell import Engine, LuaError
from th_shell.session.session import Session

VALUES = data(__file__, "VALUES")


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


def hinted(session: Session, source: str) -> list[str]:
    # The engine is that of all tests here: the values are made anew for each.
    assert session.evaluate(VALUES) is None
    error = session.evaluate(source)
    assert error is not None, f"{source} is no error"
    return hints_on(error, session.log, session.engine)


HINTS = data(__file__, "HINTS")


@pytest.mark.thorough
def test_hints(session: Session) -> None:
    found = [(source, hinted(session, source)) for source, _ in HINTS]
    assert found == [(source, [f"hint: {hint}"]) for source, hint in HINTS]


NO_HINTS = data(__file__, "NO_HINTS")


def test_where_there_is_no_hint(session: Session) -> None:
    found = {source: hinted(session, source) for source in NO_HINTS}
    assert {source: hints for source, hints in found.items() if hints} == {}


def test_the_line_of_several_is_quoted(session: Session) -> None:
    assert hinted(session, "local q = 1\nlocal r = x:summ()\nprint(r)") == [
        "stdin:2:  local r = x:summ()",
        "hint: there is x:sum",
    ]


def test_the_line_of_a_file_is_quoted(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part.lua").write_text("-- a file\nreturn x:summ() -- x\n")
    assert hinted(session, "dofile 'part.lua'") == [
        "part.lua:2:  return x:summ() -- x",
        "hint: there is x:sum",
    ]


def test_a_file_that_does_not_compile(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.lua").write_text("x = 1\nx += 1\n")
    assert hinted(session, "dofile 'bad.lua'") == ["bad.lua:2:  x += 1", "hint: write x = x + …"]


def test_the_line_of_a_numbered_input_is_quoted(session: Session) -> None:
    assert session.evaluate(VALUES) is None
    error = LuaError("[2]:3: attempt to call method 'summ' (a nil value)")
    log = [Entry(2, "function f()\n\n  x:summ()\nend", None), Entry(3, "f()", error)]
    assert hints_on(error, log, session.engine) == ["[2]:3:  x:summ()", "hint: there is x:sum"]


def test_no_code_of_the_program_is_run(session: Session) -> None:
    session.evaluate(
        "odd = setmetatable({}, { __index = function(_, k) if asked then ran = true end end })"
    )
    error = session.evaluate("asked = false; odd.thing()")
    assert error is not None
    session.evaluate("asked = true")
    assert hints_on(error, session.log, session.engine) == []
    assert not session.engine.variables.inspect("ran")


@pytest.mark.parametrize(("source", "hint"), data(__file__, "test_names_that_print_nil"))
def test_names_that_print_nil(engine: Engine, source: str, hint: str) -> None:
    engine.run(engine.compile(VALUES.encode()))
    assert hints_on_nil(source, engine) == [f"hint: {hint}"]


@pytest.mark.parametrize(
    "source", ["nothing", "t.shape", "t.alpah", "x.sum", "nil", "x", "undef.T"]
)
def test_names_that_may_well_be_nil(engine: Engine, source: str) -> None:
    engine.run(engine.compile(VALUES.encode()))
    assert hints_on_nil(source, engine) == []
