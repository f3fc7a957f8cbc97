"""Which pages words of a command line mean."""

import os
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.selection import NoPagesError, common_root, find_pages

FILES = tuple(data(__file__, "FILES"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("x" * len(name))


@pytest.mark.parametrize(("words", "pages"), data(__file__, "test_pages"))
def test_pages(words: list[str], pages: list[str]) -> None:
    assert find_pages(words) == [Path(page) for page in pages]


def test_a_folder_means_no_pipes_but_links_that_lead_nowhere() -> None:
    os.mkfifo("docs/nn/pipe.md")
    Path("docs/nn/link.md").symlink_to("pipe.md")
    Path("docs/nn/lost.md").symlink_to("nothing")
    found = [page.name for page in find_pages(["docs/nn"])]
    assert found == ["lost.md", "x[1].md", "Page.MD"]
    assert find_pages(["docs/nn/pipe.md"]) == [Path("docs/nn/pipe.md")]


@pytest.mark.parametrize(
    ("word", "message"),
    data(__file__, "test_words_that_mean_no_page"),
)
def test_words_that_mean_no_page(word: str, message: str) -> None:
    with pytest.raises(NoPagesError) as caught:
        find_pages(["docs", word])
    assert str(caught.value) == message


@pytest.mark.parametrize(("words", "root"), data(__file__, "test_the_root_of_pages"))
def test_the_root_of_pages(words: list[str], root: str, tmp_path: Path) -> None:
    assert common_root(words) == tmp_path / root
