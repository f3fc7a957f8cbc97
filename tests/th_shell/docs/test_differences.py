"""What is shown as different: nothing that the comparison does not count."""

import time

import pytest

from th_shell.docs.reporting.differences import Block, Piece, changes, line_blocks, word_pieces
from th_shell.docs.reporting.excerpts import PLAIN, Style, diff_lines, shortened

MATRIX = " 1  2\n 3  4\n[torch.DoubleTensor of size 2x2]"


@pytest.mark.parametrize(
    ("documented", "printed"),
    [
        (MATRIX, "\n1 2\n\n3   4 \n[torch.DoubleTensor of dimension 2x2]\n"),
        ("0.1411\n2", "0.14112000805987\n2"),
        ("5 -- so many\n-- a comment", "5"),
        ("a\n...\nb", "a\n1\n2\nb"),
        ("table: 0x1a", "table: 0x2b"),
        ("[PASS]", "[WAIT]\r\x1b[0;32m[PASS]\x1b[0m"),
    ],
)
def test_what_does_not_count_is_no_difference(documented: str, printed: str) -> None:
    assert all(block.same for block in line_blocks(documented, printed))
    assert changes(documented, printed) == []
    assert diff_lines(documented, printed, PLAIN) == []


@pytest.mark.parametrize(
    ("documented", "printed", "blocks"),
    [
        ("1\n2", "1\n3", [Block(True, ("1",), ("1",)), Block(False, ("2",), ("3",))]),
        ("1", "1\n3", [Block(True, ("1",), ("1",)), Block(False, (), ("3",))]),
        # A line of dots stands for lines, but not for those that the page has after it.
        (
            "1\n...\n4",
            "1\n2\n3",
            [Block(True, ("1",), ("1",)), Block(False, ("4",), ("2", "3"))],
        ),
        ("0.10\n7", "0.1\n8", [Block(True, ("0.10",), ("0.1",)), Block(False, ("7",), ("8",))]),
    ],
)
def test_blocks(documented: str, printed: str, blocks: list[Block]) -> None:
    assert line_blocks(documented, printed) == blocks


def test_in_code_everything_counts() -> None:
    assert line_blocks("x -- a\ny", "x\ny", exact=True)[0] == Block(False, ("x -- a",), ("x",))


def test_words() -> None:
    documented, printed = (
        "[torch.DoubleTensor of size 2x3]",
        "[torch.DoubleTensor of dimension 3x2]",
    )
    assert word_pieces(documented, printed) == [
        Piece(" ", "[torch.DoubleTensor of size"),
        Piece("-", " 2x3"),
        Piece("+", " 3x2"),
        Piece(" ", "]"),
    ]


@pytest.mark.parametrize(
    ("documented", "printed", "found"),
    [
        ("1 a 2\n3 a 4", "1 b 2\n3 b 4", [("a", "b")]),
        ("1 2 3", "1 2 3 4", [("", "4")]),
        ("1 2 3", "1 3", [("2", "")]),
        ("a 1 b", "c 1 d", [("a", "c"), ("b", "d")]),
    ],
)
def test_changes(documented: str, printed: str, found: list[tuple[str, str]]) -> None:
    assert changes(documented, printed) == found


def test_diff() -> None:
    shown = ["[2 lines agree]", "  3", "  4", "  5", "- 6", "+ 7"]
    assert diff_lines("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\n7", PLAIN) == shown


def test_colours_and_control_codes() -> None:
    shown = diff_lines("a\x1b[2J", "b\t\x07", Style(True))
    assert shown == ["\x1b[31m- a\\027[2J\x1b[0m", "\x1b[32m+ b       \\007\x1b[0m"]


@pytest.mark.thorough
def test_long_lines_are_shown_where_they_differ() -> None:
    same = "x" * 5_000_000
    begun = time.process_time()
    shown = diff_lines(f"{same}a", f"{same}b", PLAIN)
    assert shown == [
        f"{sign} [4999960 characters ...] {'x' * 40}{end}" for sign, end in ("-a", "+b")
    ]
    assert time.process_time() - begun < 2
    assert shortened(same) == "x" * 400 + " [... 4999600 more characters]"


def test_long_texts_are_shown_in_part() -> None:
    lines = [str(number) for number in range(100_000)]
    shown = diff_lines("\n".join(lines), "\n".join([*lines[:90_000], *"abc"]), PLAIN)
    assert shown[0] == "[89997 lines agree]"
    assert shown[4] == "- 90000"
    assert shown[-1] == f"... {1 + 3 + 10_000 + 3 - 40} more lines"
