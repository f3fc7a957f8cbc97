"""%history, %who, %reset, %cd, %pwd, %load, %edit, %rerun and %run."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.session.session import Session

Printed = Callable[[], str]


@pytest.fixture
def used(
    session: Session, printed: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Session:
    """A session with four inputs, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for source in ("x = 1", "function f()\n  return x\nend", "error('no')", "f()"):
        session.submit(source)
    printed()
    return session


ALL = "1  x = 1\n2  function f()\n     return x\n   end\n3! error('no')\n4  f()\n"


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("%history", ALL),
        ("%log 1 4-", "1  x = 1\n4  f()\n"),
        ("%history 3-4 1", "1  x = 1\n3! error('no')\n4  f()\n"),
        ("%history 5", "%history: there is no 5: numbers go from 1 to 4\n"),
        ("%history 0", "%history: there is no 0: numbers go from 1 to 4\n"),
        ("%history 3-2", "%history: there is no 3-2: numbers go from 1 to 4\n"),
        ("%history a", "%history: a is no number, and no range such as 3-9\n"),
        ("%reset", "%reset: -f removes 2 globals and all results\nf x\n"),
        ("%reset all", "%reset: takes nothing but -f\n"),
        ("%cd /no/such", "%cd: /no/such: No such file or directory\n"),
        ("%load", "%load: which file?\n"),
        ("%load none.lua", "%load: none.lua: No such file or directory\n"),
        ("%load 'x", "%load: No closing quotation\n"),
        ("%run none.lua", "%run: none.lua: No such file or directory\n"),
        ("%edit nothing", "%edit: no input has defined nothing\n"),
        ("%edit 9", "%edit: there is no 9: numbers go from 1 to 4\n"),
        ("%rerun 9", "%rerun: there is no 9: numbers go from 1 to 4\n"),
        ("%time", "%time: what is to be run? As in: %time torch.sort(x)\n"),
        ("%timeit", "%timeit: what is to be run? As in: %timeit x:add(1)\n"),
        ("%profile", "%profile: what is to be run? As in: %profile train()\n"),
    ],
)
def test_what_is_printed(used: Session, printed: Printed, text: str, output: str) -> None:
    used.submit(text)
    assert printed() == output


def test_a_session_without_inputs(session: Session, printed: Printed) -> None:
    for command in ("%history", "%rerun"):
        session.submit(command)
        assert printed() == f"{command}: there are no inputs yet\n"


def test_reset_removes_what_the_session_has_made(used: Session, printed: Printed) -> None:
    used.submit("%reset -f")
    used.submit("x, f, #_RESULTS, _LAST, torch.type(1)")
    assert printed() == "nil\tnil\t0\t\tnumber\t\n"


def test_who_lists_globals(used: Session, printed: Printed) -> None:
    used.submit("%who")
    assert "[x]" in printed()


def test_the_current_folder(used: Session, printed: Printed, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    used.submit("%cd inner")
    used.submit("%pwd")
    assert printed() == f"{tmp_path / 'inner'}\n" * 2
    assert os.getcwd() == str(tmp_path / "inner")


def test_lines_of_a_file_become_the_next_input(used: Session, tmp_path: Path) -> None:
    (tmp_path / "a file.lua").write_text("a = 1\nb = 2\nc = 3\n")
    used.submit("%load 'a file.lua'")
    assert used.take_next_input() == "a = 1\nb = 2\nc = 3"
    used.submit("%load 'a file.lua' 1 3-")
    assert used.take_next_input() == "a = 1\nc = 3"
    assert used.take_next_input() == ""


def test_a_script_gets_its_arguments(used: Session, printed: Printed, tmp_path: Path) -> None:
    (tmp_path / "s.lua").write_text("print(arg[0], #arg, arg[1], arg[2])")
    used.submit("%run s.lua 'a \"b' c")
    assert printed() == 's.lua\t2\ta "b\tc\t\n'
    assert used.log[-1].source == 'arg = {[0] = "s.lua", "a \\"b", "c"} dofile("s.lua")'


@pytest.mark.parametrize(
    ("text", "before"),
    data(__file__, "test_what_the_editor_saves_is_run"),
)
def test_what_the_editor_saves_is_run(
    used: Session,
    printed: Printed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    before: str,
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "sh -c 'cp $0 seen; echo \"print(7)\" > $0'")
    used.submit(text)
    assert (tmp_path / "seen").read_text() == before
    assert printed() == "7\t\n"


@pytest.mark.parametrize(
    ("editor", "output"),
    data(__file__, "test_an_editor_that_saves_nothing"),
)
def test_an_editor_that_saves_nothing(
    used: Session,
    printed: Printed,
    monkeypatch: pytest.MonkeyPatch,
    editor: str,
    output: str,
) -> None:
    monkeypatch.setenv("VISUAL", editor)
    used.submit("%edit")
    assert printed() == output
    assert len(used.log) == 4


@pytest.mark.parametrize(
    ("words", "again", "output"),
    [
        ("", ["f()"], "1\t\n"),
        ("1", ["x = 1"], ""),
        ("4 1-2", ["x = 1", "function f()\n  return x\nend", "f()"], "1\t\n"),
        ("f", ["function f()\n  return x\nend"], ""),
    ],
)
def test_inputs_run_again(
    used: Session, printed: Printed, words: str, again: list[str], output: str
) -> None:
    used.submit(f"%rerun {words}")
    assert [entry.source for entry in used.log[4:]] == again
    assert printed() == output
