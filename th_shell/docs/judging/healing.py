"""Searches for repairs of a page's text that make failing examples hold.

The repaired lines are read, run and judged like those of the page. A repair that does not make its
example hold gives way to the next one.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from th_shell.docs.judging.announcements import with_announced_errors
from th_shell.docs.judging.randomness import Judgement, judge_page, lost_outcomes
from th_shell.docs.judging.repairs import Passage, Repair, repairs
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import LUA, PYTHON, Example, Kind, Line
from th_shell.docs.reading.lua_names import required_names
from th_shell.docs.reading.names import bound_names, read_names
from th_shell.docs.reading.page import Page
from th_shell.docs.running.evaluation import Runner
from th_shell.patterns import pattern
from th_shell.python_syntax import BUILTINS

#: The most trials. Their result only explains failures, so some may stay without a repair.
_ROUNDS = 16
#: The examples that are repaired, by their languages.
_KINDS = {LUA: (Kind.PROMPT, Kind.BARE), PYTHON: (Kind.PROMPT, Kind.CELL)}
#: The names that have values before a page begins, and may have been spelt wrong in it.
_GIVEN: dict[str, frozenset[str]] = {LUA: frozenset(), PYTHON: BUILTINS}


#: A function that is made as a field of a table.
_MADE = pattern(r"\bfunction\s+(\w+\.\w+)\s*\((?!\s*self\b)")


@dataclass(frozen=True)
class Healed:
    """A page's results after repairs."""

    #: One for each of the page's examples.
    results: Sequence[Result]
    #: The repaired inputs of examples whose documented text stays as it is, by index.
    inputs: Mapping[int, str]


@dataclass
class Healing:
    """Repairs examples of a page that fail."""

    _page: Page
    #: The judgement of the page as it is.
    _judged_before: Judgement
    _runner: Runner
    #: Inputs that errata give, by index.
    _sources: Mapping[int, str]
    #: The indices of examples that have errata, which stay as they are.
    _with_errata: Set[int]

    def __post_init__(self) -> None:
        self._starts = [example.line for example in self._page.examples]
        self._results = self._judged_before.results
        self._lost = lost_outcomes(self._judged_before)
        self._modules: set[str] = set()  # the names of modules so far
        self._made: set[str] = set()  # the functions in tables so far
        self._proposals = self._all_proposals()
        self._tried: dict[int, Repair] = {}
        for i in self._proposals:
            self._try_next(i)

    def healed(self) -> Healed:
        """Return the results with the repairs that hold. Raises HiddenError."""
        by_two_runs = True  # quick; what is left at the end is judged exactly
        examples, judged = self._repaired(), None
        for _ in range(_ROUNDS):
            if not self._tried:
                break
            judged = self._judged(examples, by_two_runs, judged)
            groups = self._groups(examples, judged)
            wrong = [i for i in self._tried if not groups[i] or _fail(groups[i])]
            if not by_two_runs:
                wrong = wrong or self._harmful(groups)
                if not wrong:
                    return self._result(groups)
            by_two_runs = bool(wrong)
            for i in wrong:
                self._try_next(i)
            if wrong:
                examples, judged = self._repaired(), None
        return Healed(self._results, {})

    # -- proposals

    def _all_proposals(self) -> dict[int, Iterator[Repair]]:
        """Return the proposed repairs of each failing example, by index."""
        above: dict[str, dict[str, Example]] = {language: {} for language in _KINDS}
        proposals: dict[int, Iterator[Repair]] = {}
        for i, (example, result) in enumerate(zip(self._page.examples, self._results, strict=True)):
            if example.kind not in _KINDS[example.language]:
                continue
            binding = above[example.language]
            assigned = bound_names(example.language, example.source)
            if result.failed and not (i in self._with_errata or i in self._lost):
                used = read_names(example.language, example.source)
                makers = [binding[name] for name in used if name in binding]
                bound = assigned.union(binding, _GIVEN[example.language])
                passage = self._passage(i, makers, frozenset(bound))
                proposals[i] = repairs(passage)
            if example.language == LUA:
                self._modules |= required_names(example.source)
                self._made |= set(_MADE.findall(example.source))
            binding.update(dict.fromkeys(assigned, example))
        return proposals

    def _passage(self, index: int, above: Iterable[Example], bound: frozenset[str]) -> Passage:
        """Return the lines of an example and around it.

        above: the examples that gave values to names that this one uses. bound: names that have
        values.
        """

        def lines(block: int, first: int, last: int) -> list[Line]:
            block_lines = self._page.blocks[block].lines
            return [line for line in block_lines if first <= line.number <= last]

        example = self._page.examples[index]
        shown = example.block + 1 if example.apart else example.block  # has the documented text
        below = [e for e in self._page.examples[index + 1 :] if e.kind is not Kind.TEXT]
        next_ones = (e.line for e in below if e.block == example.block)
        until = next(next_ones, self._page.blocks[shown].closing)
        return Passage(
            [line for maker in above for line in lines(maker.block, maker.line, maker.last)],
            lines(example.block, example.line, example.last),
            lines(shown, *(example.documented or (0, -1))),
            lines(shown, example.end + 1, until - 1),
            bound,
            frozenset(self._modules),
            frozenset(self._made),
            self._results[index].got,
            example.language,
        )

    def _try_next(self, index: int) -> None:
        """Choose the next proposal for an example, or none if there are no more."""
        following = next(self._proposals[index], None)
        if following:
            self._tried[index] = following
        else:
            self._tried.pop(index, None)

    # -- trials

    def _repaired(self) -> Sequence[Example]:
        """Return the examples of the page with all chosen repairs."""
        new = {number: t for repair in self._tried.values() for number, t in repair.lines.items()}
        return [self._as_said(example) for example in self._page.edited(new)]

    def _as_said(self, example: Example) -> Example:
        """Return an example of the repaired page with the settings of the one in its place."""
        old = self._page.examples[self._index(example.line)]
        hidden = old.hidden if example.line == old.line else ()
        return replace(example, settings=old.settings, hidden=hidden)

    def _index(self, line: int) -> int:
        """Return the index of the page's example that a line belongs to."""
        return max(0, bisect_right(self._starts, line) - 1)

    def _judged(
        self, examples: Sequence[Example], by_two_runs: bool, before: Judgement | None
    ) -> Judgement:
        """Judge the examples of the repaired page. before: the judgement by two runs, if known."""
        sources_by_line = {self._starts[i]: source for i, source in self._sources.items()}
        lines = {i: example.line for i, example in enumerate(examples)}
        sources = {i: sources_by_line[n] for i, n in lines.items() if n in sources_by_line}
        stopped = {self._starts[i]: outcome for i, outcome in self._lost.items()}
        lost = {i: stopped[n] for i, n in lines.items() if n in stopped}
        return judge_page(examples, self._runner, sources, lost, by_two_runs, before)

    def _groups(self, examples: Sequence[Example], judged: Judgement) -> list[list[Result]]:
        """Return, for each example, the results of the examples that its lines have now."""
        groups: list[list[Result]] = [[] for _ in self._starts]
        results = with_announced_errors(judged.results, self._page.code_lines, self._page.text)
        for example, result in zip(examples, results, strict=True):
            groups[self._index(example.line)].append(result)
        return groups

    def _harmful(self, groups: Sequence[Sequence[Result]]) -> list[int]:
        """Return the index of the next repair above an example that no longer holds."""
        for i, group in enumerate(groups):
            if not self._results[i].failed and _fail(group):
                return [max(above)] if (above := [k for k in self._tried if k < i]) else []
        return []

    def _result(self, groups: Sequence[Sequence[Result]]) -> Healed:
        """Return the results of the repaired page, which all hold."""
        results, inputs = list(self._results), dict[int, str]()
        texts: dict[int, list[str]] = {}  # of the page's lines, by their numbers
        for block in self._page.blocks:
            for line in block.lines:
                texts.setdefault(line.number, []).append(line.text)
        for i, group in enumerate(groups):
            old = self._results[i]
            if i in self._tried:
                repair = self._tried[i]
                results[i] = _with_repair(old, repair, texts)
                input_lines = range(old.example.line, old.example.last + 1)
                same = [new for new in group if new.example.expected == old.example.expected]
                is_in_input = all(number in input_lines for number in repair.lines)
                if is_in_input and len(group) == len(same) == 1:
                    inputs[i] = same[0].example.source
            elif len(group) == 1:
                results[i] = replace(group[0], example=old.example)
        return Healed(results, inputs)


def _with_repair(result: Result, repair: Repair, texts: Mapping[int, Sequence[str]]) -> Result:
    """Return a result as HEALED, with the lines before and after the repair."""

    def shown(lines: Mapping[int, Sequence[str]]) -> str:
        return "\n".join(text for number in sorted(repair.lines) for text in lines[number])

    original, repaired = shown(texts), shown(repair.lines)
    return replace(
        result, verdict=Verdict.HEALED, note=repair.why, original=original, repaired=repaired
    )


def _fail(group: Iterable[Result]) -> bool:
    """Tell whether one of some results fails."""
    return any(result.failed for result in group)
