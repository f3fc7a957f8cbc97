"""%capture, %logstart and %logstop: what inputs print, as a text and in a file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.conftest import Run
from th_shell.session.session import Session

Printed = Callable[[], str]


def test_what_an_input_prints_becomes_a_text(session: Session, printed: Printed) -> None:
    session.submit("%capture text print(1) io.write('a\\0b') os.execute('echo c')")
    assert printed() == ""
    session.submit("return text == '1\\t\\na\\0bc\\n', #text")
    assert printed() == "true\t8\t\n"


def test_of_a_local_and_of_an_error(session: Session, printed: Printed) -> None:
    session.submit("local said = 1\n%capture said error('no', 0)")
    assert printed() == "%capture: the input has raised an error, which is in said\n"
    session.submit("said:match('^%w+'), rawget(_G, 'said')")
    assert printed() == "no\tnil\t\n"


@pytest.mark.parametrize("text", ["%capture", "%capture x", "%capture 1 print(1)"])
def test_capture_needs_a_name_and_an_input(session: Session, printed: Printed, text: str) -> None:
    session.submit(text)
    assert printed() == ("%capture: takes a name and an input, as in: %capture text print(x)\n")


def test_the_log_has_inputs_and_outputs(session: Session, printed: Printed, tmp_path: Path) -> None:
    path = tmp_path / "log.lua"
    path.write_text("-- mine\n")
    session.submit(f"%logstart {path}")
    for source in ("x = 1", "x + 1", "io.write('10%\\r20%\\ndone')", "error('no', 0)", "%time x"):
        session.submit(source)
    during = path.read_text().splitlines()
    session.submit("%logstop\nx = 2")
    assert path.read_text().splitlines() == [*during, "-- %logstop"]
    assert during[0] == "-- mine"
    assert during[1].startswith("-- th, 20")
    assert during[2:9] == [
        "x = 1",
        "x + 1",
        "-- 2\t",
        "io.write('10%\\r20%\\ndone')",
        "-- 20%",
        during[7],
        "error('no', 0)",
    ]
    assert during[7].startswith("-- done")
    assert during[9] == "-- no"
    assert during[-3:] == ["-- %time x", "x", "-- 1\t"]
    assert "2\t\n" in printed()


@pytest.mark.thorough
def test_the_log_of_what_is_piped(th: Run, tmp_path: Path) -> None:
    inputs = "%logstart log.lua\n1\n\nio.stdout:write('open') error('x')\n%pwd\n%logstop\n3\n"
    assert th(input=inputs).returncode == 1
    assert (tmp_path / "log.lua").read_text().splitlines()[1:] == [
        "1",
        "-- 1\t",
        "io.stdout:write('open') error('x')",
        "-- open",
        "-- %pwd",
        "-- %logstop",
    ]


def test_a_page_is_in_the_log(session: Session, printed: Printed, tmp_path: Path) -> None:
    session.submit(f"%logstart {tmp_path}/log.lua")
    session.submit("th> x = 3\nth> x\n3\n")
    assert "-- 3\t\n-- ✓" in (tmp_path / "log.lua").read_text()
    assert "✓" in printed()


@pytest.mark.thorough
def test_the_log_of_python(th: Run, tmp_path: Path) -> None:
    inputs = "%logstart log.py\nprint(1)\n%capture text print(2)\n%logstop\ntext\n"
    done = th("--python", "-i", input=inputs)
    assert (tmp_path / "log.py").read_text().splitlines()[1:3] == ["print(1)", "# 1"]
    assert done.stdout.endswith("1\n'2\\n'\n")


@pytest.mark.parametrize(("text", "output"), data(__file__, "test_what_is_said"))
def test_what_is_said(
    session: Session,
    printed: Printed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    output: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    session.submit(text)
    assert printed() == output.format(folder=tmp_path)
    session.submit("%logstop")


def test_a_log_that_cannot_be_written_ends(session: Session, printed: Printed) -> None:
    session.submit("%logstart /dev/full")
    session.submit("1")
    session.submit("2")
    assert printed().count("the log has ended") == 1
