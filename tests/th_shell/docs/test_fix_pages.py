"""`th-docs fix` writes what spoilt outputs of a page have shown, or what is printed, or nothing."""

import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path

import pytest

from tests.mutations.changes import IN_INPUTS
from tests.mutations.trial import Mutation, Remembering, Trial
from tests.th_shell.docs.made_up import made_up_page
from tests.th_shell.docs.test_manual import SECTIONS
from th_shell.docs.checking import Checker, ReadPage
from th_shell.docs.fix import Change, Correction
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.settings import Configuration

TOP = Path(__file__).parents[3]
DOCS = TOP / "tests" / "docs"
ERRATA = Path(__file__).parent / "errata"
SEEDS = sorted((TOP.parent / "shared" / "seeds").glob("*.txt"))
PAGES = [page for page in sorted(DOCS.iterdir()) if page.suffix in (".md", ".rst", ".txt")]


@dataclass(frozen=True)
class QuickChecker(Checker):
    """Reads pages, and remembers what they print."""

    runner: Remembering | None = None

    def read(self, path: Path, text: str | None = None) -> ReadPage:
        page, runner = super().read(path, text)
        return ReadPage(page, self.runner or runner)


def spoilt(original: Correction, mutations: Sequence[Mutation]) -> str:
    """The text of a page whose outputs are spoilt."""
    return original.changed([Change(mutation.index, dict(mutation.new)) for mutation in mutations])


def words(text: str) -> list[str]:
    """The words of an output, in which a tensor is of a size, as manuals write."""
    return text.replace("of dimension", "of size").split()


def shown(read: ReadPage) -> tuple[list[str], list[list[str]]]:
    """The inputs of a page, and the words that it shows below them."""
    examples = read.page.examples
    return [e.source for e in examples], [words(e.expected) for e in examples]


def is_said(found: list[str], *known: list[str]) -> bool:
    """Whether each word stands in its place in one of the known texts."""
    return all(word in others for word, *others in zip_longest(found, *known))


def can_be_restored(mutation: Mutation) -> bool:
    """Whether outputs tell what was there before: they do not of an input, or a lost comment."""
    is_comment_lost = mutation.before.count("--") > mutation.after.count("--")
    return mutation.kind not in IN_INPUTS and not is_comment_lost


def grouped(mutations: Sequence[Mutation]) -> list[list[Mutation]]:
    """Mutations in groups, in each of which every example has one at most."""
    groups: list[dict[int, Mutation]] = []
    for mutation in mutations:
        group = next((one for one in groups if mutation.index not in one), None)
        if group is None:
            groups.append(group := {})
        group[mutation.index] = mutation
    return [list(group.values()) for group in groups]


def restored(
    page: Path, starter: Starter, chance: random.Random, count: int, errata: Path | None = None
) -> tuple[int, int]:
    """How many of some mutations of a page are restored, and how many there are.

    Those which are not must be left: what is written is what was there or what is printed.
    """
    compiler = Compiler()
    trial = Trial(page, starter, compiler, errata)
    checker = QuickChecker(starter, compiler, Configuration(errata=errata), runner=trial.runner)
    original = Correction(page, checker)
    mutations = list(filter(can_be_restored, islice(trial.mutations(chance), count)))
    inputs, truth = shown(checker.read(page))
    runs = trial.runner.evaluate(trial.examples)
    printed = [words(run.output + (run.error or "")) for run, *_ in runs]
    total = 0
    for group in grouped(mutations):
        is_alike = shown(checker.read(page, spoilt(original, group)))[0] == inputs
        for part in [group] if is_alike else [[mutation] for mutation in group]:
            page.write_bytes(spoilt(original, part).encode("utf-8", "surrogateescape"))
            found = Correction(page, checker)
            now, texts = shown(checker.read(page, found.changed(found.changes)))
            if now != inputs:
                assert not found.changes
                continue
            left = {mutation.index for mutation in part} - {c.index for c in found.changes}
            rows = enumerate(zip(texts, truth, printed, strict=True))
            assert [(i, *row) for i, row in rows if i not in left and not is_said(*row)] == []
            total += len(part) - len(left)
    return total, len(mutations)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("count", "pages"),
    [(40, 1), pytest.param(200, 1000, marks=pytest.mark.slow)],
)
def test_our_pages(starter: Starter, tmp_path: Path, count: int, pages: int) -> None:
    chance, found = random.Random(1), []
    shutil.copytree(DOCS, tmp_path / "docs")
    left_out = ("session.md", "web_service.md")  # the latter needs FastAPI
    for page in [page for page in PAGES if page.name not in left_out][-pages:]:
        found.append(restored(tmp_path / "docs" / page.name, starter, chance, count))
    assert sum(mended for mended, _ in found) >= 0.5 * sum(tried for _, tried in found) > 0


@pytest.mark.slow
@pytest.mark.skipif(not SEEDS, reason="the pages that the project was founded on are not there")
@pytest.mark.parametrize("page", SEEDS, ids=lambda page: page.name)
def test_pages_with_errata(starter: Starter, tmp_path: Path, page: Path) -> None:
    shutil.copy(page, tmp_path)
    mended, tried = restored(tmp_path / page.name, starter, random.Random(1), 60, ERRATA)
    assert mended >= 0.3 * tried


@pytest.mark.slow
def test_pages_of_the_manual(starter: Starter, tmp_path: Path) -> None:
    found = []
    for at, (name, text) in enumerate((n, t) for s in SECTIONS for n, t in s.blocks if n):
        page = tmp_path / f"{at}{Path(name).name}"
        page.write_text(text)
        if page.suffix in (".md", ".rst", ".txt") and "```" in text:
            found.append(restored(page, starter, random.Random(at), 20))
    assert sum(tried for _, tried in found) > 50


@pytest.mark.thorough
@pytest.mark.parametrize("count", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_made_up_pages(starter: Starter, tmp_path: Path, count: int) -> None:
    found = []
    for number in range(count):
        chance = random.Random(number)
        text, suffix = made_up_page(chance)
        page = tmp_path / f"page{number}{suffix}"
        page.write_bytes(text.encode())
        found.append(restored(page, starter, chance, 20))
    assert sum(mended for mended, _ in found) >= 0.5 * sum(tried for _, tried in found) > 0
