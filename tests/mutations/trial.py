"""Tries changes on a page: does th-docs notice them?

A page is checked again for each change, but most runs of it are remembered: what examples print
does not depend on what the page documents. Changes in different examples that pass are tried
together, and so are changes in different blocks of examples that depend on chance; what such a
trial of many does not notice in the block of a change is tried once more, alone. Repairs are not
looked for: what they heal fails all the same.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from tests.mutations.changes import IN_INPUTS, IN_OUTPUTS, is_within_tolerance
from th_shell.docs.judging.chance import judge_page
from th_shell.docs.judging.expectations import errata_of, reached, with_errata, with_falls
from th_shell.docs.judging.reasons import with_fragments
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import LUA, PYTHON, Example, Kind
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import FIRST, SECOND, Outcome, Plan, Runner
from th_shell.docs.settings.settings import Mark, Settings, SettingsError
from th_shell.python_syntax import BUILTINS


class Ending(Enum):
    """What has become of a change."""

    TOLERATED = "no change"  #: numbers agree within one in their last place, or nothing is printed
    CAUGHT = "caught"  #: an example fails
    TOLD = "told apart"  #: an example has a verdict that is neither good nor a failure
    ESCAPED = "escaped"  #: no verdict is worse


#: How good verdicts are. What is not here is neither good nor a failure.
_GOOD = {Verdict.PASS: 3, Verdict.ERRATUM: 3, Verdict.LAYOUT: 2, Verdict.RAN: 1, Verdict.SKIPPED: 1}

#: Which share of the errata have a change: each takes ten runs of the page.
_RUNS_ANEW = 0.1


@dataclass(frozen=True)
class Mutation:
    """A change of one example.

    index: of the example in its page. target: of the example whose verdict tells of the change,
    which is the erratum below a changed input, else the same. was: the verdict of the target.
    """

    kind: str
    index: int
    target: int
    was: Verdict
    before: Example
    after: Example


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
        self, page: Path, runner: Remembering, compiler: Compiler, errata: Path | None = None
    ) -> None:
        self.page = page
        self._runner = runner
        self._known = {LUA: compiler.known_names, PYTHON: BUILTINS}
        read_page = read(page, compiler, folder=errata)
        self.examples, self._beside = read_page.examples, read_page.beside
        self.results = self._check({})
        found = errata_of(self.examples, self._beside)
        #: The errata that say what is right: only these are checked.
        self._checked = {i for i, e in found.items() if (e.right, e.prints) != (None, None)}
        outcomes = runner.evaluate(self.examples)
        self._by_chance = {i for i, runs in enumerate(outcomes) if len(set(runs)) > 1}

    def mutations(self, chance: random.Random) -> Iterator[Mutation]:
        """Changes of the page, one after another, each of them once."""
        seen = set[Mutation]()
        lost = 0
        while lost < 1000:  # so often in turn there was nothing new
            mutation = self._mutation(chance)
            if mutation is None or mutation in seen:
                lost += 1
                continue
            lost = 0
            seen.add(mutation)
            yield mutation

    def _mutation(self, chance: random.Random) -> Mutation | None:
        index = chance.randrange(len(self.examples))
        example, was = self.examples[index], self.results[index].verdict
        if example.settings != Settings():
            return None  # what the page allows is no error
        if was in (Verdict.PASS, Verdict.LAYOUT):
            kind = chance.choice(list(IN_OUTPUTS))
            text = IN_OUTPUTS[kind](example.expected, chance)
            after = None if text is None else replace(example, expected=text)
            target = index
        elif index in self._checked and was is Verdict.ERRATUM and chance.random() < _RUNS_ANEW:
            kind, target, index = "input of erratum", index, chance.choice(self._above(index))
            example = self.examples[index]
            text = IN_INPUTS[kind](example.source, chance)
            after = None if text is None else replace(example, source=text)
        else:
            return None
        return None if after is None else Mutation(kind, index, target, was, example, after)

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
        """Changes in groups that can be tried together."""
        groups: list[tuple[set[object], list[Mutation]]] = []
        for mutation in mutations:
            place = self._place(mutation)
            free = (group for group in groups if place not in group[0])
            places, group = next(free, (set[object](), list[Mutation]()))
            if not group:
                groups.append((places, group))
            places.add(place)
            group.append(mutation)
        return [group for _, group in groups]

    def _place(self, mutation: Mutation) -> object:
        # Documented outputs that depend on chance are a part of the program, and other inputs are
        # another program. All other outputs have no influence on one another.
        if mutation.kind in IN_INPUTS:
            return None
        return mutation.before.block if self._is_program(mutation) else -1 - mutation.index

    def _is_program(self, mutation: Mutation) -> bool:
        return mutation.kind in IN_INPUTS or mutation.index in self._by_chance

    def endings(self, group: Sequence[Mutation]) -> list[Ending]:
        """What becomes of changes that are tried together."""
        if group[0].kind in IN_INPUTS:
            return [self._ending_of_input(mutation) for mutation in group]
        results = self._fallen(self._check({m.index: m.after for m in group}))
        found = []
        for mutation in group:
            indices = [mutation.index]
            if self._is_program(mutation):
                indices = self._block(mutation)
            ending = self._ending(results, indices)
            if ending is Ending.ESCAPED and len(group) > 1:
                results_alone = self._fallen(self._check({mutation.index: mutation.after}))
                ending = self._ending(results_alone, range(len(self.examples)))
            texts = mutation.before.expected, mutation.after.expected
            is_tolerated = ending is Ending.ESCAPED and is_within_tolerance(*texts)
            found.append(Ending.TOLERATED if is_tolerated else ending)
        return found

    def _fallen(self, results: Sequence[Result]) -> Sequence[Result]:
        # As if the page had the verdicts that th-docs --update writes.
        before = reached(self.results).items()
        return with_falls(results, {name: Verdict(word) for name, word in before})

    def _ending_of_input(self, mutation: Mutation) -> Ending:
        # What stands below its block need not be run.
        indices = self._block(mutation)
        changed = {
            i: replace(example, settings=Settings(skip=Mark()))
            for i, example in enumerate(self.examples)
            if i > indices[-1]
        }
        changed[mutation.index] = mutation.after
        try:
            ending = self._ending(self._check(changed), indices)
        except SettingsError:
            return Ending.CAUGHT  # there is an erratum for the input before
        examples = [changed.get(i, example) for i, example in enumerate(self.examples)]
        outcomes = self._runner.evaluate(examples)[mutation.target]
        has_effect = outcomes != self._runner.evaluate(self.examples)[mutation.target]
        return ending if has_effect or ending is not Ending.ESCAPED else Ending.TOLERATED

    def _block(self, mutation: Mutation) -> list[int]:
        """The examples in the block of a change."""
        block = mutation.before.block
        return [i for i, example in enumerate(self.examples) if example.block == block]

    def _ending(self, results: Sequence[Result], indices: Sequence[int]) -> Ending:
        pairs = [(self.results[i], results[i]) for i in indices]
        if any(new.failed and not old.failed for old, new in pairs):
            return Ending.CAUGHT
        worse = [new.verdict for old, new in pairs if _rank(new) < _rank(old)]
        if any(verdict not in _GOOD for verdict in worse):
            return Ending.TOLD
        return Ending.ESCAPED

    def _check(self, changed: Mapping[int, Example]) -> Sequence[Result]:
        examples = [changed.get(i, example) for i, example in enumerate(self.examples)]
        errata = errata_of(examples, self._beside)
        sources = {i: e.right for i, e in errata.items() if e.right is not None}
        judged = judge_page(examples, self._runner, sources, {})
        results = with_fragments(judged.results, judged.outcomes, self._known)
        return with_errata(results, judged.outcomes, errata)


def _rank(result: Result) -> int:
    return _GOOD.get(result.verdict, 0)
