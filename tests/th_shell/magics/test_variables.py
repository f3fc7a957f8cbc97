"""%store and %restore: variables in files of the user's."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.runtime import load
from th_shell.runtime.shell import Engine
from th_shell.session.session import Session

Printed = Callable[[], str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "th" / "store"


def test_variables_outlive_a_session(session: Session, printed: Printed, folder: Path) -> None:
    session.submit("x = torch.range(1, 3)\nlocal n = 5\nfunction f(a) return a + n end")
    session.submit("%store x n f")
    assert load(folder / "x.t7").tolist() == [1, 2, 3]
    with Engine() as engine:
        other = Session(engine)
        other.submit("local x = 1\n%restore")
        other.submit("x:sum(), n, f(1)")
        engine.flush()
    assert printed() == "restored: f n x\n6\t5\t6\t\n"


def test_what_is_stored_is_listed_and_deleted(
    session: Session, printed: Printed, folder: Path
) -> None:
    session.submit("x, name = 1, 'a'\n%store x name\n%store")
    lines = printed().splitlines()
    assert [line.split()[0] for line in lines] == ["name", "x"]
    assert [line.split()[-2:] for line in lines] == [["9", "bytes"], ["12", "bytes"]]
    session.submit("%store -d")
    assert printed() == "%store: -d takes the names of what is to be deleted\n"
    session.submit("%store -d x\n%restore name\n%restore x")
    assert printed() == "restored: name\n%restore: x is not stored; %store lists what is\n"
    assert [path.name for path in folder.iterdir()] == ["name.t7"]


@pytest.mark.parametrize(("text", "said"), data(__file__, "test_what_cannot_be_stored"))
def test_what_cannot_be_stored(
    session: Session, printed: Printed, folder: Path, text: str, said: str
) -> None:
    session.submit("x, file, t = 1, io.stdout, { deep = io.stdout }")
    session.submit(text)
    assert printed() == said
    assert not folder.exists() or not list(folder.iterdir())


def test_the_old_file_stays_where_a_new_value_cannot_be_written(
    session: Session, printed: Printed
) -> None:
    session.submit("x = 1\n%store x\nx = io.stdout\n%store x\n%restore x")
    session.submit("x")
    assert printed().endswith("restored: x\n1\t\n")


def test_a_folder_that_cannot_be(session: Session, printed: Printed, folder: Path) -> None:
    folder.parent.write_text("a file in its place")
    session.submit("x = 1\n%store x")
    assert printed() == f"%store: {folder}: Not a directory\n"
