"""Tries changes on a page: does th-docs notice them?

A page is read and checked again for each change, but most runs of it are remembered: what examples
print does not depend on what the page documents. Changes in different blocks are tried together;
what such a trial of many does not notice in the block of a change is tried once more, alone.
Repairs are not looked for: what they heal fails all the same.
"""

import random
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from pathlib import Path

from tests.mutations.changes import IN_INPUTS, IN_OUTPUTS, is_within_tolerance
from tests.mutations.doctests import doctested
from tests.mutations.passages import New, passage_of
from th_shell import python_syntax
from th_shell.docs.checking import Checker
from th_shell.docs.judging.devices import with_missing_devices
from th_shell.docs.judging.expectations import errata_of, with_errata
from th_shell.docs.judging.missing_outputs import with_missing_outputs
from th_shell.docs.judging.randomness import judge_page
from th_shell.docs.judging.reasons import with_fragments
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading import lua_names
from th_shell.docs.reading.classification import examples_of
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import LUA, PYTHON, Example, Kind, edited, numbered
from th_shell.docs.running.configured import with_imports, with_marks_decided
from th_shell.docs.running.evaluation import FIRST, SECOND, Outcome, Plan, Runner
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.settings import Configuration, Mark, Settings, SettingsError


class Ending(Enum):
    """What has become of a change."""

    TOLERATED = "no change"  #: numbers agree within one in their last place, or nothing is printed
    CAUGHT = "caught"  #: an example fails
    TOLD = "told apart"  #: an example has a verdict that is neither good nor a failure
    FELL = "by verdicts"  #: an example is worse, which fails where th-docs --update was there
    ESCAPED = "escaped"  #: no verdict is worse


#: How good verdicts are. What is not here is neither good nor a failure.
_GOOD = {
    Verdict.PASS: 3,
    Verdict.ERRATUM: 3,
    Verdict.LAYOUT: 2,
    Verdict.RAN: 1,
    Verdict.SKIPPED: 1,
    Verdict.TEXT: 1,
}

#: Which share of the errata have a change: each takes ten runs of the page.
_RUNS_ANEW = 0.1

#: How many examples are tried for a kind of change.
_TRIES = 20


@dataclass(frozen=True)
class Mutation:
    """A change of one example.

    form: what was changed, such as 'comment of Lua'. index: of the example in its page. target: of
    the example whose verdict tells of the change, which is the erratum below a changed input, else
    the same. was: the verdict of the target. before, after: the text. new: the lines of the page.
    """

    kind: str
    form: str
    index: int
    target: int
    was: Verdict
    before: str
    after: str
    new: New


@dataclass(frozen=True)
class Remembering(Runner):
    """Runs pages, and remembers the outcomes."""

    _known: dict[object, list[Outcome]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def evaluate(
        self, examples: Sequence[Example], plans: Sequence[Plan] = (FIRST, SECOND)
    ) -> list[tuple[Outcome, ...]]:
        """The outcomes of each example, one for each plan."""
        inputs = tuple(
            (e.block, e.kind, e.language, e.source, e.value, e.settings, e.hidden) for e in examples
        )
        keys = [(inputs, _key(plan)) for plan in plans]
        new = {k: plan for k, plan in zip(keys, plans, strict=True) if k not in self._known}
        if new:
            found = super().evaluate(examples, list(new.values()))
            with self._lock:
                for at, key in enumerate(new):
                    self._known[key] = [outcomes[at] for outcomes in found]
        columns = [self._known[key] for key in keys]
        return list(zip(*columns, strict=True))


def _key(plan: Plan) -> object:
    after, sources = (tuple(sorted(m.items())) for m in (plan.after, plan.sources))
    return replace(plan, after={}, sources={}).__repr__(), after, sources


class Trial:
    """A page, and what is noticed of changes in it."""

    def __init__(
        self, path: Path, starter: Starter, compiler: Compiler, errata: Path | None = None
    ) -> None:
        self.path = path
        checker = Checker(starter, compiler, Configuration(errata=errata))
        self._page, runner = checker.read(path)
        runner = with_imports(runner, self._page.examples)
        self.runner = Remembering(starter, runner.engines, runner.seconds, runner.preludes)
        self.examples = with_marks_decided(self._page.examples, runner)
        lua, python = (runner.preludes.get(language, "") for language in (LUA, PYTHON))
        self._known = {
            LUA: compiler.known_names | lua_names.bound_names(lua),
            PYTHON: python_syntax.BUILTINS | python_syntax.bound_names(python),
        }
        self._imported = python_syntax.imported_names(python)
        self.results = self._judged(self.examples)
        found = errata_of(self.examples, self._page.sidecar)
        #: The errata that say what is right: only these are checked.
        self._checked = {i for i, e in found.items() if (e.right, e.prints) != (None, None)}
        outcomes = self.runner.evaluate(self.examples)
        self._by_chance = {i for i, runs in enumerate(outcomes) if len(set(runs)) > 1}

    @property
    def holding(self) -> int:
        """How many of the examples hold, and can be changed."""
        return sum(_GOOD.get(result.verdict, 0) > 1 for result in self.results)

    def mutations(self, chance: random.Random) -> Iterator[Mutation]:
        """Changes of the page, one after another, each of them once."""
        seen = set[Mutation]()
        lost = 0
        while lost < 1000:  # so often in turn there was nothing new
            kind = chance.choice(list(IN_OUTPUTS))
            tried = (self._mutation(kind, chance) for _ in range(_TRIES))
            mutation = next((one for one in tried if one and one not in seen), None)
            lost = 0 if mutation else lost + _TRIES
            if mutation:
                seen.add(mutation)
                yield mutation

    def _mutation(self, kind: str, chance: random.Random) -> Mutation | None:
        index = target = chance.randrange(len(self.examples))
        was, change = self.results[index].verdict, IN_OUTPUTS[kind]
        if self.examples[index].settings != Settings():
            return None  # what the page allows is no error
        is_erratum = index in self._checked and was is Verdict.ERRATUM
        if is_erratum:
            if chance.random() >= _RUNS_ANEW:
                return None
            (kind, change), index = *IN_INPUTS.items(), chance.choice(self._above(index))
        elif was not in (Verdict.PASS, Verdict.LAYOUT):
            return None
        passage = passage_of(self._page.blocks, self.examples, index, is_erratum)
        after = passage and change(passage.text, chance)
        if passage is None or after is None or after == passage.text:
            return None
        if kind == "line repeated" and passage.parts[-1].behind:
            return None  # what stands there does not count
        if was is Verdict.LAYOUT and self.results[index].note:
            return None  # the comment says that there is an error, in words of its own
        form = f"{passage.form} of {self.examples[index].language}"
        new = passage.edited(after)
        return Mutation(kind, form, index, target, was, passage.text, after, new)

    def _above(self, index: int) -> list[int]:
        """An example, and the inputs of Lua above it in its block."""
        own = self.examples[index]
        above = self.examples[:index]
        is_lua = (Kind.PROMPT, Kind.BARE)
        return [
            *(i for i, e in enumerate(above) if e.block == own.block and e.kind in is_lua),
            index,
        ]

    # -- trying changes

    def together(self, mutations: Sequence[Mutation]) -> list[list[Mutation]]:
        """Changes in groups that can be tried together: in each block one, and no other input."""
        groups: list[tuple[set[int], list[Mutation]]] = []
        for mutation in mutations:
            blocks = self._blocks(mutation)
            alone = mutation.kind in IN_INPUTS
            free = (group for group in groups if not alone and not blocks & group[0])
            places, group = next(free, (set[int](), list[Mutation]()))
            if not group:
                groups.append((places, group))
            places |= set(range(len(self._page.blocks))) if alone else blocks
            group.append(mutation)
        return [group for _, group in groups]

    def _blocks(self, mutation: Mutation) -> set[int]:
        """The blocks of a change: that of the example, and that of its output."""
        example = self.examples[mutation.index]
        return {example.block, example.block + example.apart}

    def endings(self, group: Sequence[Mutation]) -> list[Ending]:
        """What becomes of changes that are tried together."""
        if group[0].kind in IN_INPUTS:
            return [self._ending_of_input(mutation) for mutation in group]
        results = self._check(*group)
        return [self._ending_among(group, mutation, results) for mutation in group]

    def doctested(self, group: Sequence[Mutation]) -> list[bool | None]:
        """Whether doctest notices changes of this page; None where it cannot read what changes."""
        if self.path.suffix == ".ipynb" or not self._held:
            return [None] * len(group)
        new = {number: texts for mutation in group for number, texts in mutation.new}
        failed, _ = self._by_doctest(new)
        return [self._is_noticed(failed, mutation) for mutation in group]

    def _is_noticed(self, failed: set[int], mutation: Mutation) -> bool | None:
        example = self.examples[mutation.index]
        if example.language != PYTHON or example.line not in self._held:
            return None
        return any(example.line <= line <= example.end for line in failed)

    @cached_property
    def _held(self) -> set[int]:
        return self._by_doctest({})[1]

    def _by_doctest(self, new: Mapping[int, Sequence[str]]) -> tuple[set[int], set[int]]:
        page = self.path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        read = {line.number: line.text for block in self._page.blocks for line in block.lines}
        # What is read has lost the indentation of its block.
        margins = {n: page[n - 1].rstrip().removesuffix(read[n].rstrip()) for n in new}
        indented = {n: [margins[n] + text for text in new[n]] for n in new}
        lines = edited(numbered(page, 1), indented)
        environment = self.runner.engines[PYTHON].environment
        return doctested(lines, self.runner.preludes.get(PYTHON, ""), environment)

    def _ending_among(
        self, group: Sequence[Mutation], mutation: Mutation, results: Sequence[Result]
    ) -> Ending:
        ending = self._ending(mutation, results, self._blocks(mutation))
        if ending is not Ending.CAUGHT:
            alone = results if len(group) == 1 else self._check(mutation)
            ending = self._ending(mutation, alone, set(range(len(self._page.blocks))))
        is_lua = self.examples[mutation.index].language == LUA
        near = is_lua and is_within_tolerance(mutation.before, mutation.after)
        return Ending.TOLERATED if near and ending is Ending.ESCAPED else ending

    def _ending_of_input(self, mutation: Mutation) -> Ending:
        blocks = self._blocks(mutation)
        examples = self._changed([mutation])
        # What stands below its block need not be run.
        skipped = Settings(skip=Mark())
        examples = [e if e.block <= max(blocks) else replace(e, settings=skipped) for e in examples]
        try:
            ending = self._ending(mutation, self._judged(examples), blocks)
        except SettingsError:
            return Ending.CAUGHT  # there is an erratum for the input before
        outcomes = self.runner.evaluate(examples)[mutation.target]
        has_effect = outcomes != self.runner.evaluate(self.examples)[mutation.target]
        return ending if has_effect or ending is not Ending.ESCAPED else Ending.TOLERATED

    def _ending(self, mutation: Mutation, results: Sequence[Result], blocks: set[int]) -> Ending:
        before = {result.example.line: result for result in self.results}
        own = [result for result in results if result.example.block in blocks]
        if any(r.failed and not _failed(before.get(r.example.line)) for r in own):
            return Ending.CAUGHT
        line = self.examples[mutation.target].line
        now = next((r.verdict for r in own if r.example.line == line), Verdict.TEXT)
        if now not in _GOOD:
            return Ending.TOLD
        return Ending.FELL if _GOOD[now] < _GOOD[mutation.was] else Ending.ESCAPED

    def _check(self, *mutations: Mutation) -> Sequence[Result]:
        return self._judged(self._changed(mutations))

    def _changed(self, mutations: Sequence[Mutation]) -> list[Example]:
        """The examples of the page with some changes, and with what the page's settings say."""
        new = {number: texts for mutation in mutations for number, texts in mutation.new}
        blocks = [
            replace(
                block,
                lines=edited(block.lines, new),
                output=None if block.output is None else edited(block.output, new),
            )
            for block in self._page.blocks
        ]
        said = {example.line: example for example in self.examples}
        return [
            replace(e, settings=said[e.line].settings, hidden=said[e.line].hidden)
            if e.line in said
            else e
            for e in examples_of(blocks, self._page.compiler)
        ]

    def _judged(self, examples: Sequence[Example]) -> Sequence[Result]:
        errata = errata_of(examples, self._page.sidecar)
        sources = {i: e.right for i, e in errata.items() if e.right is not None}
        judged = judge_page(examples, self.runner, sources, {})
        results = with_missing_devices(judged.results, self._imported)
        results = with_fragments(results, judged.outcomes, self._known)
        results = with_missing_outputs(results, judged.outcomes, self._page, self.runner)
        return with_errata(results, judged.outcomes, errata)


def _failed(result: Result | None) -> bool:
    return result is not None and result.failed
