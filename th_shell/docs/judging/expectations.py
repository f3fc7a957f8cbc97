"""Compares results with what is expected: errata, former verdicts, and settings such as xfail.

The errata list the errors of the page itself; `th-docs --update` writes them.

The verdicts in the file beside a page are those that its examples have reached, so that a later
fall is a failure. An example falls when less of it is compared than before: from pass to layout,
since its output has become random, or to ran, since the documented output was deleted. Where an
example that was compared is gone, the page fails. An example that now lacks its device has not
fallen.

Settings may say that an example fails. A setting for one example must hold for it. A setting for a
block or a page must hold for one of its examples: the others may pass. Where all pass, the setting
is out of date, which is a failure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from th_shell.docs.judging.comparison import agrees, agrees_by_layout
from th_shell.docs.judging.printout import same
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Example, identities
from th_shell.docs.running.evaluation import Outcome, Runs
from th_shell.docs.settings.settings import Settings, SettingsError, filtered
from th_shell.docs.settings.sidecar import Erratum, Sidecar, find_errata
from th_shell.visible import encodable

_NO_REASON = "No reason is given yet."


def errata_of(examples: Sequence[Example], beside: Sidecar) -> dict[int, Erratum]:
    """Return the errata of a page by the indices of their examples. Raises SettingsError."""
    errata = beside.errata()
    return {i: errata[at] for i, at in find_errata(errata, examples, beside.path).items()}


def with_errata(
    results: Sequence[Result], outcomes: Sequence[Runs], errata: Mapping[int, Erratum]
) -> list[Result]:
    """Return the results; an example that fails as its erratum says has the verdict ERRATUM.

    One that does not is a failure, and so is one whose erratum does not say what is right.
    """
    pairs = zip(results, outcomes, strict=True)
    return [
        _with_erratum(result, errata[i], runs) if i in errata else result
        for i, (result, runs) in enumerate(pairs)
    ]


def _with_erratum(result: Result, erratum: Erratum, runs: Runs) -> Result:
    """Return the result of an example that has an erratum."""
    problem = _disagreement(result, erratum, runs)
    if problem:
        return replace(result, verdict=Verdict.DIFFERS, note=problem)
    return replace(result, verdict=Verdict.ERRATUM, note=erratum.reason)


def _disagreement(result: Result, erratum: Erratum, runs: Runs) -> str:
    """Return how a result disagrees with its erratum; '' if it does not."""
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
    """Return the errata with the outputs of now, and new ones for other failing examples.

    Errata of examples that no longer fail are left out; those that agree with their example are
    kept as they are. inputs: the right inputs of examples, where a repair has found them.
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
    """Return the text that a run has printed, with its error."""
    return encodable(run.output + (run.error or ""))


def _with_output(erratum: Erratum, runs: Runs) -> Erratum:
    """Return an erratum with the output of two runs."""
    first, second = map(_printed, runs)
    return erratum._replace(prints=first.rstrip(), by_chance=not same(first, second))


def _prints(output: str, by_chance: bool, runs: Runs, settings: Settings) -> bool:
    """Tell whether both runs print an output, by its layout where it depends on chance."""
    output, first, second = filtered(settings.filters, output, *map(_printed, runs))
    if by_chance:
        return agrees_by_layout(output, first, second)
    return all(agrees(output, text, settings.tolerance) for text in (first, second))


def _sentence(note: str) -> str:
    """Return a note as a sentence that begins with a capital letter."""
    note = encodable(" ".join(note.split()))
    return f"{note[0].upper()}{note[1:]}." if note else _NO_REASON


#: Ranks of the verdicts by how much of an example they compare with the page.
_RANKS = {Verdict.RAN: 1, Verdict.LAYOUT: 2, Verdict.PASS: 3}


def reached(results: Sequence[Result]) -> dict[str, str]:
    """Return the words for verdicts by the identities of their examples."""
    words = (result.verdict.value for result in results)
    return dict(zip(_names(results), words, strict=True))


def _names(results: Sequence[Result]) -> list[str]:
    """Return the identities of the examples of results."""
    return list(map(str, identities([result.example for result in results])))


def with_falls(results: Sequence[Result], before: Mapping[str, Verdict]) -> list[Result]:
    """Return the results; a fall is a failure. Raises SettingsError for lost examples."""
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


def verdicts_before(beside: Sidecar) -> dict[str, Verdict]:
    """Return the former verdicts by the identities of examples. Raises SettingsError."""
    try:
        return {name: Verdict(word) for name, word in (beside.verdicts() or {}).items()}
    except ValueError as error:  # which names the word
        raise SettingsError(f"{beside.path}: verdicts: {error}") from None


def _fallen(result: Result, before: Verdict) -> Result:
    """Return a result that fails where less is compared than with its former verdict."""
    if result.failed or _RANKS.get(result.verdict, 0) >= _RANKS.get(before, 0):
        return result
    is_said = result.verdict is Verdict.SKIPPED and result.example.settings.skip is not None
    if is_said or result.verdict in (Verdict.ERRATUM, Verdict.XFAIL, Verdict.DEVICE):
        return result
    note = f"it was {before.value}, and is {result.verdict.value} now (see --update)"
    return replace(result, verdict=Verdict.DIFFERS, note=note)


_HOLDS = frozenset((Verdict.PASS, Verdict.LAYOUT, Verdict.RAN))


def with_xfail(results: Sequence[Result]) -> list[Result]:
    """Return the results; a failure that settings expect becomes XFAIL."""
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
    """Return a result as XFAIL if it fails and its settings expect that."""
    mark = result.example.settings.xfail
    if not mark or not result.fails_unexpectedly:
        return result
    return replace(result, verdict=Verdict.XFAIL, note=mark.reason or result.note)
