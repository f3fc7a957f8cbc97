from __future__ import annotations

from pathlib import Path

import pytest

from th_shell.session.session import Session
from th_shell.terminal.history import LineHistory, MarkedHistory, history_path

FUNCTION = "function f()\n  return 1\nend"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history"


def loaded(path: Path, session: Session) -> list[str]:
    """The inputs in a file, oldest first."""
    return list(LineHistory(path, session.inputs, judge=session.judge).load_history_strings())[::-1]


def test_inputs_come_back(path: Path, session: Session) -> None:
    history = LineHistory(path, session.inputs, judge=session.judge)
    for text in ("x = 1", FUNCTION, "$ ls (", "f()", "f()"):
        history.append_string(text)
    assert path.read_text() == f"x = 1\n{FUNCTION}\n$ ls (\nf()\n"
    assert loaded(path, session) == ["x = 1", FUNCTION, "$ ls (", "f()"]


def test_a_pasted_block_is_kept_as_its_inputs(path: Path, session: Session) -> None:
    history = LineHistory(path, session.inputs, judge=session.judge)
    history.append_string(f"> x = 1\n> x\n1\n> {FUNCTION}\n")
    assert history.get_strings() == ["x = 1", "x", FUNCTION]


@pytest.mark.parametrize(
    "text", ["x = [[a  \n\t b ]]", 'x = "a\f\u2028\x1c"', " \tx = 1 -- a\x85b ", "y = 'é\udcff'"]
)
def test_inputs_come_back_as_they_were(path: Path, session: Session, text: str) -> None:
    LineHistory(path, session.inputs, judge=session.judge).append_string(text)
    assert loaded(path, session) == [text]
    marked = MarkedHistory(path.with_name("marked"), lambda text: [text])
    marked.append_string(text)
    assert list(marked.load_history_strings()) == [text]


@pytest.mark.parametrize(
    ("before", "after"), [("", "y\n"), ("x", "x\ny\n"), ("x\n", "x\ny\n"), ("é\n\n", "é\n\ny\n")]
)
def test_an_input_has_lines_of_its_own(
    path: Path, session: Session, before: str, after: str
) -> None:
    path.write_text(before)
    LineHistory(path, session.inputs, judge=session.judge).append_string("y")
    assert path.read_text() == after


def test_a_line_that_never_ends_stands_alone(path: Path, session: Session) -> None:
    path.write_text("x = (\ny = = 2\nz\nfor i = 1, 2 do\n")
    assert loaded(path, session) == ["x = (", "y = = 2", "z", "for i = 1, 2 do"]


def test_without_a_file_there_is_still_a_history(tmp_path: Path, session: Session) -> None:
    history = LineHistory(tmp_path / "no" / "folder", session.inputs, judge=session.judge)
    history.append_string("x")
    assert history.get_strings() == ["x"]
    assert loaded(tmp_path, session) == []


def test_where_the_file_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert history_path({"TREPL_HISTORY": "/a/b"}) == Path("/a/b")
    assert history_path({}) == tmp_path / ".luahistory"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_file_is_private(path: Path, session: Session) -> None:
    LineHistory(path, session.inputs, judge=session.judge).append_string("x = 1")
    assert mode(path) == 0o600


@pytest.mark.sample(1)
@pytest.mark.parametrize("act", ["load", "store"])
def test_an_old_file_becomes_private(path: Path, session: Session, act: str) -> None:
    path.write_text("x = 1\n")
    path.chmod(0o664)
    history = LineHistory(path, session.inputs, judge=session.judge)
    if act == "load":
        assert list(history.load_history_strings()) == ["x = 1"]
    else:
        history.append_string("y")
        assert path.read_text() == "x = 1\ny\n"
    assert mode(path) == 0o600


def test_a_link_stays_and_its_file_becomes_private(path: Path, session: Session) -> None:
    target = path.with_name("target")
    target.write_text("")
    path.symlink_to(target)
    LineHistory(path, session.inputs, judge=session.judge).append_string("x")
    assert path.is_symlink() and target.read_text() == "x\n"
    assert mode(target) == 0o600


def test_devices_stay_as_they_are(session: Session) -> None:
    before = mode(Path("/dev/null"))
    history = LineHistory(Path("/dev/null"), session.inputs, judge=session.judge)
    history.append_string("x")
    assert list(history.load_history_strings()) == []
    assert mode(Path("/dev/null")) == before


def test_bytes_that_are_no_text_come_back(path: Path, session: Session) -> None:
    LineHistory(path, session.inputs, judge=session.judge).append_string("x = '\udce9é'")
    assert loaded(path, session) == ["x = '\udce9é'"]


def test_lines_of_an_input_are_marked(path: Path) -> None:
    history = MarkedHistory(path, lambda text: [text])
    for text in ("x = 1", "if x:\n    y", "if x:\n    y", "z"):
        history.append_string(text)
    assert path.read_bytes() == b"x = 1\nif x:\r\n    y\nz\n"
    again = MarkedHistory(path, lambda text: [text])
    assert list(again.load_history_strings()) == ["z", "if x:\n    y", "x = 1"]


def test_the_last_lines_of_a_marked_file_are_read(path: Path) -> None:
    path.write_bytes(b"a\nb\r\nc\nd")
    history = MarkedHistory(path, lambda text: [text], lines=3)
    assert list(history.load_history_strings()) == ["d", "b\nc"]
    path.write_bytes(b"")
    assert list(history.load_history_strings()) == []
