"""Judges a page by further runs where its output depends on chance, or where examples fail.

A page is run twice. If that leaves examples that depend on chance, or that fail, it is run again,
this time with the numbers that the page documents in place of random ones (`documented_values`).
Then the results that follow from these numbers are compared exactly, and numbers that still depend
on chance must at least be like those that several runs print (`plausibility`). `judge_page` is
where to begin.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from th_shell.docs.judging import plausibility, scripts
from th_shell.docs.judging.agreement import comparison
from th_shell.docs.judging.comparison import agrees_within, sorting
from th_shell.docs.judging.documented_values import cell_to_adopt, code_to_adopt, vary_literals
from th_shell.docs.judging.printout import is_scaled, number_words, numbers, with_exact_hex
from th_shell.docs.judging.python_output import comparable, comparable_outcome
from th_shell.docs.judging.samples import Samples
from th_shell.docs.judging.verdicts import QUOTES, Result, Verdict, judge
from th_shell.docs.reading.examples import LUA, Example
from th_shell.docs.reading.lua_names import read_names
from th_shell.docs.running.evaluation import FIRST, SECOND, Outcome, Plan, Runner
from th_shell.docs.settings.settings import filtered

#: Seeds of further runs, which show the range of outputs of a random example.
_SEEDS = (2, 3, 5, 7, 11)
#: The seeds for examples in Python: more, since the order of sets depends on the seed.
_MORE_SEEDS = (*_SEEDS, 13, 17, 19, 23, 29, 31)
#: The beginning of the note of a result whose numbers no run is likely to print.
_BY_CHANCE = "by chance, but "
_ENGINES = 4  # how many processes start runs
_ADOPTED = 4  # runs of the second round that have the documented numbers
_LATER = _ADOPTED + len(_SEEDS)  # the run that differs from the first in its clock alone


class Judgement(NamedTuple):
    """The results of a page's examples, and their outcomes in the two runs that were judged."""

    results: Sequence[Result]
    outcomes: Sequence[tuple[Outcome, Outcome]]


def judge_page(
    examples: Sequence[Example],
    runner: Runner,
    sources: Mapping[int, str],
    lost: Mapping[int, Outcome],
    by_two_runs: bool = False,
    before: Judgement | None = None,
) -> Judgement:
    """Run examples and judge them. Raises HiddenError.

    sources: inputs that replace those of the page, by index. lost: the outcomes, by index, of
    examples that are not run again. by_two_runs: judge by the first two runs alone, which is less
    exact where chance plays a part. before: what that has said, if it is known.
    """
    rounds = _Rounds([comparable(example) for example in examples], runner, sources, lost)
    judged = before or rounds.by_two_runs()
    if not by_two_runs:
        judged = replace(rounds, lost=lost_outcomes(judged)).by_further_runs(judged)
    pairs = zip(judged.results, examples, strict=True)
    results = [result if result.example is e else replace(result, example=e) for result, e in pairs]
    return judged._replace(results=results)


def lost_outcomes(judged: Judgement) -> dict[int, Outcome]:
    """Return the outcomes, by index, of examples that took all their time or ended their process.

    They need not be run again, only to wait again.
    """
    return {
        i: first if first.lost else second
        for i, (first, second) in enumerate(judged.outcomes)
        if judged.results[i].verdict is Verdict.ERROR and (first.lost or second.lost)
    }


@dataclass(frozen=True)
class _Rounds:
    """The rounds of runs by which a page is judged."""

    examples: Sequence[Example]
    runner: Runner
    #: Inputs that replace those of the page, by index.
    sources: Mapping[int, str]
    #: Outcomes, by index, of examples that are not run again.
    lost: Mapping[int, Outcome]
    #: The indices of examples that print the same in the first two runs by luck.
    lucky: frozenset[int] = frozenset()
    #: By seeds, the last example of the run and its outcomes: no seed runs twice.
    seeded: dict[int, tuple[int, Sequence[Outcome]]] = field(default_factory=dict)

    def by_two_runs(self) -> Judgement:
        """Judge the page by two runs."""
        plans = [replace(plan, sources=self.sources) for plan in (FIRST, SECOND)]
        outcomes = _pairs(self._evaluated(plans))
        return Judgement(judge(self.examples, outcomes), outcomes)

    def by_further_runs(self, judgement: Judgement) -> Judgement:
        """Improve a judgement by further runs, where they may tell more."""
        if differing := self.differing_outcomes(judgement):
            pairs = [(a, differing.get(i, b)) for i, (a, b) in enumerate(judgement.outcomes)]
            judgement = Judgement(judge(self.examples, pairs), pairs)
        chance = [i for i, r in enumerate(judgement.results) if r.verdict is Verdict.LAYOUT]
        if chance or any(result.failed for result in judgement.results):
            rounds = replace(self, lucky=frozenset(differing))
            judgement = rounds.by_documented_values(judgement, chance)
        return self.with_fixed_orders(judgement)

    def differing_outcomes(self, judgement: Judgement) -> dict[int, Outcome]:
        """Return, by index, outcomes of further seeds that differ where the first two runs agree.

        Only failing examples are looked at: their output may depend on chance and yet be the same
        in two runs by luck.
        """
        failing = [
            i
            for i, (result, (first, second)) in enumerate(zip(*judgement, strict=True))
            if result.verdict is Verdict.DIFFERS and first.compared == second.compared
        ]
        differing_outcomes = dict[int, Outcome]()
        for i, outcomes in self._more(failing, judgement).items() if failing else ():
            usual = judgement.outcomes[i][0].compared
            differing = [o for o in outcomes if not (o.lost or o.error) and o.compared != usual]
            if differing:
                differing_outcomes[i] = differing[0]
        return differing_outcomes

    def with_fixed_orders(self, judgement: Judgement) -> Judgement:
        """Let outputs fail that differ between runs in order alone, and from the page in more.

        Such outputs passed so far because the order was left open. They hold only if the documented
        text is the printed one once the elements of both are sorted.
        """
        sorts = {
            i: sort
            for i, (example, result, pair) in enumerate(zip(self.examples, *judgement, strict=True))
            if result.verdict is Verdict.LAYOUT
            and pair[0].compared != pair[1].compared
            and not _may_differ(example, pair[0])
            and not scripts.shares(self.examples, i, judgement.outcomes)
            and (sort := sorting(*(outcome.compared for outcome in pair)))
            and not _holds(example, pair[0], sort)
        }
        results = list(judgement.results)
        for i, more_outcomes in self._more(sorts, judgement).items() if sorts else ():
            first = judgement.outcomes[i][0].compared
            sort = sorts[i]
            if all(sort(outcome.compared) == sort(first) for outcome in more_outcomes):
                value = self.examples[i].value
                note = f"its comment says: {value.text}" if value else ""
                results[i] = replace(results[i], verdict=Verdict.DIFFERS, note=note, by_chance=True)
        return judgement._replace(results=results)

    def _more(
        self, indices: Collection[int], judgement: Judgement, seeds: Sequence[int] = ()
    ) -> dict[int, tuple[Outcome, ...]]:
        """Return the outcomes of some examples by further seeds, by index."""
        is_lua = all(self.examples[i].language == LUA for i in indices)
        last = max(_last_open(judgement), *indices)
        outcomes = self._by_seeds(seeds or (_SEEDS if is_lua else _MORE_SEEDS), last)
        return {i: outcomes[i] for i in indices}

    def _by_seeds(self, seeds: Sequence[int], last: int) -> list[tuple[Outcome, ...]]:
        """Return, for each example, its outcomes by seeds, up to the last that is asked for."""
        new = [seed for seed in seeds if self.seeded.get(seed, (-1, ()))[0] < last]
        common = Plan(0, sources=self.sources, last=last)
        plans = [replace(common, seed=n, engine=n % _ENGINES) for n in new]
        runs = self._evaluated(plans) if new else []
        for seed, outcomes in zip(new, zip(*runs, strict=True), strict=True):
            self.seeded[seed] = last, outcomes
        return list(zip(*(self.seeded[seed][1] for seed in seeds), strict=True))

    def by_documented_values(self, judgement: Judgement, chance: Sequence[int]) -> Judgement:
        """Judge the page by further runs. chance: the indices of examples that depend on chance."""
        all_runs = self._second_round(judgement, chance)
        if not all_runs:
            return judgement
        again = judge(self.examples, _pairs(all_runs))
        shown_first = _shown_at_first_use(self.examples)
        results, all_samples = [], dict[int, Samples]()
        for i, (first, second) in enumerate(zip(judgement.results, again, strict=True)):
            before, later = judgement.outcomes[i]
            runs = all_runs[i]
            if held := self._by_statements(i, first, judgement.outcomes, all_runs):
                results.append(held)
                continue
            samples = all_samples[i] = _samples([run.output for run in (before, *runs)])
            is_same_by_luck = i in self.lucky and runs[0].output == before.output
            if len({before, later, *runs}) > 1 and not is_same_by_luck:
                first = _better_result(first, second, runs, samples, i in shown_first)
            results.append(first)
        results = self._tried_again(results, all_samples, judgement)
        pairs = enumerate(_pairs(all_runs))
        outcomes = [judgement.outcomes[i] if i in self.lucky else pair for i, pair in pairs]
        return Judgement(_with_repetitions(results), outcomes)

    def _tried_again(
        self, results: Sequence[Result], samples: Mapping[int, Samples], judgement: Judgement
    ) -> list[Result]:
        """Return the results; numbers that no run seemed to print pass where more seeds do."""
        tried = list(results)
        doubted = {
            i: sample
            for i, sample in samples.items()
            if (why := sample.contradiction(tried[i].example.expected))
            and tried[i].note == f"{_BY_CHANCE}{why}"
        }
        more = self._more(doubted, judgement, _MORE_SEEDS[len(_SEEDS) :]) if doubted else {}
        for i, outcomes in more.items():
            texts = [doubted[i].texts[0], *(outcome.output for outcome in outcomes)]
            if not replace(doubted[i], texts=texts).contradiction(tried[i].example.expected):
                tried[i] = judgement.results[i]
        return tried

    def _by_statements(
        self,
        index: int,
        result: Result,
        outcomes: Sequence[tuple[Outcome, Outcome]],
        runs: Sequence[tuple[Outcome, ...]],
    ) -> Result | None:
        """Return the result of a text that several statements print by chance; None for others."""
        is_open = result.verdict is Verdict.LAYOUT
        shares = scripts.shares(self.examples, index, outcomes) if is_open else []
        printed = {
            i: _samples([outcome.printed for outcome in (outcomes[i][0], *runs[i])])
            for i, _ in shares
        }
        unlike = {
            i: _unlike_fixed(text, [run.printed for run in runs[i][:_ADOPTED]], printed[i].texts)
            for i, text in shares
        }
        texts = {i: [outcome.printed for outcome in outcomes[i]] for i, _ in shares}
        sorts = {i: sorting(*pair) for i, pair in texts.items() if len({*pair}) > 1}
        return scripts.by_shares(result, shares, printed, unlike, sorts) if shares else None

    def _second_round(
        self, judgement: Judgement, chance: Sequence[int]
    ) -> list[tuple[Outcome, ...]]:
        """Return, for each example, the outcomes of _ADOPTED runs and of one for each further seed.

        The seeds are run only where an example depends on chance, and the first run again at a
        later time; in other languages than Lua, one that repeats the first is added. The list
        is empty where the runs would repeat those of the first round.
        """
        literals = self._varied_literals()
        if not chance:  # nothing is adopted: the first two are what has run
            if literals == self.sources:
                return []
            repeated = self._evaluated([replace(FIRST, sources=literals)])
            return [(*pair, *run) for pair, run in zip(judgement.outcomes, repeated, strict=True)]
        last = _last_open(judgement)
        adopted = self._adopting(judgement, chance, self.sources, vary=False)
        varied = self._adopting(judgement, chance, literals, vary=True)
        plans = [
            replace(FIRST, **adopted),
            replace(SECOND, **adopted),
            replace(SECOND, seed=_MORE_SEEDS[-1], **adopted),
            replace(FIRST, **varied),
            replace(FIRST, clock=SECOND.clock, sources=self.sources, last=last),
        ]
        if any(self.examples[i].language != LUA for i in chance):
            plans.append(replace(FIRST, sources=self.sources, last=last))
        by_seeds = self._by_seeds(_SEEDS, last)
        pairs = zip(self._evaluated(plans), by_seeds, strict=True)
        return [(*runs[:_ADOPTED], *seeded, *runs[_ADOPTED:]) for runs, seeded in pairs]

    def _adopting(
        self, judgement: Judgement, chance: Sequence[int], replaced: Mapping[int, str], vary: bool
    ) -> dict[str, Any]:
        """Return the fields `after` and `sources` of a plan by which documented values are adopted.

        replaced: inputs, by index, that replace those of the page. vary: see `code_to_adopt`.
        """
        after, sources = dict[int, str](), dict(replaced)
        for i in chance:
            example = self.examples[i]
            if code := code_to_adopt(example, vary):
                after[i] = code
            cell = replace(example, source=replaced.get(i, example.source))
            outputs = [outcome.output for outcome in judgement.outcomes[i]]
            if code := cell_to_adopt(cell, outputs, vary):
                sources[i] = code
        return {"after": after, "sources": sources}

    def _varied_literals(self) -> dict[int, str]:
        """Return, by index, the inputs that differ from the page, with rounded literals changed."""
        inputs = {i: self.sources.get(i, e.source) for i, e in enumerate(self.examples)}
        varied = {i: vary_literals(source) for i, source in inputs.items()}
        return {i: varied[i] for i in inputs if i in self.sources or varied[i] != inputs[i]}

    def _evaluated(self, plans: Sequence[Plan]) -> list[tuple[Outcome, ...]]:
        """Run the page by plans; return the comparable outcomes of each example."""
        plans = [replace(plan, lost=self.lost) for plan in plans]
        outcomes_by_example = self.runner.evaluate(self.examples, plans)
        return [
            tuple(comparable_outcome(example, outcome) for outcome in outcomes)
            for example, outcomes in zip(self.examples, outcomes_by_example, strict=True)
        ]


def _last_open(judgement: Judgement) -> int:
    """Return the index of the last example that fails or depends on chance."""
    is_open = [result.failed or result.verdict is Verdict.LAYOUT for result in judgement.results]
    return len(is_open) - 1 - is_open[::-1].index(True)


def _holds(example: Example, outcome: Outcome, sort: Callable[[str], str]) -> bool:
    """Tell whether the documented text agrees with the printed one once both are sorted."""
    value = example.value.text if example.value else ""
    texts = {example.expected, value, QUOTES.sub(" ", value), *outcome.readings} - {""}
    equal, got = comparison(example), sort(outcome.compared)
    return any(equal(sort(text), got) for text in texts)


def _may_differ(example: Example, outcome: Outcome) -> bool:
    """Tell whether the documented text need not be the printed one, as for errors and `...`."""
    is_other = outcome.error is not None or bool(example.settings.filters)
    return is_other or "..." in example.expected


def _samples(texts: Sequence[str]) -> Samples:
    """Return the texts that differ by seed, and by the clock alone.

    texts: that of the first run, and those of `_second_round`. Where one seed has printed different
    things, it is by no seed.
    """
    before, *runs = texts
    seeds, later, repeats = runs[_ADOPTED:_LATER], runs[_LATER : _LATER + 1], runs[_LATER + 1 :]
    if any(text != before for text in repeats):
        return Samples([before], before)
    return Samples([before, *seeds], later[0] if later else before)


def _pairs(outcomes: Sequence[tuple[Outcome, ...]]) -> list[tuple[Outcome, Outcome]]:
    """Return the first two outcomes of each example."""
    return [(first, second) for first, second, *_ in outcomes]


def _better_result(
    first: Result,
    second: Result,
    outcomes: Sequence[Outcome],
    samples: Samples,
    is_shown_first: bool,
) -> Result:
    """Return the result of an example from those of both rounds.

    samples: texts of runs that differ in nothing but the seed or the clock. is_shown_first: see
    `_shown_at_first_use`.
    """
    is_open = first.verdict in (Verdict.LAYOUT, Verdict.DIFFERS, Verdict.ERROR)
    if not is_open or second.verdict is Verdict.ERROR:
        return first
    if first.example.value and not first.example.expected:
        return second if second.verdict is Verdict.PASS else first
    expected, settings = first.example.expected, first.example.settings
    exact, exact_again, *_, varied = outcomes[:_ADOPTED]
    by_chance = second.verdict is Verdict.LAYOUT
    if second.verdict is Verdict.DIFFERS and exact.output == exact_again.output:
        shown = filtered(settings.filters, expected, exact.output, varied.output)
        documented, got, moved = with_exact_hex(*shown)
        if agrees_within(documented, got, moved, settings.tolerance):
            return replace(second, verdict=Verdict.PASS, note="")
        # What is printed has as many digits as the page shows where it has the documented numbers.
        repeats = plausibility.nearly_repeats(numbers(expected), numbers(exact.output))
        shows_others = is_shown_first and not repeats
        if first.verdict is Verdict.LAYOUT and not shows_others:
            note = "it does not follow from the numbers that the page shows above"
            return replace(second, note=note)
        by_chance = first.verdict is Verdict.LAYOUT
    if not by_chance:
        return second
    why = samples.contradiction(expected)
    if not why and samples.differ and not is_shown_first:
        why = _unlike_fixed(expected, [run.output for run in outcomes[:_ADOPTED]], samples.texts)
    note = f"{_BY_CHANCE}{why}"
    return replace(first, verdict=Verdict.DIFFERS, note=note) if why else first


def _unlike_fixed(expected: str, adopted: Sequence[str], samples: Sequence[str]) -> str:
    """Do the work of `plausibility.unlike_fixed` for texts."""
    if any(map(is_scaled, (expected, *adopted, *samples))):
        return ""  # the same number may be printed in different ways
    return plausibility.unlike_fixed(
        number_words(expected), list(map(numbers, adopted)), list(map(numbers, samples))
    )


def _with_repetitions(results: Sequence[Result]) -> list[Result]:
    """Return the results; a random output that nearly repeats one above becomes a failure."""
    judged = list(results)
    shown = {
        i: numbers(result.example.expected)
        for i, result in enumerate(results)
        if result.verdict is Verdict.LAYOUT
    }
    printed = {i: numbers(results[i].got) for i in shown}
    for i, above in plausibility.unlike_above(shown, printed).items():
        line, what = results[above].example.line, plausibility.differences(shown[i], shown[above])
        note = f"by chance, but its numbers are those under line {line} with {what}"
        judged[i] = replace(results[i], verdict=Verdict.DIFFERS, note=note)
    return judged


def _shown_at_first_use(examples: Sequence[Example]) -> set[int]:
    """Return the indices of examples that show a variable first in their block.

    The page may show other numbers there than in the block before; the rest of the block is about
    these.
    """
    indices: set[int] = set()
    block, used = -1, set[str]()
    for i, example in enumerate(examples):
        if example.block != block:
            block, used = example.block, set()
        name = example.source.strip().removeprefix("=").strip()
        if name.isidentifier() and name not in used:
            indices.add(i)
        used |= read_names(example.source)
    return indices
