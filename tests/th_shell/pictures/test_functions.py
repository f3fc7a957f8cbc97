"""show, imshow, hist and plot, as a session calls them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.pictures.display import Picture, set_display
from th_shell.pictures.prompt_functions import install
from th_shell.runtime.shell import Engine
from th_shell.session.session import Session

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
def pictures() -> Iterator[list[Picture]]:
    """What a host is given to show."""
    found: list[Picture] = []
    set_display(found.append)
    yield found
    set_display(None)


SHOWN = "                @@@@@@@@@@@@@@@@\n" * 8


@pytest.mark.parametrize(
    "source",
    [
        "show(torch.Tensor{{0, 1}})",
        "imshow(torch.ByteTensor{{0, 255}})",
        "show({{3, 5}})",
        "show(torch.Tensor{{1, 0}, {0, 1}}:t():select(1, 1):resize(1, 2):mul(-1))",
    ],
)
def test_an_image(shown: Shown, source: str) -> None:
    assert shown(source) == SHOWN


def test_a_plot(shown: Shown) -> None:
    text = shown("plot({1, 2, 4})")
    assert text == shown("plot(torch.Tensor{1, 2, 3}, torch.Tensor{1, 2, 4})")
    lines = text.splitlines()
    assert lines[0] == lines[-2] == "+" + "-" * 68 + "+"
    assert lines[-1].split() == ["1", "2", "3"]
    assert text.isascii()


def test_a_histogram(shown: Shown) -> None:
    text = shown("hist(torch.range(1, 100), 10)")
    assert text.splitlines()[1].endswith("| 10")
    assert len(text.splitlines()) == 18
    assert max(map(len, text.splitlines())) < 80
    assert text.isascii()


@pytest.mark.thorough
@pytest.mark.parametrize("call", ["show(x", "plot(x[1]", "plot(x[1], x[2]", "hist(x", "hist(x, 3"])
def test_a_file(shown: Shown, tmp_path: Path, call: str) -> None:
    shown("x = torch.rand(3, 4)")
    assert shown(f"{call}, 'a.png')") == ""
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_host_shows_pictures_itself(shown: Shown, pictures: list[Picture]) -> None:
    assert shown("io.write('a') show(torch.rand(2, 2)) plot(torch.rand(3))") == "a"
    assert [one.to_png(200)[:4] for one in pictures] == [b"\x89PNG"] * 2


@pytest.mark.parametrize(("source", "message"), data(__file__, "test_errors"))
def test_errors(shown: Shown, source: str, message: str) -> None:
    assert shown(source).splitlines()[0] == f"stdin:1: {message}"


@pytest.mark.parametrize(
    ("module", "source", "message"), data(__file__, "test_a_library_that_is_missing")
)
def test_a_library_that_is_missing(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, module: str, source: str, message: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert shown(source).splitlines()[0] == f"stdin:1: {message}"


@pytest.mark.parametrize("source", ["plot(torch.rand(20))", "hist(torch.rand(20))", "show(x)"])
def test_what_a_terminal_draws_needs_no_extra(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    for module in ("PIL", "matplotlib"):
        monkeypatch.setitem(sys.modules, module, None)
    assert "stdin" not in shown(f"x = torch.rand(4, 4) {source}")


def test_names_of_the_program_stand_over_these(shown: Shown) -> None:
    assert shown("function show(x) return 'mine' end") == ""
    assert shown("show(1)") == "mine\t\n"
    assert "plot" not in shown("who()")


def test_other_engines_have_no_such_globals() -> None:
    with Engine() as engine:
        assert not {"show", "imshow", "hist", "plot"} & set(engine.variables.names(""))
