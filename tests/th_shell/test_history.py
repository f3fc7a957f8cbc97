from __future__ import annotations

from pathlib import Path

import pytest

from th_shell.history import LineHistory, history_path
from th_shell.session import Session

FUNCTION = "function f()\n  return 1\nend"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history"


def loaded(path: Path, session: Session) -> list[str]:
    """The inputs in a file, oldest first."""
    return list(LineHistory(path, session.judge).load_history_strings())[::-1]


def test_inputs_come_back(path: Path, session: Session) -> None:
    history = LineHistory(path, session.judge)
    for text in ("x = 1", FUNCTION, "$ ls (", "f()", "f()"):
        history.append_string(text)
    assert path.read_text() == f"x = 1\n{FUNCTION}\n$ ls (\nf()\n"
    assert loaded(path, session) == ["x = 1", FUNCTION, "$ ls (", "f()"]


def test_a_pasted_block_is_kept_as_its_inputs(path: Path, session: Session) -> None:
    history = LineHistory(path, session.judge)
    history.append_string(f"> x = 1\n> x\n1\n> {FUNCTION}\n")
    assert history.get_strings() == ["x = 1", "x", FUNCTION]


def test_a_line_that_never_ends_stands_alone(path: Path, session: Session) -> None:
    path.write_text("x = (\ny = = 2\nz\nfor i = 1, 2 do\n")
    assert loaded(path, session) == ["x = (", "y = = 2", "z", "for i = 1, 2 do"]


def test_without_a_file_there_is_still_a_history(tmp_path: Path, session: Session) -> None:
    history = LineHistory(tmp_path / "no" / "folder", session.judge)
    history.append_string("x")
    assert history.get_strings() == ["x"]
    assert loaded(tmp_path, session) == []


def test_where_the_file_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert history_path({"TREPL_HISTORY": "/a/b"}) == Path("/a/b")
    assert history_path({}) == tmp_path / ".luahistory"
