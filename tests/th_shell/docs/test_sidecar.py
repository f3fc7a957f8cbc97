"""The file beside a page: its errata, how they find their examples, and how it is written."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from th_shell.docs.reading.examples import Example, Kind, identities
from th_shell.docs.settings.settings import SettingsError
from th_shell.docs.settings.sidecar import Erratum, Sidecar, find_errata

EXAMPLES = [
    Example(4, 0, Kind.PROMPT, "x", "1", heading="One"),
    Example(8, 0, Kind.PROMPT, "x", "2", heading="One"),
    Example(20, 0, Kind.PROMPT, "x", "3", heading="Two"),
    Example(24, 0, Kind.PROMPT, "x", "4", heading="Two"),
    Example(30, 0, Kind.PROMPT, "f(\n1) -- more", heading="Two"),
    Example(40, 0, Kind.SHELL, "cat  a", heading="Two"),
]
PLACES = [place._asdict() for place in identities(EXAMPLES)]


def beside(folder: Path, text: str) -> Sidecar:
    path = folder / "page.md.th-docs"
    path.write_text(text)
    return Sidecar(path)


def erratum(index: int, **said: object) -> Erratum:
    return Erratum(PLACES[index], "Why.", **said)  # type: ignore[arg-type]


def found(errata: list[Erratum], examples: list[Example] = EXAMPLES) -> dict[int, int]:
    return find_errata(errata, examples, Path("page.md.th-docs"))


def test_where_it_stands(tmp_path: Path) -> None:
    assert Sidecar.of(Path("doc/a.md")).path == Path("doc/a.md.th-docs")
    assert Sidecar.of(Path("doc/a.md"), Path("other")).path == Path("other/a.md.th-docs")
    assert Sidecar.of(Path("doc/a.md"), tmp_path, Path()).path == tmp_path / "doc/a.md.th-docs"


def test_errata_of_a_page_that_was_run_with_pages_of_other_folders(tmp_path: Path) -> None:
    page = tmp_path / "doc" / "a.md"
    for place in ("doc/a.md.th-docs", "a.md.th-docs"):
        (tmp_path / "other" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "other" / place).touch()
        assert Sidecar.of(page, tmp_path / "other").path == tmp_path / "other" / place


def test_no_file(tmp_path: Path) -> None:
    file = Sidecar.of(tmp_path / "none.md")
    assert (file.errata(), file.verdicts()) == ([], None)


def test_errata(tmp_path: Path) -> None:
    text = """\
        [[errata]]
        reason = "A row was lost."
        input = "  x  -- its rows"
        prints = '''
        1

         2'''
        by_chance = true
        [[errata]]
        reason = "Two."
        heading = "One"
        input = "y"
        ordinal = 3
        documented = "0123"
        right = "y =\\n5"
    """
    assert beside(tmp_path, text.replace("        ", "")).errata() == [
        Erratum({"input": "x -- its rows"}, "A row was lost.", "1\n\n 2", True),
        Erratum(
            {"heading": "One", "input": "y", "ordinal": 3, "documented": "0123"},
            "Two.",
            right="y =\n5",
        ),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("errata = 1", "errata: not a list of tables"),
        ("[[errata]]\ninput = 'x'", "errata 1: no 'reason'"),
        ("[[errata]]\nreason = 'x'", "errata 1: no 'input'"),
        ("[[errata]]\nskip = true", "errata 1: unknown setting 'skip'"),
        ("[[errata]]\nprints = 3", "errata 1: prints: not a text"),
    ],
)
def test_malformed(tmp_path: Path, text: str, problem: str) -> None:
    file = beside(tmp_path, text)
    with pytest.raises(SettingsError) as raised:
        file.errata()
    assert str(raised.value) == f"{file.path}: {problem}"


@pytest.mark.parametrize(
    ("said", "index"),
    [
        ({"input": "x"}, 0),
        ({"input": "x", "ordinal": 2}, 1),
        ({"input": "x", "heading": "Two"}, 2),
        ({"input": "x", "heading": "Two", "ordinal": 2}, 3),
        ({"input": "x", "documented": PLACES[3]["documented"]}, 3),
        ({"input": "f("}, 4),
        ({"input": "cat a"}, 5),
    ],
)
def test_what_is_said_finds_the_example(said: Mapping[str, object], index: int) -> None:
    assert found([Erratum(said, "Why.")]) == {index: 0}


def test_places_find_examples_that_have_changed() -> None:
    renamed = [replace(example, heading=f"New {example.heading}") for example in EXAMPLES]
    assert found([erratum(2)], renamed) == {2: 0}
    assert found([erratum(2)], [replace(example, expected="0") for example in EXAMPLES]) == {2: 0}
    assert found([erratum(1)], EXAMPLES[1:]) == {0: 0}


def test_equal_examples_of_which_one_is_gone() -> None:
    equal = [Example(line, 0, Kind.PROMPT, "x", "1") for line in (4, 8, 12)]
    errata = [Erratum(place._asdict(), "Why.") for place in identities(equal)[1:]]
    assert sorted(found(errata, equal[1:])) == [0, 1]


def test_thousands_of_equal_examples_are_found_in_little_time() -> None:
    equal = [Example(line, 0, Kind.PROMPT, "x", "1") for line in range(3000)]
    errata = [Erratum(place._asdict(), "Why.") for place in identities(equal)]
    start = time.monotonic()
    assert list(found(errata, equal)) == list(range(3000))
    assert time.monotonic() - start < 1


@pytest.mark.parametrize(
    ("count", "source", "problem"),
    [
        (1, "y", "1: the page has no such example: y"),
        (2, "f(", "2: a second one for one example: f("),
    ],
)
def test_errata_without_an_example(count: int, source: str, problem: str) -> None:
    with pytest.raises(SettingsError) as raised:
        found([Erratum({"input": source}, "Why.")] * count)
    assert str(raised.value) == f"page.md.th-docs: errata {problem}"


def test_errata_are_written_and_read_again(tmp_path: Path) -> None:
    settings = "# Notes.\nrtol = 1e-3\n\n[[examples]]\nordinal = 2\nsetup = 'x' # why\n"
    file = beside(
        tmp_path,
        f"{settings}\n\n[[errata]] # the first\nreason = 'Grew.'\ninput = 'x'\nprints = '7'\n"
        "\n[verdicts]\n'a' = 'ran'\n",
    )
    new = {
        0: erratum(0, prints="5\n\n 6\x7f\r\x1b\\\"'"),
        2: erratum(2, right="y =\n  5"),
        3: erratum(3, prints="", by_chance=True),
    }
    assert file.update(list(new.values()), {'One/1/"x"': "erratum"})
    known = {i: PLACES[i]["documented"] for i in new}
    assert file.path.read_text() == (
        f'{settings}\n[[errata]]\nreason = "Why."\nheading = "One"\ninput = "x"\nordinal = 1\n'
        f'documented = "{known[0]}"\n'
        'prints = """\n5\n\n 6\\u007f\\r\\u001b\\\\\\"\'"""\n\n'
        f'[[errata]]\nreason = "Why."\nheading = "Two"\ninput = "x"\nordinal = 1\n'
        f'documented = "{known[2]}"\nright = """\ny =\n  5"""\n\n'
        f'[[errata]]\nreason = "Why."\nheading = "Two"\ninput = "x"\nordinal = 2\n'
        f'documented = "{known[3]}"\nprints = ""\nby_chance = true\n\n'
        '[verdicts]\n"One/1/\\"x\\"" = "erratum"\n'
    )
    assert file.errata() == list(new.values())
    assert file.verdicts() == {'One/1/"x"': "erratum"}
    text = file.path.read_text()
    assert not file.update(list(new.values()), {'One/1/"x"': "erratum"})
    assert file.path.read_text() == text


@pytest.mark.parametrize(
    "text",
    [
        "errata = [{reason = '1', input = 'x'}]\n",
        "verdicts = {a = 'pass'}\n",
        "[verdicts]\n'a' = 'pass'\n[[examples]]\nordinal = 1\natol = 1\n",
        "[[examples]]\nordinal = 1\nsetup = '''\n[[errata]]'''\n",
    ],
)
def test_settings_that_would_be_lost_are_not_written(tmp_path: Path, text: str) -> None:
    file = beside(tmp_path, text)
    with pytest.raises(SettingsError) as raised:
        file.update([], {})
    assert str(raised.value) == f"{file.path}: errata and verdicts are not its last tables"
    assert file.path.read_text() == text
