"""Which lines of a page are code, in Markdown and in text that went through a conversion."""

from pathlib import Path

import pytest

from tests.th_shell.docs.conftest import read_page
from th_shell.docs.reading.examples import Block


def blocks_of(folder: Path, name: str, text: str) -> list[Block]:
    page = folder / name
    page.write_text(text)
    return read_page(page).blocks


def contents(blocks: list[Block]) -> list[list[tuple[int, str]]]:
    return [[(line.number, line.text) for line in block.lines] for block in blocks]


BOTH = pytest.mark.parametrize("name", ["page.md", "page.txt"])


@BOTH
@pytest.mark.parametrize("language", ["", "lua", "Lua", "th", " torch"])
def test_fence_holds_lines_with_their_numbers(tmp_path: Path, name: str, language: str) -> None:
    found = blocks_of(tmp_path, name, f"Prose\n\n```{language}\nx = 1\n\n> x\n```\nMore\n")
    assert contents(found) == [[(4, "x = 1"), (5, ""), (6, "> x")]]


@BOTH
@pytest.mark.parametrize("language", ["sh", "shell", "ruby", "c++", "text"])
def test_fence_of_another_language_holds_nothing(tmp_path: Path, name: str, language: str) -> None:
    assert blocks_of(tmp_path, name, f"```{language}\nx = 1\n```\n") == []


@BOTH
def test_tildes_and_longer_fences_hold_shorter_ones(tmp_path: Path, name: str) -> None:
    found = blocks_of(tmp_path, name, "~~~lua\na\n```\nb\n~~~\n\ntext\n\n````\n```\nc\n````\n")
    assert contents(found) == [[(2, "a"), (3, "```"), (4, "b")], [(10, "```"), (11, "c")]]


@BOTH
def test_code_in_a_line_of_prose_is_no_fence(tmp_path: Path, name: str) -> None:
    assert blocks_of(tmp_path, name, "``` print(1) ```\n\nx = 1\n") == []


def test_markdown_fence_in_a_list_or_quote_loses_its_margin(tmp_path: Path) -> None:
    text = "- item\n\n  ```lua\n  x = 1\n  ```\n\ntext\n\n> ```\n> y = 2\n> ```\n"
    assert contents(blocks_of(tmp_path, "page.md", text)) == [[(4, "x = 1")], [(10, "y = 2")]]


def test_indented_fence_of_a_text_page(tmp_path: Path) -> None:
    found = blocks_of(tmp_path, "page.txt", "      ```\n      x = 1\n      ```\n")
    assert contents(found) == [[(2, "      x = 1")]]


@pytest.mark.parametrize(
    ("name", "blocks"),
    [
        ("page.txt", [[(2, "a"), (7, "b"), (11, "c")]]),
        ("page.md", [[(2, "a")], [(7, "b")], [(11, "c")]]),
    ],
)
def test_only_in_a_text_page_fences_may_be_split_by_a_page_break(
    tmp_path: Path, name: str, blocks: list[list[tuple[int, str]]]
) -> None:
    found = blocks_of(tmp_path, name, "```lua\na\n```\n\n\f\n```\nb\n```\n\n```lua\nc\n```\n")
    assert contents(found) == blocks


@BOTH
@pytest.mark.parametrize("between", ["prose", "<!-- th-docs: skip -->"])
def test_fences_with_text_between_are_two_blocks(tmp_path: Path, name: str, between: str) -> None:
    found = blocks_of(tmp_path, name, f"```\na\n```\n\n{between}\n\n```\nb\n```\n")
    assert contents(found) == [[(2, "a")], [(8, "b")]]


def test_unclosed_fence_ends_where_one_with_a_language_opens(tmp_path: Path) -> None:
    found = blocks_of(tmp_path, "page.txt", "```lua\na\n\nprose\n```lua\nb\n```\n\nprose\n\n```\nc")
    assert contents(found) == [
        [(2, "a"), (3, ""), (4, "prose"), (6, "b")],
        [(12, "c")],
    ]


def test_curly_fence_opens_with_a_language_only(tmp_path: Path) -> None:
    text = "“`\nprose\n\n“` lua\na\n```\n\n```\nb\n“`\nprose\n"
    assert contents(blocks_of(tmp_path, "page.txt", text)) == [[(5, "a"), (7, ""), (9, "b")]]


def test_curly_fence_within_a_fence_is_left_out(tmp_path: Path) -> None:
    found = blocks_of(tmp_path, "page.txt", "```\n“` lua\na\n```\n")
    assert contents(found) == [[(3, "a")]]


def test_spaces_line_ends_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_bytes(b"\xef\xbb\xbf```\r\nx\xc2\xa0= 1\r\ns = '\xff'\r\n```\r\n")
    assert contents(read_page(page).blocks) == [[(2, "x = 1"), (3, "s = '\udcff'")]]


def test_missing_page(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_page(tmp_path / "none.md")
