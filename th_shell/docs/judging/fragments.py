"""Finds examples that fail since their page is no whole program: it leaves out what they use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Kind
from th_shell.docs.reading.names import bound_names, read_names

__all__ = ["with_fragments"]

_MAY_BE = (Verdict.DIFFERS, Verdict.ERROR)


def with_fragments(results: Sequence[Result], known: frozenset[str]) -> list[Result]:
    """The results; what fails for want of a name that nothing above gives a value is a fragment.

    A name that only differs in capital letters from one with a value is an error of the page.
    """
    bound, spoilt, judged = set(known), set[str](), []
    for result in results:
        is_lua = result.example.kind in (Kind.PROMPT, Kind.BARE)
        source = result.example.source if is_lua else ""
        own, used = bound_names(source), read_names(source) - known
        missing = sorted(used - own - (bound - spoilt)) if result.verdict in _MAY_BE else []
        lower = {name.lower() for name in bound}
        if missing and not any(name.lower() in lower for name in missing if name not in spoilt):
            note = f"the page gives no value to: {', '.join(missing)}"
            result = replace(result, verdict=Verdict.FRAGMENT, note=note)
            # What it has not done is missing below, also what a call would have done to arguments.
            spoilt |= own | (used if "(" in source else set())
        else:
            bound |= own
            spoilt -= own
        judged.append(result)
    return judged
