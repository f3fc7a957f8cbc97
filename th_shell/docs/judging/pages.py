"""Checks a page: runs its examples, judges them, and says which failures are none of the program's.

A page is run twice. If that leaves examples that depend on chance, or that fail, it is run again,
this time with the numbers that the page documents for what depends on chance (`adoption`). Then
what follows from these numbers is compared exactly, and what still depends on chance must at least
be like what several runs print (`plausibility`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from th_shell.docs.judging.adoption import adopting_code, vary_literals
from th_shell.docs.judging.comparison import (
    agrees,
    agrees_by_layout,
    agrees_within,
    is_scaled,
    number_words,
    numbers,
)
from th_shell.docs.judging.ledger import (
    Erratum,
    LedgerError,
    find,
    ledger_path,
    read_ledger,
    update_ledger,
)
from th_shell.docs.judging.plausibility import implausible, misshapen, unlike_fixed
from th_shell.docs.judging.repetition import differences, nearly_repeats, unlike_above
from th_shell.docs.judging.verdicts import PageResult, Result, Verdict, judge
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.document import read_page
from th_shell.docs.reading.examples import Example, Kind, cut
from th_shell.docs.reading.names import bound_names, read_names
from th_shell.docs.reporting.files import write_file
from th_shell.docs.running.evaluation import FIRST, SECOND, Outcome, Plan, PreludeError, Runner

__all__ = ["Options", "check_page", "read_examples"]

#: Seeds of further runs, which tell what an example that depends on chance may print.
_SEEDS = (2, 3, 5, 7, 11)
_ADOPTED = 3  # runs of the second round that have the documented numbers


@dataclass(frozen=True)
class Options:
    """How pages are judged.

    ledgers: the folder of the ledgers, None for each page's own. strict: whether it is a failure
    that a prompt prints something where the page documents nothing. update: whether ledgers are to
    be written anew, with what their examples print.
    """

    ledgers: Path | None = None
    strict: bool = False
    update: bool = False


def read_examples(page: Path, compiler: Compiler) -> list[Example]:
    """The examples of a page. Raises OSError."""
    return cut(read_page(page), compiler)


def check_page(
    page: Path, examples: Sequence[Example], runner: Runner, compiler: Compiler, options: Options
) -> PageResult:
    """Run a page's examples and judge them."""
    path = ledger_path(page, options.ledgers)
    try:
        errata = find(read_ledger(path), examples)
        found = _Judged(examples, runner, {i: e.input for i, e in errata.items() if e.input})
    except LedgerError as error:
        return PageResult(page, [], str(error))
    except PreludeError as error:
        return PageResult(page, [], f"the prelude fails: {error}")
    known = compiler.known_names | bound_names(runner.prelude)
    results = _with_fragments(found.results, known)
    if options.strict:
        results = [_strict(result) for result in results]
    if options.update and errata:
        try:
            errata = _updated(path, errata, results, found.outcomes)
        except OSError as error:
            return PageResult(page, [], f"{path} cannot be written: {error.strerror}")
    judged = [
        _with_erratum(result, errata[i], found.outcomes[i]) if i in errata else result
        for i, result in enumerate(results)
    ]
    return PageResult(page, judged)


# -- what depends on chance


class _Judged:
    """A page's results, with the documented numbers in place of those that depend on chance.

    outcomes: those of the two runs that were judged last. sources: inputs that replace the page's.
    """

    def __init__(
        self, examples: Sequence[Example], runner: Runner, sources: Mapping[int, str]
    ) -> None:
        self._examples = examples
        self._runner = runner
        self._sources = sources
        plans = (replace(FIRST, sources=sources), replace(SECOND, sources=sources))
        self.outcomes = _pairs(runner.evaluate(examples, plans))
        self.results = judge(examples, self.outcomes)
        chance = [i for i, result in enumerate(self.results) if result.verdict is Verdict.LAYOUT]
        if chance or any(result.failed for result in self.results):
            self._judge_again(chance)

    def _judge_again(self, chance: Sequence[int]) -> None:
        examples = self._examples
        adopted, varied = (
            {i: code for i in chance if (code := adopting_code(examples[i], vary))}
            for vary in (False, True)
        )
        literals = {
            i: vary_literals(self._sources.get(i, example.source))
            for i, example in enumerate(examples)
        }
        plans = [
            replace(FIRST, after=adopted, sources=self._sources),
            replace(SECOND, after=adopted, sources=self._sources),
            replace(FIRST, after=varied, sources=literals),
            *(Plan(seed, sources=self._sources) for seed in (_SEEDS if chance else ())),
        ]
        found = self._runner.evaluate(examples, plans)
        again = judge(examples, _pairs(found))
        shown_first = _shown_first(examples)
        judged = []
        for i, (first, second) in enumerate(zip(self.results, again, strict=True)):
            seeds = (self.outcomes[i][0], *found[i][_ADOPTED:])
            samples = [outcome.output for outcome in seeds]
            judged.append(_better(first, second, found[i], samples, i in shown_first))
        self.results, self.outcomes = _with_repetitions(judged), _pairs(found)


def _pairs(outcomes: Sequence[tuple[Outcome, ...]]) -> list[tuple[Outcome, Outcome]]:
    return [(first, second) for first, second, *_ in outcomes]


def _better(
    first: Result,
    second: Result,
    outcomes: Sequence[Outcome],
    samples: Sequence[str],
    is_shown_first: bool,
) -> Result:
    """The result of an example from those of both rounds.

    samples: what runs have printed that differ in nothing but the seed.
    is_shown_first: see _shown_first.
    """
    if first.verdict not in (Verdict.LAYOUT, Verdict.DIFFERS, Verdict.ERROR):
        return first
    if second.verdict is Verdict.ERROR:
        return first
    expected = first.example.expected
    exact, other, varied = outcomes[:_ADOPTED]
    by_chance = second.verdict is Verdict.LAYOUT
    if second.verdict is Verdict.DIFFERS and exact.output == other.output:
        if agrees_within(expected, exact.output, varied.output):
            return replace(second, verdict=Verdict.PASS, note="")
        shows_others = is_shown_first and not _nearly_repeats(expected, exact.output)
        if first.verdict is Verdict.LAYOUT and not shows_others:
            note = "it does not follow from the numbers that the page shows above"
            return replace(second, note=note)
        by_chance = first.verdict is Verdict.LAYOUT
    why = misshapen(expected) if by_chance else ""
    if by_chance and not why and len(set(samples)) == 1:
        return first  # not by the seed: new memory, the clock, an address
    if by_chance:
        why = why or implausible(numbers(expected), [numbers(text) for text in samples])
        if not why and not is_shown_first:
            why = _unlike_fixed(expected, [run.output for run in outcomes[:_ADOPTED]], samples)
        if why:
            return replace(first, verdict=Verdict.DIFFERS, note=f"by chance, but {why}")
        return first
    return second


def _nearly_repeats(expected: str, printed: str) -> bool:
    # What is printed has as many digits as the page shows where it has the documented numbers.
    return nearly_repeats(numbers(expected), numbers(printed))


def _unlike_fixed(expected: str, adopted: Sequence[str], samples: Sequence[str]) -> str:
    if any(map(is_scaled, (expected, *adopted, *samples))):
        return ""  # the same number may be printed in different ways
    return unlike_fixed(
        number_words(expected), list(map(numbers, adopted)), list(map(numbers, samples))
    )


def _with_repetitions(results: Sequence[Result]) -> list[Result]:
    """The results; what depends on chance fails where it nearly repeats such an output above."""
    judged = list(results)
    shown = {
        i: numbers(result.example.expected)
        for i, result in enumerate(results)
        if result.verdict is Verdict.LAYOUT
    }
    for i, above in unlike_above(shown).items():
        line, what = results[above].example.line, differences(shown[i], shown[above])
        note = f"by chance, but its numbers are those under line {line} with {what}"
        judged[i] = replace(results[i], verdict=Verdict.DIFFERS, note=note)
    return judged


def _shown_first(examples: Sequence[Example]) -> set[int]:
    """The examples that show a variable which nothing above in their block uses.

    A page may show other numbers there than in the block before: what follows is about these.
    """
    found: set[int] = set()
    block, used = -1, set[str]()
    for i, example in enumerate(examples):
        if example.block != block:
            block, used = example.block, set()
        name = example.source.strip().removeprefix("=").strip()
        if name.isidentifier() and name not in used:
            found.add(i)
        used |= read_names(example.source)
    return found


# -- names without a value


def _with_fragments(results: Sequence[Result], known: frozenset[str]) -> list[Result]:
    """The results; what fails for want of a name that nothing above gives a value is a fragment.

    A name that only differs in capital letters from one with a value is an error of the page.
    """
    bound, spoilt, judged = set(known), set[str](), []
    for result in results:
        is_lua = result.example.kind in (Kind.PROMPT, Kind.BARE)
        source = result.example.source if is_lua else ""
        own, used = bound_names(source), read_names(source) - known
        missing = sorted(used - own - (bound - spoilt)) if result.failed else []
        lower = {name.lower() for name in bound}
        if missing and not any(name.lower() in lower for name in missing if name not in spoilt):
            note = f"the page gives no value to: {', '.join(missing)}"
            result = replace(result, verdict=Verdict.FRAGMENT, note=note)
            # What it has not done is missing below, also what a call would have done to arguments.
            spoilt |= own | (used if "(" in source else set())
        else:
            bound |= own
            spoilt -= own
        judged.append(result)
    return judged


# -- the ledger, and options


def _strict(result: Result) -> Result:
    prints = result.verdict is Verdict.RAN and result.got.strip()
    if not prints or result.example.kind is not Kind.PROMPT:
        return result
    note = "the page documents nothing of what it prints"
    return replace(result, verdict=Verdict.DIFFERS, note=note)


def _with_erratum(result: Result, entry: Erratum, runs: tuple[Outcome, Outcome]) -> Result:
    fails = result.failed or result.verdict is Verdict.FRAGMENT
    if entry.input is not None:
        if not fails:
            return replace(result, verdict=Verdict.ERRATUM, note=entry.reason)
        note = f"the ledger says that this holds: {entry.input}"
        return replace(result, verdict=Verdict.DIFFERS, note=note)
    if not fails:
        note = f"the ledger says: {entry.reason} But it is {result.verdict.value} now: strike it."
        return replace(result, verdict=Verdict.DIFFERS, note=note)
    if entry.output is not None and not _prints(entry.output, runs):
        note = f"the ledger says that it prints something else: {entry.output}"
        return replace(result, verdict=Verdict.DIFFERS, note=note)
    return replace(result, verdict=Verdict.ERRATUM, note=entry.reason)


def _prints(output: str, runs: tuple[Outcome, Outcome]) -> bool:
    texts = [run.output + (run.error or "") for run in runs]
    return agrees(output, texts[0]) or (
        texts[0] != texts[1] and agrees_by_layout(output, texts[0], texts[1])
    )


def _updated(
    path: Path,
    errata: Mapping[int, Erratum],
    results: Sequence[Result],
    outcomes: Sequence[tuple[Outcome, Outcome]],
) -> dict[int, Erratum]:
    """The errata with what their examples print now, which the ledger then has, too."""
    new = dict(errata)
    for i, entry in errata.items():
        fails = results[i].failed or results[i].verdict is Verdict.FRAGMENT
        if fails and entry.input is None:
            new[i] = replace(entry, output=outcomes[i][0].output + (outcomes[i][0].error or ""))
    outputs = {entry.at: entry.output for entry in new.values() if entry.output is not None}
    old = path.read_bytes().decode("utf-8", "surrogateescape")
    text = update_ledger(old, outputs)
    if text != old:
        write_file(path, text.encode("utf-8", "surrogateescape"))
    return new
