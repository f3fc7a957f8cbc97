"""Holds a page's results against its ledger, and says what the ledger should have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from th_shell.docs.judging.chance import Judgement
from th_shell.docs.judging.comparison import agrees, agrees_by_layout
from th_shell.docs.judging.ledger import Erratum, places
from th_shell.docs.judging.tokens import same
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Example
from th_shell.docs.running.evaluation import Outcome
from th_shell.docs.settings.filters import filtered
from th_shell.docs.settings.settings import Settings

_NO_REASON = "No reason is given yet."


def with_errata(judged: Judgement, errata: Mapping[int, Erratum]) -> list[Result]:
    """The results, in which an example that fails as the ledger says is an erratum.

    One that does not is a failure, and so is one of which the ledger does not say what is right.
    """
    pairs = zip(judged.results, judged.outcomes, strict=True)
    return [
        _with_erratum(result, errata[i], runs) if i in errata else result
        for i, (result, runs) in enumerate(pairs)
    ]


def _with_erratum(result: Result, entry: Erratum, runs: tuple[Outcome, Outcome]) -> Result:
    problem = _disagreement(result, entry, runs)
    if problem:
        return replace(result, verdict=Verdict.DIFFERS, note=problem)
    return replace(result, verdict=Verdict.ERRATUM, note=entry.reason)


def _disagreement(result: Result, entry: Erratum, runs: tuple[Outcome, Outcome]) -> str:
    fails = result.fails_unexpectedly
    if entry.input is not None:
        return f"the ledger says that this holds: {entry.input}" if fails else ""
    if not fails:
        return f"the ledger says: {entry.reason} But it is {result.verdict.value} now: strike it."
    if entry.output is None:
        return "the ledger does not say what it prints: th-docs --update writes that"
    if not _prints(entry.output, entry.by_chance, runs, result.example.settings):
        return f"the ledger says that it prints something else: {entry.output}"
    return ""


def updated(
    examples: Sequence[Example],
    judged: Judgement,
    errata: Mapping[int, Erratum],
    inputs: Mapping[int, str],
) -> dict[int, Erratum]:
    """The errata with what their examples print now, and one for each other example that fails.

    Examples that no longer fail have none. What agrees with its erratum keeps it as it is. inputs:
    the right inputs of examples, where a repair has found them.
    """
    new = dict(errata)
    for i, (result, runs) in enumerate(zip(judged.results, judged.outcomes, strict=True)):
        if i in errata:
            if not result.fails_unexpectedly and errata[i].input is None:
                del new[i]
            elif _disagreement(result, errata[i], runs):
                new[i] = replace(_with_output(errata[i], runs), input=None)
        elif result.failed and i in inputs:
            new[i] = Erratum(0, "", _sentence(result.note), input=inputs[i])
        elif result.failed:
            new[i] = _with_output(Erratum(0, "", _sentence(result.note)), runs)
    known = places(examples)
    return {i: replace(entry, place=known[i]) for i, entry in new.items()}


def _printed(run: Outcome) -> str:
    return run.output + (run.error or "")


def _with_output(entry: Erratum, runs: tuple[Outcome, Outcome]) -> Erratum:
    first, second = map(_printed, runs)
    return replace(entry, output=first, by_chance=not same(first, second))


def _prints(
    output: str, by_chance: bool, runs: tuple[Outcome, Outcome], settings: Settings
) -> bool:
    output, first, second = filtered(settings.filters, output, *map(_printed, runs))
    if by_chance:
        return agrees_by_layout(output, first, second)
    return all(agrees(output, text, settings.tolerance) for text in (first, second))


def _sentence(note: str) -> str:
    note = " ".join(note.split())
    return f"{note[0].upper()}{note[1:]}." if note else _NO_REASON
