"""show, as a session calls it."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.images import Image
from th_shell.runtime.shell import Engine
from th_shell.session.session import Session
from th_shell.show import install, set_display

Shown = Callable[[str], str]


@pytest.fixture
def shown(
    engine: Engine,
    session: Session,
    printed: Callable[[], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Shown:
    """What an input prints, in an empty folder."""
    monkeypatch.delenv("COLORTERM", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.chdir(tmp_path)
    install(engine)

    def run(source: str) -> str:
        session.submit(source)
        return printed()

    return run


@pytest.fixture
def pictures() -> Iterator[list[Image]]:
    """What a host is given to show."""
    found: list[Image] = []
    set_display(found.append)
    yield found
    set_display(None)


SHOWN = "                @@@@@@@@@@@@@@@@\n" * 8


@pytest.mark.parametrize(
    "source",
    data(__file__, "test_an_image"),
)
def test_an_image(shown: Shown, source: str) -> None:
    assert shown(source) == SHOWN


def test_a_file(shown: Shown, tmp_path: Path) -> None:
    assert shown("show(torch.rand(3, 4), 'a.png')") == ""
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_host_shows_pictures_itself(shown: Shown, pictures: list[Image]) -> None:
    assert shown("io.write('a') show(torch.rand(2, 2))") == "a"
    assert [one.to_png(200)[:4] for one in pictures] == [b"\x89PNG"]


@pytest.mark.parametrize(("source", "message"), data(__file__, "test_errors"))
def test_errors(shown: Shown, source: str, message: str) -> None:
    assert shown(source).splitlines()[0] == f"stdin:1: {message}"


def test_pillow_is_needed_for_files_alone(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert shown("show({{0, 1}})") == SHOWN
    message = "show: a PNG file needs pillow: pip install 'th-shell[pictures]'"
    assert shown("show({{0, 1}}, 'a.png')").splitlines()[0] == f"stdin:1: {message}"


def test_names_of_the_program_stand_over_these(shown: Shown) -> None:
    assert shown("function show(x) return 'mine' end") == ""
    assert shown("show(1)") == "mine\t\n"


def test_other_engines_have_no_such_globals() -> None:
    with Engine() as engine:
        assert "show" not in engine.variables.names("")
