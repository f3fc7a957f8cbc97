"""From outcomes to verdicts, and the whole way from a page to its results."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.docs.conftest import CheckPage
from th_shell.docs.checking import check_page
from th_shell.docs.judging.verdicts import PageResult, judge
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Outcome, Runner
from th_shell.toml import loads


def verdict(
    expected: str, first: Outcome, second: Outcome | None = None, kind: Kind = Kind.PROMPT
) -> tuple[str, str]:
    example = Example(1, 0, kind, "f()", expected)
    (result,) = judge([example], [(first, second or first)])
    return result.verdict.value, result.note


RANDOM = Outcome("0.1000\n"), Outcome("0.2000\n")
IN_ANY_ORDER = Outcome("{\n b : 2\n a : 1\n}\n"), Outcome("{\n a : 1\n b : 2\n}\n")
IN_ONE = "an error in one of two runs: bad"
BY_CHANCE = "the output depends on chance; compared by layout"


@pytest.mark.parametrize(
    ("expected", "first", "second", "found"),
    [
        ("1", Outcome("1\t\n"), None, ("pass", "")),
        ("", Outcome("1\t\n"), None, ("ran", "")),
        ("2", Outcome("1\t\n"), None, ("differs", "")),
        ("0.3000", *RANDOM, ("layout", "")),
        ("0.3000 0.4000", *RANDOM, ("differs", BY_CHANCE)),
        ("", *RANDOM, ("ran", "")),
        ("...", *RANDOM, ("ran", "")),
        ("{\n a : 1\n b : 2\n}", Outcome("{\n b : 2\n a : 1\n}\n"), None, ("layout", "")),
        ("{a = 1, b = 2}", *IN_ANY_ORDER, ("pass", "")),
        ("{a = 1, b = 3}", *IN_ANY_ORDER, ("differs", BY_CHANCE)),
        ("'a b '", Outcome("a b \t\n"), None, ("pass", "")),
        ("'a b '", Outcome("a b\t\n"), None, ("differs", "")),
        ("{\n a : 1\n b : -2\n}", *IN_ANY_ORDER, ("differs", BY_CHANCE)),
        ("", Outcome(error="stdin:1: bad"), None, ("error", "")),
        ("stdin:1: bad", Outcome(error="stdin:1: bad"), None, ("pass", "")),
        ("1\nstdin:1: bad", Outcome("1\n", error="stdin:1: bad"), None, ("pass", "")),
        ("stdin:1: good", Outcome(error="stdin:1: bad"), None, ("error", "")),
        ("bad", Outcome("bad"), Outcome(error="bad"), ("error", IN_ONE)),
        ("1", Outcome("1", lost="crashed"), None, ("error", "crashed")),
        ("1", Outcome("1"), Outcome("1", lost="crashed"), ("error", "crashed")),
    ],
)  # fmt: skip
def test_verdicts(
    expected: str, first: Outcome, second: Outcome | None, found: tuple[str, str]
) -> None:
    assert verdict(expected, first, second) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("f('x') -- Invalid.", ("layout", "an error that the comment announces")),
        ("f('x') --> error: no number", ("layout", "an error that the comment announces")),
        ("f('an error')", ("error", "")),
        ("f('x') -- an error\ng()", ("error", "")),
        ("f('x') -- the terror", ("error", "")),
    ],
)
def test_comments_that_announce_errors(source: str, found: tuple[str, str]) -> None:
    outcome = Outcome(error="stdin:1: bad")
    (result,) = judge([Example(1, 0, Kind.PROMPT, source)], [(outcome, outcome)])
    assert (result.verdict.value, result.note) == found


def test_text_is_no_example() -> None:
    found = verdict("prose", Outcome(lost="lost"), kind=Kind.TEXT)
    assert found == ("text", "no input: this text does not compile as Lua")


def test_statement_may_document_its_print_or_its_value() -> None:
    both = Outcome("a\t\nb\t\n", "a\t\n")
    assert verdict("a", both, kind=Kind.BARE)[0] == "pass"
    assert verdict("a\nb", both, kind=Kind.BARE)[0] == "pass"
    assert verdict("b", both, kind=Kind.BARE)[0] == "differs"
    assert verdict("a", both, kind=Kind.PROMPT)[0] == "differs"


@pytest.mark.parametrize(
    ("kind", "block", "verdicts"),
    [
        (Kind.BARE, 0, ["ran", "pass", "pass"]),
        (Kind.PROMPT, 0, ["ran", "differs", "pass"]),
        (Kind.BARE, 1, ["ran", "differs", "pass"]),
    ],
)
def test_script_shows_its_output_at_its_end(kind: Kind, block: int, verdicts: list[str]) -> None:
    examples = [
        Example(1, 0, kind, "print(1)"),
        Example(2, block, kind, "print(2)", "1\n2"),
        Example(5, block, kind, "print(3)", "3"),
    ]
    outcomes = [Outcome(f"{i}\n", f"{i}\n") for i in (1, 2, 3)]
    results = judge(examples, [(outcome, outcome) for outcome in outcomes])
    assert [result.verdict.value for result in results] == verdicts


PAGE = data(__file__, "PAGE")


WRONG = "[[errata]]\nreason = 'A wrong number.'\ninput = '{}'\n".format
RIGHT = 'prints = """\n1\n2\n[torch.DoubleTensor of size 2]"""\n'


@pytest.fixture
def check(runner: Runner, tmp_path: Path) -> Callable[[str | None], PageResult]:
    """Checks the page with errata."""

    def run(errata: str | None) -> PageResult:
        page = tmp_path / "page.md"
        page.write_text(PAGE)
        if errata is not None:
            (tmp_path / "page.md.th-docs").write_text(errata)
        return check_page(read(page, Compiler()), runner)

    return run


@pytest.mark.thorough
def test_page_without_errata(check: Callable[[str | None], PageResult]) -> None:
    result = check(None)
    assert [r.verdict.value for r in result.results] == ["ran", "differs", "pass"]
    assert result.failed


@pytest.mark.thorough
def test_erratum_explains_a_failure(check: Callable[[str | None], PageResult]) -> None:
    result = check(WRONG("x") + RIGHT)
    assert [r.verdict.value for r in result.results] == ["ran", "erratum", "pass"]
    assert result.results[1].note == "A wrong number."
    assert not result.failed


@pytest.mark.thorough
def test_erratum_must_still_be_so(check: Callable[[str | None], PageResult]) -> None:
    result = check(WRONG("x") + RIGHT + WRONG("x:sum()") + "prints = '3'\n")
    assert [r.verdict.value for r in result.results] == ["ran", "erratum", "differs"]
    assert (
        result.results[2].note == "its erratum says: A wrong number. But it is pass now: strike it."
    )
    assert result.failed


@pytest.mark.thorough
def test_an_erratum_says_what_is_right(check: Callable[[str | None], PageResult]) -> None:
    right = WRONG("x") + RIGHT
    assert not check(right).failed
    result = check(right.replace("2\n", "3\n")).results[1]
    assert result.verdict.value == "differs"
    assert result.note.startswith("its erratum says that it prints something else: 1\n3")


@pytest.mark.thorough
def test_an_erratum_that_does_not_say_it(check: Callable[[str | None], PageResult]) -> None:
    result = check(WRONG("x")).results[1]
    note = "its erratum does not say what it prints: th-docs --update writes that"
    assert (result.verdict.value, result.note) == ("differs", note)


@pytest.mark.thorough
def test_an_erratum_whose_output_depends_on_chance(check_text: CheckPage, tmp_path: Path) -> None:
    page = "```\n> x = torch.rand(2)\n> x\n 1 2 3\n> torch.ones(2)\n 1 2\n```\n"
    assert not check_text(page, update=True).failed
    errata = loads((tmp_path / "page.md.th-docs").read_text())["errata"]
    assert [one.get("by_chance", False) for one in errata] == [True, False]
    assert not check_text(page).failed
    # What was fixed must not become random.
    assert check_text(page.replace("torch.ones", "torch.rand")).failed
    assert check_text(page.replace("> torch.ones(2)", "> torch.ones(2):set(x:storage())")).failed


@pytest.mark.thorough
def test_an_erratum_has_the_right_input(check: Callable[[str | None], PageResult]) -> None:
    right = WRONG("x") + "right = 'x + torch.Tensor{0, 1}'\n"
    assert [r.verdict.value for r in check(right).results] == ["ran", "erratum", "pass"]
    result = check(right.replace("1}", "2}")).results[1]
    assert (result.verdict.value, result.got.split()[:2]) == ("differs", ["1", "4"])
    assert result.note == "its erratum says that this holds: x + torch.Tensor{0, 2}"


def test_bad_errata_fail_the_page(
    check: Callable[[str | None], PageResult], tmp_path: Path
) -> None:
    result = check(WRONG("y"))
    file = tmp_path / "page.md.th-docs"
    assert result.problem == f"{file}: errata 1: the page has no such example: y"
    assert result.failed
