"""Tells examples that fail because the page has left something out: they use names without a value.

Nothing is wrong with such a fragment of code, and nothing can be said about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading import names, python_syntax
from th_shell.docs.reading.examples import Kind
from th_shell.docs.reading.languages import LUA, PYTHON

__all__ = ["with_fragments"]

#: For each language, which names code gives a value, and which it reads.
_NAMES_IN = {
    LUA: (names.bound_names, names.read_names),
    PYTHON: (python_syntax.bound_names, python_syntax.read_names),
}


def with_fragments(results: Iterable[Result], known: Mapping[str, frozenset[str]]) -> list[Result]:
    """The results; what fails for want of a name that nothing above gives a value is a fragment.

    known: for each language, the names that have a value before the page begins.
    """
    judges = {language: _Names(language, given) for language, given in known.items()}
    return [judges[result.example.language].judged(result) for result in results]


class _Names:
    """The names that have a value as a page goes on, in one language.

    A name that only differs in capital letters from one with a value is an error of the page.
    """

    def __init__(self, language: str, known: frozenset[str]) -> None:
        self._bound_in, self._read_in = _NAMES_IN[language]
        self._known = known
        self._bound = set(known)
        self._spoilt: set[str] = set()

    def judged(self, result: Result) -> Result:
        """The result of the next example."""
        is_code = result.example.kind not in (Kind.SHELL, Kind.TEXT)
        source = result.example.source if is_code else ""
        own, used = self._bound_in(source), self._read_in(source) - self._known
        bound, spoilt = self._bound, self._spoilt
        missing = sorted(used - own - (bound - spoilt)) if result.failed else []
        lower = {name.lower() for name in bound}
        if (
            not missing
            or python_syntax.ALL_NAMES in bound
            or any(name.lower() in lower for name in missing if name not in spoilt)
        ):
            bound |= own
            spoilt -= own
            return result
        # What it has not done is missing below, also what a call would have done to arguments.
        spoilt |= own | (used if "(" in source else set())
        note = f"the page gives no value to: {', '.join(missing)}"
        return replace(result, verdict=Verdict.FRAGMENT, note=note)
