"""Runs the examples of a page at the Python prompt, and says whether each does as the page shows.

They are read and judged as th-docs does it. Each runs once, in the session itself: of what draws
random numbers, and of what builds on it, the layout of the numbers is compared.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import th_shell.docs.library as docs
from th_shell.python.evaluation import error_text, show_error
from th_shell.python.inputs import is_exit
from th_shell.python.session import PythonSession
from th_shell.python_syntax import bound_names, called_names, read_names
from th_shell.session.look import Look
from th_shell.session.playing import mark_of, summary
from th_shell.session.tee import Tee

#: Functions whose results differ from run to run, or that leave memory as it was.
_DRAWS = frozenset(
    "bernoulli choice empty empty_like multinomial normal perf_counter poisson rand rand_like "
    "randint randn randn_like random randperm sample shuffle time uniform".split()
)


class PythonPlayer:
    """Runs the examples of one page. tee: what reads the output."""

    def __init__(
        self, session: PythonSession, examples: Sequence[docs.Example], look: Look, tee: Tee
    ) -> None:
        self._session = session
        self._examples = [one for one in examples if one.kind is not docs.Kind.TEXT]
        self._look = look
        self._tee = tee
        self._judging = docs.Judging()
        self._drawn: set[str] = set()  # the names of what depends on chance
        self._found: Counter[docs.Verdict] = Counter()

    def play(self) -> bool:
        """Run all examples; returns False if one of them ends the session."""
        session = self._session
        runs = [one for one in self._examples if not docs.unrunnable(one)]
        for example in runs:
            if is_exit(example.source):
                return False
            if len(runs) > 1:
                session.write(session.echo(example.source))
            if not self._step(example):
                break
        told = summary(self._found, len(self._examples) - len(runs), len(runs))
        session.write(self._look.faint.format(told) + "\n")
        return True

    def _step(self, example: docs.Example) -> bool:
        """Run and judge one example; returns False if Ctrl-C has stopped it."""
        self._tee.text()
        self._tee.clear()
        error = self._session.evaluate(example.source)
        with suppress(Exception):
            sys.stdout.flush()
        output = self._tee.text().decode("utf-8", "surrogateescape")
        if error is not None:
            show_error(error)
        if isinstance(error, KeyboardInterrupt):
            return False
        outcome = docs.Outcome(output, output, None if error is None else error_text(error))
        result = self._judged(example, outcome)
        self._found[result.verdict] += 1
        mark = mark_of(result, self._look)
        if mark:
            self._session.write("\n" * (output[-1:] not in ("", "\n")) + mark + "\n")
        return True

    def _judged(self, example: docs.Example, outcome: docs.Outcome) -> docs.Result:
        by_chance = self._depends_on_chance(example.source)
        result = self._judging.of_one_run(example, outcome)
        if result.verdict is not docs.Verdict.DIFFERS or not (by_chance and example.expected):
            return result
        expected, got = example.expected, outcome.output
        has_numbers = docs.numbers(expected) and docs.numbers(got)
        if has_numbers and docs.loose_layout(expected) == docs.loose_layout(got):
            return replace(result, verdict=docs.Verdict.LAYOUT)
        return result

    def _depends_on_chance(self, source: str) -> bool:
        depends = bool(called_names(source) & _DRAWS or read_names(source) & self._drawn)
        bound = bound_names(source)
        self._drawn = self._drawn | bound if depends else self._drawn - bound
        return depends
