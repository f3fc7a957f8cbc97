"""The commands of the Python prompt that begin with %."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.magics import timing
from th_shell.python.session import PythonSession
from th_shell.session.commands import PYTHON_COMMANDS

Printed = Callable[[], str]


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(timing, "_BATCH", 0.002)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def talk(session: PythonSession, *texts: str) -> None:
    for text in texts:
        assert session.submit(text)


@pytest.mark.parametrize("name", PYTHON_COMMANDS.rows)
def test_each_command_has_its_function(name: str) -> None:
    assert callable(PYTHON_COMMANDS.function(name))


@pytest.mark.parametrize("text", ["%time x = sum(range(9)); x", "%%time\nx = sum(range(9))\nx"])
def test_the_time_of_an_input(session: PythonSession, printed: Printed, text: str) -> None:
    talk(session, text, "x")
    assert re.fullmatch(r"36\nwall [\d.]+ \S+, CPU [\d.]+ \S+\n36\n", printed())


def test_the_time_of_a_run(session: PythonSession, printed: Printed) -> None:
    talk(session, "x = []", "%timeit x.append(1)", "len(x) > 10")
    pattern = r"[\d.]+ \S+ a run \(best of 5 times [\d,]+ runs; mean [\d.]+ \S+\)\nTrue\n"
    assert re.fullmatch(pattern, printed())


@pytest.mark.parametrize(("text", "message"), data(__file__, "test_what_cannot_be_done"))
def test_what_cannot_be_done(
    session: PythonSession, printed: Printed, folder: Path, text: str, message: str
) -> None:
    (folder / "old.py").touch()
    talk(session, text)
    assert printed() == message


def test_inputs_are_saved_as_a_program(
    session: PythonSession, printed: Printed, folder: Path
) -> None:
    talk(session, "x = 1", "x y", "def f():\n    return x\n", "%save a.py", "%save -f a.py 1")
    assert printed().startswith("a.py: 2 inputs\na.py: 1 input\n")
    assert (folder / "a.py").read_text() == "x = 1\n"
    talk(session, "%save b.py")
    assert (folder / "b.py").read_text() == "x = 1\ndef f():\n    return x\n"


def test_a_program_is_run(session: PythonSession, printed: Printed, folder: Path) -> None:
    (folder / "a.py").write_text("import sys\ny = 5\nprint(sys.argv, __name__)")
    talk(session, "%run a.py b 'c d'", "y", "__name__")
    assert printed() == "['a.py', 'b', 'c d'] __main__\n5\n'__main__'\n"


def test_an_error_of_a_program_that_is_run(
    session: PythonSession, printed: Printed, folder: Path
) -> None:
    (folder / "a.py").write_text("1/0")
    (folder / "b.py").write_text("raise SystemExit(3)")
    talk(session, "%run a.py", "%run b.py", "1")
    shown = printed()
    assert shown.startswith("1\nTraceback") and shown.endswith(
        "ZeroDivisionError: division by zero\n"
    )
    assert "th_shell" not in shown


def test_a_file_comes_into_the_next_input(session: PythonSession, folder: Path) -> None:
    (folder / "a.py").write_text("1\n2\n3\n")
    talk(session, "%load a.py 2-3")
    assert session.take_next_input() == "2\n3"


def test_an_input_is_edited(
    session: PythonSession, printed: Printed, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = folder / "editor"
    editor.write_text("#!/bin/sh\nbasename $1\nsed -i s/1/4/ $1\n")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    talk(session, "x = 1; x", "y = 2", "%edit x")
    assert printed() == "1\ninput.py\n4\n"


def test_names_are_listed_and_removed(session: PythonSession, printed: Printed) -> None:
    class Grid:
        shape = (2, 3)
        dtype = "float32"

    session.namespace["grid"] = Grid()
    talk(session, "x = 'a'; import math", "5", "%who", "%reset", "%reset -f", "%who", "_2")
    shown = printed()
    assert shown.startswith(
        "5\ngrid  Grid 2x3  float32\nmath  module\nx     str       'a'\n"
        "%reset: -f removes 3 names and all results\ngrid math x\nno names yet\n"
    )
    assert shown.endswith("NameError: name '_2' is not defined\n")
