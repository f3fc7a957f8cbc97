"""%save: pages of inputs, and that th-docs verifies them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.entry import Entry
from th_shell.lua_source.parser import uses
from th_shell.magics.save import PageText, for_page, hidden_before, of_prompt
from th_shell.session.session import Session

Printed = Callable[[], str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


PAGE = data(__file__, "PAGE")


@pytest.mark.thorough
def test_a_page_is_written_and_verified(session: Session, printed: Printed, folder: Path) -> None:
    for source in (
        "x = torch.range(1, 4):resize(2, 2)",
        "z = 5",
        "x:add(1)",
        "x",
        "y = x:sum()",
        "= y",
        "function f(a)\n  return a .. '```'\nend",
        "f(y)",
        "error('no')",
        "print('> x')",
        "torch.rand(2)",
    ):
        session.submit(source)
    printed()
    session.submit("%save page.md 5-")
    assert printed() == (
        "page.md: 7 inputs, run anew in a process of its own\n"
        "hidden, since these build on it: 1, 3\n"
        "without its output, which would be read as an input: 10\n"
        "page.md: checked 4 of 7 examples: 3 pass, 1 layout, 3 ran\n"
    )
    before, _, behind = PAGE.partition("@")
    text = (folder / "page.md").read_text()
    assert text.startswith(before)
    assert text.endswith("[torch.DoubleTensor of dimension 2]" + behind)

    session.submit("%save page.md")
    assert printed() == "%save: page.md exists; -f replaces it\n"
    session.submit("%save -f page.md 1-2")
    assert printed().endswith("page.md: checked 0 of 2 examples: 2 ran\n")


def test_what_pages_have_not(session: Session, printed: Printed, folder: Path) -> None:
    for source in ("local z = 5", "z", "x = z; x", "1 + 1", "y = _4", "who()"):
        session.submit(source)
    printed()
    session.submit("%save page.md")
    assert printed() == (
        "page.md: 4 inputs, run anew in a process of its own\n"
        "left out, since they use what only a prompt has: 5, 6\n"
        "written for a page, whose inputs share no locals: 1, 3\n"
        "page.md: checked 3 of 5 examples: 3 pass, 2 ran\n"
    )
    page = "# A session\n\n```lua\n> z = 5\n> z\n5\n> x = z\n> x\n5\n> 1 + 1\n2\n```\n"
    assert (folder / "page.md").read_text() == page
    session.submit("%save other.md 5-6")
    assert printed() == "%save: these inputs use what only a prompt has\n"


@pytest.mark.thorough
def test_long_outputs(session: Session, printed: Printed, folder: Path) -> None:
    session.submit("torch.range(1, 300)")
    session.submit("torch.rand(20, 300)")
    printed()
    session.submit("%save page.md")
    assert printed() == (
        "page.md: 2 inputs, run anew in a process of its own\n"
        "without its output, which is long and depends on chance: 2\n"
        "page.md: checked 1 of 2 examples: 1 pass, 1 ran\n"
    )
    assert " 10\n...\n" in (folder / "page.md").read_text()


@pytest.mark.parametrize(("source", "parts"), data(__file__, "test_the_inputs_of_a_page"))
def test_the_inputs_of_a_page(source: str, parts: list[str]) -> None:
    assert [(one.number, one.source) for one in for_page(entries(source))] == [
        (1, part) for part in parts
    ]


@pytest.mark.parametrize(
    ("sources", "numbers"),
    [
        (["show(x)", "hist = 5", "hist", "x.show()", "print(_12)", "_LAST"], [1, 5]),
        (["_x", "who", "_RESULTS = {}", "local plot = 1; plot"], [2, 3]),
    ],
)
def test_what_only_a_prompt_has(sources: list[str], numbers: list[int]) -> None:
    assert [entry.number for entry in of_prompt(entries(*sources))] == numbers


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%save", "which page? As in: %save page.md 3-9"),
        ("%save page.txt", "page.txt: a page's name ends in .md"),
        ("%save page.md 2", "there is no 2: numbers go from 1 to 1"),
        ("%save page.md", "all inputs have raised errors"),
        ("%save no/page.md 1", "no/page.md: No such file or directory"),
    ],
)
def test_what_is_not_written(
    session: Session, printed: Printed, folder: Path, text: str, message: str
) -> None:
    session.submit("error('no')")
    printed()
    session.submit(text)
    assert printed() == f"%save: {message}\n"
    assert not list(folder.iterdir())


def entries(*sources: str) -> list[Entry]:
    return [Entry(i, source, None) for i, source in enumerate(sources, 1)]


@pytest.mark.parametrize(
    ("sources", "chosen", "hidden"), data(__file__, "test_what_inputs_build_on")
)
def test_what_inputs_build_on(sources: list[str], chosen: list[int], hidden: list[int]) -> None:
    log = entries(*sources)
    found = hidden_before(log, [entry for entry in log if entry.number in chosen])
    assert [entry.number for entry in found] == hidden


@pytest.mark.parametrize(
    ("source", "used", "defined"), data(__file__, "test_the_names_of_an_input")
)
def test_the_names_of_an_input(source: str, used: str, defined: str) -> None:
    assert uses(source)[:2] == (frozenset(used), frozenset(defined))


def test_a_long_output_is_shown_by_its_ends() -> None:
    [entry] = entries("f()")
    text = PageText([entry], []).document(["".join(f"{i}\n" for i in range(300))])
    assert "\n8\n9\n...\n290\n291\n" in text


def test_hidden_code_does_not_end_its_comment() -> None:
    hidden, shown = entries("x = 1 --> 1", "x")
    assert PageText([shown], [hidden]).document().count("-->") == 1
