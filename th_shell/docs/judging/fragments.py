"""Finds examples that fail since their page is no whole program: it leaves out what they use.

Signatures are among them where they compile: `y = module.new(size, step)` cannot be told from code,
is run, and fails for want of `module`, `size` and `step`, which the page gives no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from functools import partial

from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading import names, naming, python_syntax
from th_shell.docs.reading.examples import Kind
from th_shell.docs.reading.languages import PYTHON


def with_fragments(results: Iterable[Result], known: Mapping[str, frozenset[str]]) -> list[Result]:
    """The results; what fails for want of something that the page leaves out is a fragment.

    That is a name which nothing above gives a value, or a file, module or the like whose name
    stands nowhere else. A name that only differs in capital letters from one with a value is an
    error of the page. known: for each language, the names that have values before a page begins.
    """
    found = {language: _Fragments(language, names) for language, names in known.items()}
    return [found[result.example.language].judged(result) for result in results]


class _Fragments:
    """Finds the fragments among the examples of one language."""

    def __init__(self, language: str, known: frozenset[str]) -> None:
        self._language = language
        self._bound_in = partial(naming.bound_names, language)
        self._read_in = partial(naming.read_names, language)
        self._known = known
        self._bound = set(known)
        self._spoilt: set[str] = set()
        self._said: set[str] = set()  # the strings in the code so far that has run

    def judged(self, result: Result) -> Result:
        """The result of the next example."""
        is_code = result.example.kind not in (Kind.SHELL, Kind.TEXT)
        source = result.example.source if is_code else ""
        for hidden in result.example.hidden:
            self._bound |= self._bound_in(hidden.text)
        own, used = self._bound_in(source), self._read_in(source) - self._known
        note = self._lacks(result, used - own) or self._absent(result, source)
        if not note:
            self._said |= set(names.strings(source))
            if not result.failed:
                self._known |= self._modules_in(source)  # what is missing spoils no module
            self._bound |= own
            self._spoilt -= own
            self._spoilt |= self._handed_on(source)
            return result
        # What it has not done is missing below, also what a call would have done to arguments.
        self._spoilt |= own | (used if "(" in source else set())
        return replace(result, verdict=Verdict.FRAGMENT, note=note)

    def _modules_in(self, source: str) -> set[str]:
        """The names that code gives to modules."""
        if self._language == PYTHON:
            return python_syntax.imported_names(source)
        return self._bound_in(source) if _REQUIRES.search(source) else set()

    def _handed_on(self, source: str) -> set[str]:
        """The objects that get something which is spoilt: `model` of `model:add(layer)`."""
        calls = _METHOD.findall(source)
        return {name for name, given in calls if self._read_in(given) & self._spoilt} - self._known

    def _lacks(self, result: Result, used: Set[str]) -> str:
        """Which names the page gives no value, as a reason why a result fails."""
        if result.verdict not in (Verdict.DIFFERS, Verdict.ERROR):
            return ""
        missing = sorted(used - (self._bound - self._spoilt))
        defined = set(_EXTENDED.findall(result.example.source))
        is_slip = any(map(self._is_slip, set(missing) - self._spoilt - defined))
        if not missing or is_slip or python_syntax.ALL_NAMES in self._bound:
            return ""
        return f"the page gives no value to: {', '.join(missing)}"

    def _is_slip(self, name: str) -> bool:
        """Whether a name is another one but for capitals; `map` does not mean a class `Map`."""
        return any(
            other.lower() == name.lower() and not (other[0].isupper() and name[0].islower())
            for other in self._bound
        )

    def _absent(self, result: Result, source: str) -> str:
        """What an error says is not there, where only this input names it."""
        if result.verdict is not Verdict.ERROR or result.example.expected:
            return ""
        if not _NOT_THERE.search(result.got):
            return ""
        named = (text for text in names.strings(source) if text and text not in self._said)
        absent = next((text for text in named if text in result.got), "")
        return absent and f"the page does not make: {absent}"


_REQUIRES = re.compile(r"=\s*require\b")
#: `function Module:run()`: who extends a class does not mean a variable of nearly the same name.
_EXTENDED = re.compile(r"\bfunction\s+([A-Za-z_]\w*)[.:]")
#: A method call as a statement.
_METHOD = re.compile(r"^\s*([A-Za-z_]\w*):\w+\s*[({](.*)[)}]", re.M)
_NOT_THERE = re.compile(
    r"(?i)(?:not|n't) find|not found|no such|cannot open|does not exist|no module"
)
