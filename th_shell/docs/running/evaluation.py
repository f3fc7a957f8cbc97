"""Runs a page's examples, several times.

Runs differ in the seed of the random numbers, the values of new memory, the clock and the order of
fields in tables; `verdicts` compares what they print. Each run has an empty folder, and each
example a time limit. If an input ends its process, the page runs again without that input, so
that the outcomes of the others are not lost.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.running.processes import Engine, LostError, Run, Starter
from th_shell.docs.running.shell import refusal

__all__ = ["FIRST", "SECOND", "Outcome", "Plan", "PreludeError", "Runner", "unrunnable"]

#: How many times a page is started again after an input has ended its process.
_RESTARTS = 100


@dataclass(frozen=True)
class Outcome:
    """The outcome of an input in one run.

    output: all that it has printed. printed: the part before the values that the prompt shows.
    error: the message of its error, or None. lost: why it has not ended or was not run, or ''.
    seconds: the time that it took.
    """

    output: str = ""
    printed: str = ""
    error: str | None = None
    lost: str = ""
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class Plan:
    """How a run differs from others.

    seed: of the random numbers. fill: the byte that new memory is filled with. clock: seconds by
    which time is later. engine: which of the engines it has. after: code that is run behind
    examples, by their indices. sources: inputs that replace those of the page, likewise.
    """

    seed: int
    fill: int = 0
    clock: int = 0
    engine: int = 0
    after: Mapping[int, str] = field(default_factory=dict)
    sources: Mapping[int, str] = field(default_factory=dict)


#: The two runs of each page. Doubles and integers of bytes 0x3F are ordinary numbers. Time goes on
#: by 100 days, 3 hours and some between them.
FIRST = Plan(1)
SECOND = Plan(20240229, fill=0x3F, clock=8653267, engine=1)


def unrunnable(example: Example) -> str:
    """Why an example is not run; '' if it is run."""
    if example.kind is Kind.TEXT:
        return "no input: this text does not compile as Lua"
    if example.skip:
        return "the page says so"
    if example.kind is Kind.PROMPT and example.source.startswith("?"):
        return "asks the prompt for help; not Lua"
    return refusal(example.source) if example.kind is Kind.SHELL else ""


class PreludeError(Exception):
    """The code that runs before a page has failed; the message is its error."""


@dataclass(frozen=True)
class Runner:
    """Runs pages by an engine.

    seconds: the time that an example may take. prelude: code that is run before each page.
    """

    starter: Starter
    engine: Engine = Engine()
    seconds: float = 30
    prelude: str = ""

    def evaluate(
        self, examples: Sequence[Example], plans: Sequence[Plan] = (FIRST, SECOND)
    ) -> list[tuple[Outcome, ...]]:
        """The outcomes of each example, one for each plan. Raises PreludeError."""
        with ThreadPoolExecutor(len(plans)) as pool:
            runs = [pool.submit(_PageRun(self, examples, plan).outcomes) for plan in plans]
            found = [run.result() for run in runs]
        return [tuple(outcomes[i] for outcomes in found) for i in range(len(examples))]


class _PageRun:
    """One of the runs of a page."""

    def __init__(self, runner: Runner, examples: Sequence[Example], plan: Plan) -> None:
        self._runner = runner
        self._examples = examples
        self._plan = plan

    def outcomes(self) -> dict[int, Outcome]:
        left = [i for i, example in enumerate(self._examples) if not unrunnable(example)]
        killers: dict[int, Outcome] = {}
        found: dict[int, Outcome] = {}
        problem = "has ended its process too often"
        for _ in range(1 + _RESTARTS):
            found = {}
            try:
                run = self._runner.starter.start(self._runner.engine, self._plan.engine)
            except LostError as error:
                problem = str(error)
                break
            try:
                killer = self._run(run, left, found)
            finally:
                run.close()
            if killer is None:
                break
            killers[killer] = found[killer]
            left.remove(killer)
        lost = Outcome(lost=f"lost: the page {problem} before this input")
        return {i: killers.get(i) or found.get(i, lost) for i in range(len(self._examples))}

    def _run(self, run: Run, indices: Sequence[int], found: dict[int, Outcome]) -> int | None:
        """Run examples, and add their outcomes; the index of the one that has ended the run."""
        plan, block = self._plan, None
        begin = f"seed {plan.seed}\nfill {plan.fill}\nclock {plan.clock}\n".encode()
        for index in indices:
            example, start = self._examples[index], time.monotonic()
            try:
                if block is None:
                    run.ask("begin", begin)
                    self._run_prelude(run)
                if block != example.block:
                    run.ask("block")
                    block = example.block
                found[index] = self._outcome(run, index, example)
                if index in plan.after:
                    run.ask("run", _encoded(plan.after[index]), self._runner.seconds)
            except LostError as error:
                how = f"the process {error} in this input"
                seconds = time.monotonic() - start
                found[index] = Outcome(output=error.output, lost=how, seconds=seconds)
                return index
        return None

    def _run_prelude(self, run: Run) -> None:
        if self._runner.prelude:
            reply = run.ask("run", _encoded(self._runner.prelude), self._runner.seconds)
            if reply.error is not None or reply.late:
                raise PreludeError(reply.error or "it takes too long")

    def _outcome(self, run: Run, index: int, example: Example) -> Outcome:
        seconds, start = self._runner.seconds, time.monotonic()
        if example.kind is Kind.SHELL:
            reply = run.shell(example.source, seconds)
        else:
            source = self._plan.sources.get(index, example.source)
            reply = run.ask("input", _encoded(source), seconds)
        lost = f"was stopped after {seconds:g} s" if reply.late else ""
        error = None if lost else reply.error
        return Outcome(reply.output, reply.printed, error, lost, time.monotonic() - start)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
