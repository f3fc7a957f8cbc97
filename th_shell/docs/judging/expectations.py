"""Holds a page's results against what is said of them beforehand: ledger, baseline and settings.

The ledger (`ledger`) has the errors of the page itself; `th-docs --update` writes what it should
have.

The baseline of a page is what its examples have reached, so that a later fall is a failure. It is
in a file beside the page, named PAGE.verdicts, that `th-docs --update` writes: a line for each
example, with its verdict and its identity, which no line number is part of:

    pass    Extracting sub-tensors/1/x:narrow(1, 2, 3)
    layout  Extracting sub-tensors/1/x

An example falls when it was compared with more than it is compared with now: from pass to layout,
since its output has become random, or to ran, since the documented output was deleted. Where an
example that was compared is gone, the page fails. A page without such a file has no baseline.
Where a device is missing, an example that needs it has not fallen.

Settings say of an example that it fails. What is said of one example must hold for it. What is said
of a block or a page must hold for one of its examples: the others may pass. Where all pass, what is
said is no longer so, and is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from th_shell.docs.judging.chance import Judgement
from th_shell.docs.judging.comparison import agrees, agrees_by_layout
from th_shell.docs.judging.ledger import Erratum, ledger_lines, places
from th_shell.docs.judging.printout import same
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Example, identities
from th_shell.docs.running.evaluation import Outcome
from th_shell.docs.settings.settings import Settings, filtered

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


#: How much of an example each verdict has compared with the page.
_RANKS = {Verdict.RAN: 1, Verdict.LAYOUT: 2, Verdict.PASS: 3}


class BaselineError(Exception):
    """A baseline that cannot be read, or that has examples which the page no longer has."""


def baseline_path(page: Path, folder: Path | None = None) -> Path:
    """The path of a page's baseline: beside the page, or in a folder."""
    return (folder or page.parent) / f"{page.name}.verdicts"


def baseline_text(results: Sequence[Result]) -> str:
    """The text of a baseline with these results."""
    names = identities([result.example for result in results])
    pairs = zip(results, names, strict=True)
    return "".join(f"{result.verdict.value:7} {name}\n" for result, name in pairs)


def read_baseline(path: Path) -> dict[str, Verdict] | None:
    """The verdicts by the identities of examples; None without a file. Raises BaselineError."""
    if not path.exists():
        return None
    found: dict[str, Verdict] = {}
    for at, line in enumerate(ledger_lines(path), 1):
        word, _, name = line.partition(" ")
        if not line.strip():
            continue
        if word not in Verdict._value2member_map_:
            raise BaselineError(f"{path}:{at}: no verdict: {word}")
        found[name.strip()] = Verdict(word)
    return found


def with_falls(results: Sequence[Result], baseline: dict[str, Verdict]) -> list[Result]:
    """The results, in which a fall is a failure. Raises BaselineError for lost examples."""
    names = [str(name) for name in identities([result.example for result in results])]
    lost = [name for name in baseline if name not in set(names) and baseline[name] in _RANKS]
    lost = [name for name in lost if _RANKS[baseline[name]] > _RANKS[Verdict.RAN]]
    if lost:
        raise BaselineError(_LOST.format(count=len(lost), first=lost[0]))
    return [
        _fallen(result, baseline[name]) if name in baseline else result
        for result, name in zip(results, names, strict=True)
    ]


_LOST = "{count} of its examples that were compared are gone, first: {first} (see --update)"


def _fallen(result: Result, before: Verdict) -> Result:
    if result.failed or _RANKS.get(result.verdict, 0) >= _RANKS.get(before, 0):
        return result
    is_said = result.verdict is Verdict.SKIPPED and result.example.settings.skip is not None
    if is_said or result.verdict in (Verdict.ERRATUM, Verdict.XFAIL, Verdict.DEVICE):
        return result
    note = f"it was {before.value}, and is {result.verdict.value} now (see --update)"
    return replace(result, verdict=Verdict.DIFFERS, note=note)


_HOLDS = frozenset((Verdict.PASS, Verdict.LAYOUT, Verdict.RAN))


def with_xfail(results: Sequence[Result]) -> list[Result]:
    """The results, where failures that are said to be are no failures."""
    judged = [_expected(result) for result in results]
    met = {r.example.settings.xfail for r in judged if r.verdict is Verdict.XFAIL}
    for at, result in enumerate(judged):
        mark = result.example.settings.xfail
        if mark and mark not in met and result.verdict in _HOLDS:
            met.add(mark)
            because = f" ({mark.reason})" if mark.reason else ""
            now = f"it is {result.verdict.value} now: strike it"
            note = f"{mark.place} says that it fails{because}, but {now}"
            judged[at] = replace(result, verdict=Verdict.DIFFERS, note=note)
    return judged


def _expected(result: Result) -> Result:
    mark = result.example.settings.xfail
    if not mark or not result.fails_unexpectedly:
        return result
    return replace(result, verdict=Verdict.XFAIL, note=mark.reason or result.note)
