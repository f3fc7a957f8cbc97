"""Finds examples that fail since their page is no whole program: it leaves out what they use."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace

from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.examples import Kind
from th_shell.docs.reading.names import bound_names, read_names, strings

__all__ = ["with_fragments"]

_MAY_BE = (Verdict.DIFFERS, Verdict.ERROR)


def with_fragments(results: Sequence[Result], known: frozenset[str]) -> list[Result]:
    """The results; what fails for want of something that the page leaves out is a fragment.

    That is a name which nothing above gives a value, or a file, module or the like whose name
    stands nowhere else. A name that only differs in capital letters from one with a value is an
    error of the page.
    """
    bound, spoilt, judged = set(known), set[str](), []
    said: set[str] = set()  # the strings in the code so far
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
        elif absent := _absent(result, said):
            note = f"the page does not make: {absent}"
            result = replace(result, verdict=Verdict.FRAGMENT, note=note)
            spoilt |= own
        else:
            bound |= own
            spoilt -= own
        said |= set(strings(source))
        judged.append(result)
    return judged


_NOT_THERE = re.compile(r"(?i)not find|not found|no such|cannot open|does not exist")


def _absent(result: Result, said: Set[str]) -> str:
    """What an error says is not there, where only this input names it; '' for other errors."""
    if result.verdict is not Verdict.ERROR or result.example.expected:
        return ""
    if not _NOT_THERE.search(result.got):
        return ""
    named = (text for text in strings(result.example.source) if text and text not in said)
    return next((text for text in named if text in result.got), "")
