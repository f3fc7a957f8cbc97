"""Judges examples that are said to fail.

What is said of one example must hold for it. What is said of a block or a page must hold for one of
its examples: the others may pass. Where all pass, what is said is no longer so, and is a failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from th_shell.docs.judging.verdicts import Result, Verdict

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
