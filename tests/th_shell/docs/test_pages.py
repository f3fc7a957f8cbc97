"""What depends on chance is checked by the numbers that the page shows."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.checking import check_page
from th_shell.docs.judging.verdicts import Result
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner

Check = Callable[[str], list[Result]]


@pytest.fixture
def check(runner: Runner, tmp_path: Path) -> Check:
    """The results of a page with one block."""

    def run(text: str) -> list[Result]:
        page = tmp_path / "page.md"
        page.write_text(f"```lua\n{text}\n```\n")
        return list(check_page(read(page, Compiler()), runner).results)

    return run


def verdicts(results: list[Result]) -> list[str]:
    return [result.verdict.value for result in results]


RANDOM = data(__file__, "RANDOM")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("follows", "verdict"), data(__file__, "test_what_follows_from_documented_numbers")
)
def test_what_follows_from_documented_numbers(check: Check, follows: str, verdict: str) -> None:
    found = verdicts(check(RANDOM + follows))
    assert (found[1], found[-1]) == ("layout", verdict)


@pytest.mark.thorough
def test_a_number_in_a_variable(check: Check) -> None:
    page = "> n = torch.uniform()\n> n\n0.25\n> n * 2\n0.5\n> n * 4\n1.2\n"
    assert verdicts(check(page)) == ["ran", "layout", "pass", "differs"]


@pytest.mark.thorough
def test_a_mask_is_taken_over_with_its_type(check: Check) -> None:
    page = (
        "> mask = torch.ByteTensor(1, 3):bernoulli()\n> mask\n 1  0  1\n"
        "[torch.ByteTensor of dimension 1x3]\n> mask:sum()\n2\n"
    )
    assert verdicts(check(page)) == ["ran", "layout", "pass"]


@pytest.mark.thorough
@pytest.mark.parametrize("wrong", data(__file__, "test_what_no_run_can_print"))
def test_what_no_run_can_print(check: Check, wrong: str) -> None:
    assert verdicts(check(wrong)) == ["differs"]


@pytest.mark.thorough
def test_what_contradicts_its_own_sizes_although_their_number_depends_on_chance(
    check: Check,
) -> None:
    ones = "\n".join(" 1" for _ in range(12))
    page = f"> x = torch.rand(99)\n> x[x:gt(.5)]\n{ones}\n[torch.DoubleTensor of dimension 3]"
    found = check(page)[-1]
    assert (found.verdict.value, found.note) == (
        "damaged",
        "the text contradicts its last line, 3: 12 numbers for 3 elements",
    )


COLUMN = "> x = torch.rand(5)\n> x\n 0.12\n 0.5\n 0.25\n 0.75\n {}\n"
COLUMN += "[torch.DoubleTensor of dimension 5]\n"


@pytest.mark.thorough
@pytest.mark.parametrize(("last", "verdict"), [("0.31", "layout"), ("0.91", "differs")])
def test_what_is_shown_twice(check: Check, last: str, verdict: str) -> None:
    found = check(COLUMN.format("0.31") + COLUMN.format(last))
    assert verdicts(found) == ["ran", "layout", "ran", verdict]
    if verdict == "differs":
        note = "by chance, but its numbers are those under line 3 with 0.91 for 0.31"
        assert found[-1].note == note


@pytest.mark.thorough
def test_what_is_shown_again_in_another_block(check: Check) -> None:
    shown = COLUMN.format("0.31")
    again = shown[shown.index("\n") + 1 :]
    for page, verdict in (
        (again, "pass"),
        (again.replace("0.75", "0.85"), "differs"),
        (again.replace("0.", "0.1"), "layout"),
    ):
        found = check(f"{shown}```\n\nShown again:\n\n```lua\n{page}")
        assert verdicts(found)[-1] == verdict


@pytest.mark.thorough
def test_what_is_fixed_beside_what_depends_on_chance(check: Check) -> None:
    page = (
        "> torch.cat(torch.ones(2), torch.rand(2), 1)\n 1.0000\n {}\n 0.2500\n 0.7500\n"
        "[torch.DoubleTensor of dimension 4]\n"
    )
    assert verdicts(check(page.format("1.0000"))) == ["layout"]
    assert verdicts(check(page.format("0.0000"))) == ["differs"]


@pytest.mark.thorough
def test_results_of_rounded_literals(check: Check) -> None:
    # The second number is what the unrounded matrix gives, the third one of no matrix near it.
    page = "> 1 / (1.2345 - 1.2341)\n{}\n"
    assert verdicts(check(page.format("2500"))) == ["pass"]
    assert verdicts(check(page.format("2380.952"))) == ["pass"]
    assert verdicts(check(page.format("25000"))) == ["differs"]


@pytest.mark.thorough
def test_names_without_a_value(check: Check) -> None:
    page = "> y = 1\n> y\n1\n> res = v1 * y\n> res\n7\n> nothing\n5\n> Y\n1\n> y\n2\n"
    found = check(page)
    assert verdicts(found) == ["ran", "pass", *["fragment"] * 3, "healed", "differs"]
    assert found[2].note == "the page gives no value to: v1"


@pytest.mark.thorough
def test_objects_that_get_what_is_missing(check: Check) -> None:
    page = (
        "> t = {add = table.insert}\n> y = nothing + 1\n> t:add(y)\n> t[1]\n1\n> t = {}\n> t\n1\n"
    )
    assert verdicts(check(page)) == ["ran", "fragment", "ran", "fragment", "ran", "differs"]


def test_modules_are_not_spoilt(check: Check) -> None:
    page = "> m = require 'torch'\n> m.abs(nothing)\n> m.nothing()\n"
    assert verdicts(check(page)) == ["ran", "fragment", "error"]


@pytest.mark.thorough
def test_methods_of_classes_that_the_page_leaves_out(check: Check) -> None:
    page = "> for Map = 1, 2 do end\n> map(1)\n"
    assert verdicts(check(page)) == ["ran", "fragment"]
    page = "> for module = 1, 2 do end\n> function Module:run() end\n"
    assert verdicts(check(page)) == ["ran", "fragment"]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("example", "verdict", "note"), data(__file__, "test_files_that_the_page_does_not_make")
)
def test_files_that_the_page_does_not_make(
    check: Check, example: str, verdict: str, note: str
) -> None:
    found = check(f"> {example}")[-1]
    assert (found.verdict.value, found.note) == (verdict, note)


@pytest.mark.thorough
def test_the_clock_is_no_seed(check: Check) -> None:
    # Runs with different seeds may print different seconds.
    page = "> later = torch.random(1, 5)\n> os.time() + later\n1600000000\n"
    assert verdicts(check(page)) == ["ran", "layout"]
