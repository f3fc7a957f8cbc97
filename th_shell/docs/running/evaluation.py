"""Runs a page's examples twice.

The two runs differ in the seed of the random numbers, the values of new memory, the clock and the
order of fields in tables; `verdicts` compares what they print. Each run has an empty folder, and
each example a time limit. If an input ends its process, the page runs again without that input, so
that the outcomes of the others are not lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.running.processes import Engine, LostError, Run, Starter
from th_shell.docs.running.shell import refusal

__all__ = ["Outcome", "Runner", "unrunnable"]

#: What a run begins with. Doubles and integers of bytes 0x3F are ordinary numbers. Time goes by
#: 100 days, 3 hours and some between the two runs.
_RUNS = (b"seed 1\nfill 0\n", b"seed 20240229\nfill 63\nclock 8653267\n")

#: How many times a page is started again after an input has ended its process.
_RESTARTS = 100


@dataclass(frozen=True)
class Outcome:
    """The outcome of an input in one run.

    output: all that it has printed. printed: the part before the values that the prompt shows.
    error: the message of its error, or None. lost: why it has not ended or was not run, or ''.
    """

    output: str = ""
    printed: str = ""
    error: str | None = None
    lost: str = ""


def unrunnable(example: Example) -> str:
    """Why an example is not run; '' if it is run."""
    if example.kind is Kind.TEXT:
        return "no input: this text does not compile as Lua"
    if example.skip:
        return "the page says so"
    if example.kind is Kind.PROMPT and example.source.startswith("?"):
        return "asks the prompt for help; not Lua"
    return refusal(example.source) if example.kind is Kind.SHELL else ""


@dataclass(frozen=True)
class Runner:
    """Runs pages by an engine. seconds: the time that an example may take."""

    starter: Starter
    engine: Engine = Engine()
    seconds: float = 30

    def evaluate(
        self, examples: Sequence[Example], after: Mapping[int, Sequence[str]] | None = None
    ) -> list[tuple[Outcome, Outcome]]:
        """The outcomes of each example in the two runs.

        after: code that is run behind an example, by the example's index: for each run its own.
        """
        hidden = after or {}
        with ThreadPoolExecutor(len(_RUNS)) as pool:
            runs = [
                pool.submit(_PageRun(self, examples, number, hidden).outcomes)
                for number in range(len(_RUNS))
            ]
            first, second = (run.result() for run in runs)
        return [(first[i], second[i]) for i in range(len(examples))]


class _PageRun:
    """One of the runs of a page."""

    def __init__(
        self,
        runner: Runner,
        examples: Sequence[Example],
        number: int,
        after: Mapping[int, Sequence[str]],
    ) -> None:
        self._runner = runner
        self._examples = examples
        self._number = number
        self._after = after

    def outcomes(self) -> dict[int, Outcome]:
        left = [i for i, example in enumerate(self._examples) if not unrunnable(example)]
        killers: dict[int, Outcome] = {}
        found: dict[int, Outcome] = {}
        problem = "has ended its process too often"
        for _ in range(1 + _RESTARTS):
            found = {}
            try:
                run = self._runner.starter.start(self._runner.engine, self._number)
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
        block = None
        for index in indices:
            example = self._examples[index]
            try:
                if block is None:
                    run.ask("begin", _RUNS[self._number])
                if block != example.block:
                    run.ask("block")
                    block = example.block
                found[index] = self._outcome(run, example)
                if index in self._after:
                    run.ask("run", _encoded(self._after[index][self._number]), self._runner.seconds)
            except LostError as error:
                found[index] = Outcome(
                    output=error.output, lost=f"the process {error} in this input"
                )
                return index
        return None

    def _outcome(self, run: Run, example: Example) -> Outcome:
        seconds = self._runner.seconds
        if example.kind is Kind.SHELL:
            reply = run.shell(example.source, seconds)
        else:
            reply = run.ask("input", _encoded(example.source), seconds)
        lost = f"was stopped after {seconds:g} s" if reply.late else ""
        return Outcome(reply.output, reply.printed, None if lost else reply.error, lost)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
