"""The file beside a page: its errata, how they find their examples, and how it is written."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.data_files import data
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


@pytest.mark.parametrize(("text", "problem"), data(__file__, "test_malformed"))
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
    file = beside(
        tmp_path,
        "# Notes.\nrtol = 1e-3\n\n# Grew.\n[[errata]] # the first\nreason = 'Grew.'\n"
        "input = 'x'\nprints = '7'\n\n[[examples]]\nordinal = 2\nsetup = '''\n[[errata]]\n'''\n"
        "\n[verdicts]\n'a' = 'ran'\n",
    )
    new = {
        0: erratum(0, prints="5\n\n 6\x7f\r\x1b\\\"'"),
        2: erratum(2, right="y =\n  5"),
        3: erratum(3, prints="", by_chance=True),
    }
    assert file.update(EXAMPLES, new, {'One/1/"x"': "erratum"})
    known = {i: PLACES[i]["documented"] for i in new}
    assert file.path.read_text() == (
        '# Notes.\nrtol = 1e-3\n\n# Grew.\n[[errata]] # the first\nreason = "Why."\n'
        f'heading = "One"\ninput = \'x\'\nordinal = 1\ndocumented = "{known[0]}"\n'
        'prints = """\n5\n\n 6\\u007f\\r\\u001b\\\\\\"\'"""\n\n'
        "[[examples]]\nordinal = 2\nsetup = '''\n[[errata]]\n'''\n\n"
        f'[[errata]]\nreason = "Why."\nheading = "Two"\ninput = "x"\nordinal = 1\n'
        f'documented = "{known[2]}"\nright = """\ny =\n  5"""\n\n'
        f'[[errata]]\nreason = "Why."\nheading = "Two"\ninput = "x"\nordinal = 2\n'
        f'documented = "{known[3]}"\nprints = ""\nby_chance = true\n\n'
        '[verdicts]\n"One/1/\\"x\\"" = "erratum"\n'
    )
    assert dict(zip(new, file.errata(), strict=True)) == new
    assert file.verdicts() == {'One/1/"x"': "erratum"}
    text = file.path.read_text()
    assert not file.update(EXAMPLES, new, {'One/1/"x"': "erratum"})
    assert file.path.read_text() == text


def test_what_holds_again_is_struck(tmp_path: Path) -> None:
    file = beside(
        tmp_path,
        "rtol = 1\n# One.\n[[errata]]\nreason = '1'\ninput = 'x'\n\n# Two.\n[[errata]]\n"
        "reason = '2' # as it was written\ninput = 'f('\n",
    )
    (kept,) = file.errata()[1:]
    assert file.update(EXAMPLES, {4: kept}, {})
    assert file.path.read_text() == (
        "rtol = 1\n\n# Two.\n[[errata]]\nreason = '2' # as it was written\ninput = 'f('\n\n"
        "[verdicts]\n"
    )


def test_errata_that_are_no_tables_of_their_own_are_not_written(tmp_path: Path) -> None:
    file = beside(tmp_path, "errata = [{reason = '1', input = 'x'}]\n")
    with pytest.raises(SettingsError) as raised:
        file.update(EXAMPLES, {}, {})
    assert str(raised.value) == f"{file.path}: an erratum is no table below a line [[errata]]"


def test_verdicts_that_are_no_table_of_their_own_are_not_written(tmp_path: Path) -> None:
    file = beside(tmp_path, "verdicts = {a = 'pass'}\n")
    with pytest.raises(SettingsError) as raised:
        file.update(EXAMPLES, {}, {})
    assert str(raised.value) == f"{file.path}: verdicts are no table below a line [verdicts]"
    assert file.path.read_text() == "verdicts = {a = 'pass'}\n"


WRITTEN = data(__file__, "WRITTEN")


def test_what_keeps_its_value_keeps_its_bytes(tmp_path: Path) -> None:
    file = beside(tmp_path, "")
    file.path.write_bytes(WRITTEN.encode())
    verdicts = {"One/1/x": "erratum", "One/2/x": "ran", "Two/1/x": "pass", "Two/2/x": "pass"}
    new = {0: erratum(0, prints="3"), 1: erratum(1, prints="4")}
    assert file.update(EXAMPLES, new, verdicts)
    first, second = (PLACES[i]["documented"] for i in new)
    erratum_of_the_second = (
        '[[errata]]\nreason = "Why."\nheading = "One"\ninput = "x"\nordinal = 2\n'
        f'documented = "{second}"\nprints = "4"\n\n'
    )
    assert file.path.read_bytes().decode() == (
        WRITTEN.replace("# All", f"{erratum_of_the_second}# All")
        .replace("  \"One/1/x\" = 'pass'", '"One/1/x" = "erratum"')
        .replace("# A remark.", '"One/2/x" = "ran"\n# A remark.')
        .replace("'Gone/1/x' = \"ran\" # gone\n", "")
        .replace("'Two/1/x' = \"ran\"\r\n", '"Two/1/x" = "pass"\r\n"Two/2/x" = "pass"\n')
        .replace('prints = """\n1 # not a remark\n2"""', 'prints = "3"')
        .replace("# since\n", '# since\nheading = "One"\n')
        .replace('input = "x"\nreason', f'input = "x"\nordinal = 1\ndocumented = "{first}"\nreason')
    )


def test_what_is_struck_leaves_the_comments_of_what_is_below(tmp_path: Path) -> None:
    text = "rtol = 1\n\n# Its own.\n[[errata]]\nreason = '1'\ninput = 'x'\n\n# Below.\n"
    file = beside(tmp_path, text)
    assert file.update(EXAMPLES, {}, {})
    assert file.path.read_text() == "rtol = 1\n\n\n# Below.\n\n[verdicts]\n"
