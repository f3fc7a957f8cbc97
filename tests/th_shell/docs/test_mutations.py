"""Errors in our own pages are noticed; `scripts/mutations` measures it for other pages."""

import random
from pathlib import Path

import pytest

from tests.data_files import data
from tests.mutations.__main__ import measured
from tests.mutations.changes import IN_OUTPUTS, is_within_tolerance
from tests.mutations.trial import Ending, Mutation, Trial
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.running.evaluation import FIRST, SECOND
from th_shell.docs.running.processes import Starter

DOCS = Path(__file__).parents[2] / "docs"
TENSOR = " 1.25  2.50\n 3.00  4.00\n[torch.DoubleTensor of size 2x2]"


def rate(endings: list[Ending]) -> float:
    """The share that is noticed, of what is outside the tolerance."""
    outside = [ending for ending in endings if ending is not Ending.TOLERATED]
    return sum(ending is not Ending.ESCAPED for ending in outside) / len(outside)


#: Random numbers, and what follows from them.
CHANCE = data(__file__, "CHANCE")


@pytest.mark.thorough
@pytest.mark.parametrize("count", [25, pytest.param(300, marks=pytest.mark.slow)])
def test_errors_in_our_pages_are_noticed(starter: Starter, count: int) -> None:
    trials = [Trial(page, starter, Compiler()) for page in sorted(DOCS.glob("*.md"))]
    found = measured(trials, count, random.Random(3), only="pass")
    assert len(found) >= 0.8 * count
    # An output that is deleted from a page that shows few others is no failure: one of 25, here.
    assert rate([one.ending for one in found]) >= 0.96


@pytest.mark.thorough
def test_errors_in_what_depends_on_chance_are_noticed(starter: Starter, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(CHANCE)
    found = measured([Trial(page, starter, Compiler())], 20, random.Random(3), only="layout")
    assert len(found) == 20
    assert rate([one.ending for one in found]) >= 0.9


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("inputs", "ending"), [("> 1\n1\n> 2\n2\n", Ending.FELL), ("> 1\n1\n" * 6, Ending.CAUGHT)]
)
def test_a_deleted_output_is_noticed(
    starter: Starter, tmp_path: Path, inputs: str, ending: Ending
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```lua\n{inputs}```\n")
    trial = Trial(page, starter, Compiler())
    changes = (m for m in trial.mutations(random.Random(1)) if m.kind == "deleted")
    assert trial.endings([next(changes)]) == [ending]


@pytest.mark.thorough
def test_an_input_above_an_erratum(starter: Starter, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```lua\nx = torch.Tensor(1)\nx:fill(1)\n> x:sum()\n2\n```\n")
    (tmp_path / "page.md.th-docs").write_text(
        "[[errata]]\nreason = 'It is wrong.'\ninput = 'x:sum()'\nprints = '1'\n"
    )
    trial = Trial(page, starter, Compiler())
    changes = list(trial.mutations(random.Random(1)))
    found = [trial.endings([change])[0] for change in changes]
    assert {change.index for change in changes} == {0, 1}
    assert set(found) == {Ending.CAUGHT}


#: Pages with each form of documented text, by their names, and the lines that changes leave.
FORMS = data(__file__, "FORMS")


@pytest.mark.thorough
@pytest.mark.parametrize("name", FORMS)
def test_all_forms_of_outputs_are_changed(starter: Starter, tmp_path: Path, name: str) -> None:
    page = tmp_path / name
    page.write_text(FORMS[name])
    trial = Trial(page, starter, Compiler())
    assert trial.holding == len(trial.examples) > 0
    found = measured([trial], 40, random.Random(1), with_doctest=True)
    kinds = {one.mutation.kind for one in found}
    assert kinds >= {"line dropped", "lines swapped", "line repeated", "deleted"}
    escaped = {one.mutation.kind for one in found if one.ending is Ending.ESCAPED}
    assert not escaped
    others = {one.by_doctest for one in found}
    assert others == ({True} if name == "python.rst" else {None})


@pytest.mark.thorough
def test_runs_are_remembered(starter: Starter) -> None:
    trial = Trial(DOCS / "chance.md", starter, Compiler())
    plain = trial.runner.evaluate(trial.examples)
    assert trial.runner.evaluate(trial.examples) == plain
    other = trial.runner.evaluate(trial.examples, (FIRST, SECOND, FIRST))
    assert [runs[:2] for runs in other] == plain
    assert all(runs[0] is runs[2] for runs in other)


@pytest.mark.parametrize("kind", IN_OUTPUTS)
def test_a_change_is_one(kind: str) -> None:
    text = f"the answer is\n{TENSOR}"
    found = {IN_OUTPUTS[kind](text, random.Random(seed)) for seed in range(20)}
    assert found - {None} and text not in found


@pytest.mark.parametrize(
    ("after", "within"),
    [
        (TENSOR.replace("1.25", "1.26"), True),
        (TENSOR.replace("1.25", "1.27"), False),
        (TENSOR.replace("1.25", "nan"), False),
        (TENSOR.replace(" 2.50", ""), False),
        (TENSOR.replace("2x2", "2x3"), False),
    ],
)
def test_tolerance(after: str, within: bool) -> None:
    assert is_within_tolerance(TENSOR, after) is within


@pytest.mark.thorough
def test_mutations_do_not_repeat(starter: Starter) -> None:
    trial = Trial(DOCS / "errors.md", starter, Compiler())
    found: list[Mutation] = list(trial.mutations(random.Random(1)))
    assert len(found) == len(set(found)) > 10
