"""Holds a page's results against what is said of them: its errata, its verdicts, its settings.

The errata are the errors of the page itself; `th-docs --update` writes what they should be.

The verdicts beside a page are what its examples have reached, so that a later fall is a failure. An
example falls when it was compared with more than it is compared with now: from pass to layout,
since its output has become random, or to ran, since the documented output was deleted. Where an
example that was compared is gone, the page fails. Where a device is missing, an example that needs
it has not fallen.

Settings say of an example that it fails. What is said of one example must hold for it. What is said
of a block or a page must hold for one of its examples: the others may pass. Where all pass, what is
said is no longer so, and is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from th_shell.docs.judging.comparison import agrees, agrees_by_layout
from th_shell.docs.judging.printout import same
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Example, identities
from th_shell.docs.running.evaluation import Outcome, Runs
from th_shell.docs.settings.beside import Beside, Erratum, find_errata
from th_shell.docs.settings.settings import Settings, SettingsError, filtered
from th_shell.visible import encodable

_NO_REASON = "No reason is given yet."


def errata_of(examples: Sequence[Example], beside: Beside) -> dict[int, Erratum]:
    """The errata of a page by the indices of their examples. Raises SettingsError."""
    errata = beside.errata()
    return {i: errata[at] for i, at in find_errata(errata, examples, beside.path).items()}


def with_errata(
    results: Sequence[Result], outcomes: Sequence[Runs], errata: Mapping[int, Erratum]
) -> list[Result]:
    """The results, in which an example that fails as its erratum says has that verdict.

    One that does not is a failure, and so is one of which the erratum does not say what is right.
    """
    pairs = zip(results, outcomes, strict=True)
    return [
        _with_erratum(result, errata[i], runs) if i in errata else result
        for i, (result, runs) in enumerate(pairs)
    ]


def _with_erratum(result: Result, erratum: Erratum, runs: Runs) -> Result:
    problem = _disagreement(result, erratum, runs)
    if problem:
        return replace(result, verdict=Verdict.DIFFERS, note=problem)
    return replace(result, verdict=Verdict.ERRATUM, note=erratum.reason)


def _disagreement(result: Result, erratum: Erratum, runs: Runs) -> str:
    fails = result.fails_unexpectedly
    if erratum.right is not None:
        return f"its erratum says that this holds: {erratum.right}" if fails else ""
    if not fails:
        now = f"it is {result.verdict.value} now: strike it."
        return f"its erratum says: {erratum.reason} But {now}"
    if erratum.prints is None:
        return "its erratum does not say what it prints: th-docs --update writes that"
    if not _prints(erratum.prints, erratum.by_chance, runs, result.example.settings):
        return f"its erratum says that it prints something else: {erratum.prints}"
    return ""


def updated(
    results: Sequence[Result],
    outcomes: Sequence[Runs],
    errata: Mapping[int, Erratum],
    inputs: Mapping[int, str],
) -> dict[int, Erratum]:
    """The errata with what their examples print now, and one for each other example that fails.

    Examples that no longer fail have none. What agrees with its erratum keeps it as it is. inputs:
    the right inputs of examples, where a repair has found them.
    """
    new = dict(errata)
    for i, (result, runs) in enumerate(zip(results, outcomes, strict=True)):
        if i in errata:
            if not result.fails_unexpectedly and errata[i].right is None:
                del new[i]
            elif _disagreement(result, errata[i], runs):
                new[i] = _with_output(errata[i], runs)._replace(right=None)
        elif result.failed:
            new_erratum = Erratum({}, _sentence(result.note), right=inputs.get(i))
            new[i] = new_erratum if i in inputs else _with_output(new_erratum, runs)
    places = identities([result.example for result in results])
    return {i: erratum._replace(place=places[i]._asdict()) for i, erratum in new.items()}


def _printed(run: Outcome) -> str:
    return encodable(run.output + (run.error or ""))


def _with_output(erratum: Erratum, runs: Runs) -> Erratum:
    first, second = map(_printed, runs)
    return erratum._replace(prints=first.rstrip(), by_chance=not same(first, second))


def _prints(output: str, by_chance: bool, runs: Runs, settings: Settings) -> bool:
    output, first, second = filtered(settings.filters, output, *map(_printed, runs))
    if by_chance:
        return agrees_by_layout(output, first, second)
    return all(agrees(output, text, settings.tolerance) for text in (first, second))


def _sentence(note: str) -> str:
    note = encodable(" ".join(note.split()))
    return f"{note[0].upper()}{note[1:]}." if note else _NO_REASON


#: How much of an example each verdict has compared with the page.
_RANKS = {Verdict.RAN: 1, Verdict.LAYOUT: 2, Verdict.PASS: 3}


def reached(results: Sequence[Result]) -> dict[str, str]:
    """The words for verdicts by the identities of their examples."""
    words = (result.verdict.value for result in results)
    return dict(zip(_names(results), words, strict=True))


def _names(results: Sequence[Result]) -> list[str]:
    return list(map(str, identities([result.example for result in results])))


def with_falls(results: Sequence[Result], before: Mapping[str, Verdict]) -> list[Result]:
    """The results, in which a fall is a failure. Raises SettingsError for lost examples."""
    if not before:
        return list(results)
    names = _names(results)
    gone = before.keys() - set(names)
    lost = [name for name in before if name in gone and _RANKS.get(before[name], 0) > 1]
    if lost:
        problem = f"of its examples that were compared are gone, first: {lost[0]} (see --update)"
        raise SettingsError(f"{len(lost)} {problem}")
    return [
        _fallen(result, before[name]) if name in before else result
        for result, name in zip(results, names, strict=True)
    ]


def verdicts_before(beside: Beside) -> dict[str, Verdict]:
    """The verdicts by the identities of examples. Raises SettingsError."""
    try:
        return {name: Verdict(word) for name, word in (beside.verdicts() or {}).items()}
    except ValueError as error:  # which names the word
        raise SettingsError(f"{beside.path}: verdicts: {error}") from None


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
