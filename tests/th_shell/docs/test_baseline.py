"""What examples have reached before is kept beside the page: a fall is a failure."""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.docs.conftest import CheckPage
from th_shell.docs.judging.expectations import verdicts_before
from th_shell.docs.settings.settings import SettingsError
from th_shell.docs.settings.sidecar import Sidecar

PAGE = data(__file__, "PAGE")


#: What the page reaches.
REACHED = data(__file__, "REACHED")


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    path = tmp_path / "page.md.th-docs"
    path.write_text(REACHED)
    return path


@pytest.mark.thorough
def test_update_writes_it(check_text: CheckPage, tmp_path: Path) -> None:
    assert not check_text(PAGE, update=True).failed
    assert (tmp_path / "page.md.th-docs").read_text() == REACHED


@pytest.mark.thorough
def test_a_fall_is_a_failure(check_text: CheckPage, baseline: Path) -> None:
    result = check_text(PAGE.replace("+ 1\n2\n", "+ 1\n"))
    notes = [r.note for r in result.results if r.failed]
    assert notes == ["it was pass, and is ran now (see --update)"]


@pytest.mark.thorough
def test_a_result_that_became_random(check_text: CheckPage, baseline: Path) -> None:
    result = check_text(PAGE.replace("x = 1", "x = torch.uniform(1, 3)"))
    notes = [r.note for r in result.results if r.failed]
    assert notes == ["it was pass, and is layout now (see --update)"]


@pytest.mark.thorough
def test_other_lines_and_better_verdicts_are_none(check_text: CheckPage, baseline: Path) -> None:
    more = "Words.\n\n```\n> y = 1\n```\n\n" + PAGE
    assert not check_text(more).failed
    assert not check_text(PAGE.replace("> x = 1\n", "> x = 1 -- one\n> x\n1\n")).failed


@pytest.mark.thorough
def test_an_example_that_is_gone(check_text: CheckPage, baseline: Path) -> None:
    gone = check_text(PAGE.replace("x + 1", "x + 2 - 1"))
    lost = "of its examples that were compared are gone, first: One/1/x + 1 (see --update)"
    assert gone.problem == f"1 {lost}"
    assert not check_text(PAGE.replace("> x = 1", "x = 1 -- one")).failed


def test_a_heading_with_a_return_of_the_carriage(check_text: CheckPage) -> None:
    text = "# A\rB\n\n```\n> 1\n1\n```\n"
    assert not check_text(text, update=True, as_text=True).failed
    assert not check_text(text, as_text=True).failed


@pytest.mark.thorough
def test_update_accepts_a_fall(check_text: CheckPage, baseline: Path) -> None:
    fallen = PAGE.replace("+ 1\n2\n", "+ 1\n")
    assert not check_text(fallen, update=True).failed
    assert not check_text(fallen).failed


def test_no_file(tmp_path: Path) -> None:
    assert verdicts_before(Sidecar.of(tmp_path / "none.md")) == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    data(__file__, "test_malformed"),
)
def test_malformed(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "page.md.th-docs"
    path.write_text(text)
    with pytest.raises(SettingsError) as raised:
        verdicts_before(Sidecar(path))
    assert str(raised.value) == f"{path}: verdicts: {problem}"


@pytest.mark.thorough
@pytest.mark.parametrize("said", ["skip", "skip unless_module=no.such", "xfail"])
def test_what_settings_say_is_no_fall(check_text: CheckPage, baseline: Path, said: str) -> None:
    page = PAGE.replace("> x + 1\n2\n", f"> x + 1 -- th-docs: {said}\n3\n")
    assert not check_text(page).failed
