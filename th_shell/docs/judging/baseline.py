"""The baseline of a page: what its examples have reached, so that a later fall is a failure.

It is in a file beside the page, named PAGE.verdicts, that `th-docs --update` writes: a line for
each example, with its verdict and its identity, which no line number is part of:

    pass    Extracting sub-tensors/1/x:narrow(1, 2, 3)
    layout  Extracting sub-tensors/1/x

An example falls when it was compared with more than it is compared with now: from pass to layout,
since its output has become random, or to ran, since the documented output was deleted. Where an
example that was compared is gone, the page fails. A page without such a file has no baseline.

Where a device is missing, an example that needs it has not fallen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from th_shell.docs.judging.ledger import ledger_lines
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.identity import identities

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
