from __future__ import annotations

from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.help.pages import find_examples, page_folders
from th_shell.runtime.shell import Engine

PAGE = data(__file__, "PAGE")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sums.md").write_text(PAGE)
    return tmp_path


def sources(name: str, folder: Path, engine: Engine) -> list[list[str]]:
    found = find_examples(name, [str(folder)], engine)
    assert found.problems == []
    return [[step.source for step in shown.steps] for shown in found.examples]


@pytest.mark.parametrize("name", ["torch.sum", "x:sum", "sum"])
def test_examples_come_with_what_they_need(engine: Engine, folder: Path, name: str) -> None:
    assert sources(name, folder, engine) == [
        ["x = torch.Tensor{1, 2}", "y = x:clone()", "y[1] = 5", "y:sum()"],
        ["x = torch.Tensor{1, 2}", "total = torch.sum(x)", "total"],
    ]


@pytest.mark.parametrize(("name", "expected"), data(__file__, "test_other_names"))
def test_other_names(engine: Engine, folder: Path, name: str, expected: list[list[str]]) -> None:
    assert sources(name, folder, engine) == expected


def test_a_page_that_has_changed_is_read_again(engine: Engine, folder: Path) -> None:
    assert len(sources("sum", folder, engine)) == 2
    (folder / "sums.md").write_text("```\nth> torch.sum(1)\n```\n")
    assert sources("sum", folder, engine) == [["torch.sum(1)"]]


def test_pages_that_cannot_be_read_are_named(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "book.ipynb").write_text("{ torch.sum")
    empty = tmp_path / "empty"
    empty.mkdir()
    found = find_examples("sum", [str(tmp_path), str(empty)], engine)
    assert found.examples == []
    first, second = found.problems
    assert first.startswith(f"{tmp_path}/book.ipynb: ")
    assert second == f"{empty}: no pages in this folder"


def test_the_folder_of_the_user_comes_first() -> None:
    named, own = page_folders("~/notes")
    assert named.endswith("/notes") and "~" not in named
    assert page_folders() == [own] and (Path(own) / "views.md").is_file()


@pytest.mark.parametrize(
    "name",
    "torch.gather torch.cat x:narrow x:view torch.sort torch.mm torch.load string.gsub".split(),
)
def test_our_own_pages_have_examples_with_outputs(engine: Engine, name: str) -> None:
    found = find_examples(name, page_folders(), engine)
    assert found.problems == [] and found.examples[0].steps[-1].expected
