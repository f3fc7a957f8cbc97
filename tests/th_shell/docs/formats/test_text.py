"""Headings of text pages. Their fences are tested in test_document.py."""

import pytest

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
