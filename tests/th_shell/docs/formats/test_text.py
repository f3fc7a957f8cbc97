"""Headings and tags of text pages. Their fences are tested in test_document.py."""

from pathlib import Path

import pytest

from tests.th_shell.docs.conftest import read_page
from th_shell.docs.reading.formats import text


@pytest.mark.parametrize(
    ("page", "heading"),
    [
        ("# One ##\n```\nx\n```", "One"),
        ("\nA short line\n\nProse of a page, a sentence.\n\n```\nx\n```", "A short line"),
        ("One\n\n텐서\n\n```\nx\n```", "텐서"),
        ("One\n\n[result] torch.abs([res,] x)\n\n```\nx\n```", "One"),
        ("One\n\nA sentence.\n\nExample:\n\nTwo\nlines\n\n```\nx\n```", "One"),
        ("One\n\n" + "long " * 20 + "\n\n    Indented\n\n```\nx\n```", "One"),
        ("```\ny\n\nIn code\n\n```\n\nprose, prose\nprose\n```\nx\n```", ""),
    ],
)  # fmt: skip
def test_heading(page: str, heading: str) -> None:
    *_, block = text.find(page.split("\n"))
    assert block.heading == heading


def test_prompts_outside_of_fences_and_within() -> None:
    page = "Sum\n\nth> 1\n1\n\nProse\n\n```\nth> 2\n```\nth> 3\n\nth> 4\n"
    blocks = text.find(page.split("\n"))
    assert [[line.text for line in block.lines] for block in blocks] == [
        ["th> 1", "1"],
        ["th> 2"],
        ["th> 3", "", "th> 4"],
    ]


def test_tags_of_dokuwiki(tmp_path: Path) -> None:
    page = tmp_path / "page.dok"
    page.write_text(
        "====== Sums ======\n<file lua>\nt7> 1 + 1\n2\n</file>\ntext\n<code lua sums.lua>x = 1\n"
        "y = 2</code>\n\n<file>z = 3</file>\n<code>\nnever closed\n```\n> 4\n```\n"
    )
    blocks = [
        (b.heading, b.language, [(line.number, line.text) for line in b.lines])
        for b in read_page(page).blocks
    ]
    assert blocks == [
        ("Sums", "lua", [(3, "t7> 1 + 1"), (4, "2")]),
        ("Sums", "lua", [(7, "x = 1"), (8, "y = 2"), (10, "z = 3")]),
        ("Sums", "lua", [(14, "> 4")]),
    ]
