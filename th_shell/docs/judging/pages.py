"""Checks a page: runs its examples, judges them, and holds them against its files.

What fails is looked at again: a repair of the page's text may make it hold (`healing`), the text
may contradict itself, and the page may leave out what it uses, or need a device that is not there
(`reasons`). The ledger says which examples are wrong in the page, the baseline what they have
reached before (`expectations`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from th_shell.docs.judging.chance import Judgement, judge_page
from th_shell.docs.judging.expectations import (
    BaselineError,
    baseline_path,
    baseline_text,
    read_baseline,
    updated,
    with_errata,
    with_falls,
    with_xfail,
)
from th_shell.docs.judging.healing import Healed, Healing
from th_shell.docs.judging.ledger import (
    Erratum,
    LedgerError,
    find,
    ledger_path,
    ledger_text,
    read_ledger,
    updated_ledger,
)
from th_shell.docs.judging.reasons import damage, with_devices, with_fragments
from th_shell.docs.judging.repairs import Repair
from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reading import python_syntax
from th_shell.docs.reading.examples import LUA, PYTHON, Kind
from th_shell.docs.reading.names import bound_names
from th_shell.docs.reading.page import Page
from th_shell.docs.reading.python_syntax import BUILTINS
from th_shell.docs.running.configured import with_conditions, with_imports
from th_shell.docs.running.evaluation import HiddenError, Runner
from th_shell.files import write_file

#: What the ledger says now may change what is printed further down, and so what it should say.
_ROUNDS = 4


@dataclass(frozen=True)
class Options:
    """How pages are judged.

    ledgers: the folder of the ledgers and baselines, None for each page's own. update: whether they
    are to be written anew.
    """

    ledgers: Path | None = None
    update: bool = False


@dataclass(frozen=True)
class Assessment:
    """How a page's examples are judged but for its ledger.

    repairs: those which make examples hold, by index. errata: the examples that the ledger has.
    """

    results: Sequence[Result]
    repairs: Mapping[int, Repair]
    errata: Set[int]


def assess_page(path: Path, page: Page, runner: Runner, options: Options) -> Assessment:
    """Judge a page's examples for `th-docs fix`. Raises LedgerError and HiddenError."""
    return _Check(path, page, runner, options).assessment()


def check_page(path: Path, page: Page, runner: Runner, options: Options) -> PageResult:
    """Run a page's examples and judge them: as many results as it has examples."""
    check = _Check(path, page, runner, options)
    try:
        results = check.results()
        for _ in range(_ROUNDS):
            if not check.has_written:
                break
            results = check.results()
    except (LedgerError, BaselineError, HiddenError, _NotWrittenError) as error:
        return PageResult(path, [], str(error))
    return PageResult(path, results)


class _NotWrittenError(Exception):
    """A ledger or a baseline cannot be written; the message says why."""


class _Check:
    def __init__(self, path: Path, page: Page, runner: Runner, options: Options) -> None:
        runner = with_imports(runner, page.examples)
        self._page = replace(page, examples=with_conditions(page.examples, runner))
        self._runner = runner
        self._options = options
        self._ledger = ledger_path(path, options.ledgers)
        self._baseline = baseline_path(path, options.ledgers)
        self.has_written = False  # whether the last results have changed the ledger
        self._known = {
            LUA: page.compiler.known_names | bound_names(runner.prelude),
            PYTHON: BUILTINS | python_syntax.bound_names(runner.python_prelude),
        }
        self._given = python_syntax.imported_names(runner.python_prelude)

    def results(self) -> list[Result]:
        errata, judged, healed = self._judged()
        if self._options.update:
            errata = self._updated(judged, errata, healed.inputs)
        results = with_errata(judged, errata)
        if self._options.update:
            self._write(self._baseline, baseline_text(results))
            return results
        before = read_baseline(self._baseline)
        return results if before is None else with_falls(results, before)

    def assessment(self) -> Assessment:
        errata, judged, healed = self._judged()
        return Assessment(judged.results, healed.repairs, frozenset(errata))

    def _judged(self) -> tuple[dict[int, Erratum], Judgement, Healed]:
        """The entries of the ledger, and the results but for ledger and baseline."""
        errata = find(read_ledger(self._ledger), self._page.examples)
        sources = {i: entry.input for i, entry in errata.items() if entry.input is not None}
        judged = judge_page(self._page.examples, self._runner, sources)
        healing = Healing(self._page, judged.results, self._runner, sources, set(errata))
        healed = healing.healed()
        results = with_fragments(with_devices(healed.results, self._given), self._known)
        results = [self._damaged(result) for result in results]
        results = with_xfail([_strict(result) for result in results])
        return errata, Judgement(results, judged.outcomes), healed

    def _damaged(self, result: Result) -> Result:
        if result.verdict not in (Verdict.DIFFERS, Verdict.ERROR):
            return result
        problem = damage(result.example, result.got, self._page.compiler)
        return replace(result, verdict=Verdict.DAMAGED, note=problem) if problem else result

    def _updated(
        self, judged: Judgement, errata: Mapping[int, Erratum], inputs: Mapping[int, str]
    ) -> dict[int, Erratum]:
        examples = self._page.examples
        entries = updated(examples, judged, errata, inputs)
        old = ledger_text(self._ledger)  # as it is now: a reason may have been reworded meanwhile
        text = updated_ledger(old, errata, entries, examples)
        self.has_written = text != old
        if self.has_written:
            self._write(self._ledger, text)
        return entries

    def _write(self, path: Path, text: str) -> None:
        try:
            write_file(path, text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise _NotWrittenError(f"{path} cannot be written: {error.strerror}") from None


def _strict(result: Result) -> Result:
    prints = result.verdict is Verdict.RAN and result.got.strip()
    if not result.example.settings.strict or not prints:
        return result
    if result.example.kind not in (Kind.PROMPT, Kind.CELL):
        return result
    note = "the page documents nothing of what it prints"
    return replace(result, verdict=Verdict.DIFFERS, note=note)
