"""The ledger of errata: its format, and how entries find their examples."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from th_shell.docs.judging.ledger import (
    Erratum,
    LedgerError,
    Place,
    find,
    ledger_path,
    places,
    read_ledger,
    updated_ledger,
)
from th_shell.docs.reading.examples import Example, Kind

EXAMPLES = [
    Example(3, 0, Kind.BARE, "x = torch.Tensor(2)"),
    Example(4, 0, Kind.PROMPT, "x"),
    Example(20, 0, Kind.PROMPT, "x"),
    Example(30, 0, Kind.PROMPT, "f(\n1) -- more"),
    Example(40, 0, Kind.SHELL, "cat a"),
]


def ledger(folder: Path, text: str) -> Path:
    path = folder / "page.md.errata"
    path.write_text(text)
    return path


def test_reasons_and_entries(tmp_path: Path) -> None:
    path = ledger(
        tmp_path,
        "# The page of 2015.\n\nA row was lost.\n  4: > x -- its rows\n  30: th> f(\n"
        "\nNames a function\nthat is gone.\n    3:   x =  torch.Tensor(2)\n",
    )
    entries = read_ledger(path)
    assert [(e.line, e.source, e.reason, e.at) for e in entries] == [
        (4, "x", "A row was lost.", 4),
        (30, "f(", "A row was lost.", 5),
        (3, "x = torch.Tensor(2)", "Names a function that is gone.", 9),
    ]
    assert {i: entry.line for i, entry in find(entries, EXAMPLES).items()} == {1: 4, 3: 30, 0: 3}


def test_entry_finds_the_nearest_example(tmp_path: Path) -> None:
    entries = read_ledger(ledger(tmp_path, "Grew.\n  14: x\n"))
    assert list(find(entries, EXAMPLES)) == [2]


def test_entry_for_a_shell_line(tmp_path: Path) -> None:
    assert list(find(read_ledger(ledger(tmp_path, "Why.\n  40: $ cat a\n")), EXAMPLES)) == [4]


def test_no_ledger(tmp_path: Path) -> None:
    assert read_ledger(tmp_path / "none.errata") == []


def test_where_it_stands() -> None:
    assert ledger_path(Path("doc/a.md")) == Path("doc/a.md.errata")
    assert ledger_path(Path("doc/a.md"), Path("other")) == Path("other/a.md.errata")


@pytest.mark.parametrize("text", ["  4: x\n", "Why.\n  no line\n"])
def test_malformed(tmp_path: Path, text: str) -> None:
    path = ledger(tmp_path, text)
    line = text.count("\n")
    with pytest.raises(LedgerError) as raised:
        read_ledger(path)
    assert str(raised.value) == f"{path}:{line}: neither a reason nor '  LINE: INPUT' under one"


def test_entry_without_example(tmp_path: Path) -> None:
    entries = read_ledger(ledger(tmp_path, "Why.\n  4: y\n"))
    with pytest.raises(LedgerError) as raised:
        find(entries, EXAMPLES)
    assert str(raised.value) == "ledger line 2: the page has no example 'y'"


def test_two_entries_for_one_example(tmp_path: Path) -> None:
    entries = read_ledger(ledger(tmp_path, "Why.\n  4: x\n  5: x\n"))
    with pytest.raises(LedgerError) as raised:
        find(entries, EXAMPLES)
    assert str(raised.value) == "ledger line 3: a second entry for one example"


RIGHT = """Why.
  3: x
    | 1
    |
    |  2
  4: y
    > y =
    >   5
  5: z
"""


def test_what_is_right(tmp_path: Path) -> None:
    entries = read_ledger(ledger(tmp_path, RIGHT))
    assert [(e.line, e.output, e.input) for e in entries] == [
        (3, "1\n\n 2", None),
        (4, None, "y =\n  5"),
        (5, None, None),
    ]


def test_places_find_examples_among_equal_ones(tmp_path: Path) -> None:
    entry = Erratum(20, "x", "Why.", place=Place("Two", 1, places(PLACED)[2].text))
    # All lines have moved down by more than the examples are apart.
    moved = [replace(example, line=example.line + 40) for example in PLACED]
    assert list(find([entry], moved)) == [2]
    # The heading was renamed; then another text was documented.
    renamed = [replace(example, heading=f"New {example.heading}") for example in moved]
    assert list(find([entry], renamed)) == [2]
    assert list(find([entry], [replace(example, expected="0") for example in moved])) == [2]


PLACED = [
    Example(4, 0, Kind.PROMPT, "x", "1", heading="One"),
    Example(8, 0, Kind.PROMPT, "x", "2", heading="One"),
    Example(20, 0, Kind.PROMPT, "x", "3", heading="Two"),
    Example(24, 0, Kind.PROMPT, "x", "4", heading="Two"),
]


def test_equal_examples_of_which_one_is_gone() -> None:
    equal = [Example(line, 0, Kind.PROMPT, "x", "1") for line in (4, 8, 12)]
    entries = [Erratum(8, "x", "Why.", place=places(equal)[1]), Erratum(12, "x", "Why.")]
    entries[1] = replace(entries[1], place=places(equal)[2])
    assert sorted(find(entries, equal[1:])) == [0, 1]


def test_thousands_of_equal_examples_are_found_in_little_time() -> None:
    equal = [Example(line, 0, Kind.PROMPT, "x", "1") for line in range(3000)]
    entries = [
        Erratum(e.line, "x", "Why.", place=place)
        for e, place in zip(equal, places(equal), strict=True)
    ]
    start = time.monotonic()
    assert list(find(entries, equal)) == list(range(3000))
    assert time.monotonic() - start < 1


def test_entries_are_struck_with_their_reasons() -> None:
    text = "# Notes.\n\nGrew.\n  4: > x\n    | 7\n  8: x\n\nShrank,\nthen grew.\n  20: x\n    | 1\n"
    old = {0: Erratum(4, "x", "Grew.", 4), 1: Erratum(8, "x", "Grew.", 6)}
    old[2] = Erratum(20, "x", "Shrank, then grew.", 10)
    kept = {1: replace(old[1], place=places(PLACED)[1], output="2")}
    assert updated_ledger(text, old, kept, PLACED) == (
        f"# Notes.\n\nGrew.\n    8: > x\n        @ {places(PLACED)[1]}\n        | 2\n\n"
    )


def test_an_input_with_a_prompt_of_its_own(tmp_path: Path) -> None:
    example = Example(4, 0, Kind.PROMPT, "> x")
    entry = Erratum(4, "", "Why.", place=places([example])[0], output="")
    text = updated_ledger("", {}, {0: entry}, [example])
    assert list(find(read_ledger(ledger(tmp_path, text)), [example])) == [0]


def test_a_return_of_the_carriage_ends_no_line(tmp_path: Path) -> None:
    path = tmp_path / "page.md.errata"
    path.write_bytes(b"Why.\r\n  4: x\r\n    | 10 %\r20 %\r\n")
    assert [e.output for e in read_ledger(path)] == ["10 %\r20 %"]


def test_entries_are_written_and_read_again(tmp_path: Path) -> None:
    path = ledger(tmp_path, "# Notes.\n\nGrew.\n  3: > x -- words\n    | 7\n\n# The end.\n")
    old = find(read_ledger(path), PLACED)
    assert list(old) == [0]
    known = places(PLACED)
    new = {
        0: replace(old[0], place=known[0], output="5\n\n 6\n\n"),
        2: Erratum(0, "", "Shrank.", place=known[2], input="y =\n  5"),
        3: Erratum(0, "", "Shrank.", place=known[3], output=""),
    }
    text = updated_ledger(path.read_text(), old, new, PLACED)
    assert text == (
        f"# Notes.\n\nGrew.\n    4: > x\n        @ {known[0]}\n        | 5\n        |\n"
        "        |  6\n\n# The end.\n\nShrank.\n"
        f"    20: > x\n        @ {known[2]}\n        > y =\n        >   5\n"
        f"    24: > x\n        @ {known[3]}\n        |\n"
    )
    path.write_text(text)
    again = find(read_ledger(path), PLACED)
    assert {i: (e.reason, e.place, e.output, e.input) for i, e in again.items()} == {
        0: ("Grew.", known[0], "5\n\n 6", None),
        2: ("Shrank.", known[2], None, "y =\n  5"),
        3: ("Shrank.", known[3], "", None),
    }
    assert updated_ledger(text, again, again, PLACED) == text


def test_a_malformed_place(tmp_path: Path) -> None:
    with pytest.raises(LedgerError) as raised:
        read_ledger(ledger(tmp_path, "Why.\n  4: x\n    @ nowhere\n"))
    assert str(raised.value) == "ledger line 2: no place: nowhere"
