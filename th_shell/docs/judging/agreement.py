"""Tells whether a documented text and a printed one agree, by the rules of their example."""

import re
from collections.abc import Callable
from dataclasses import replace

from th_shell.docs.judging.comparison import agrees, is_same_text
from th_shell.docs.judging.printout import NUMBER, number_words
from th_shell.docs.reading.examples import PYTHON, Example
from th_shell.docs.settings.settings import Tolerance
from th_shell.patterns import pattern

#: Values of Lua as they are written in code.
_LITERAL = pattern(
    rf"\"(?P<double>[^\"\\\n]*)\"|'(?P<single>[^'\\\n]*)'|(?P<word>nil|true|false|{NUMBER})"
)
_LITERALS = pattern(rf"(?:(?:{_LITERAL.pattern})(?:\s+|\Z))+")


#: A comment behind an output of Python.
_REMARK = pattern(r"(?<=\s)#.*$", re.M)


def _is_same_text(text: str, got: str) -> bool:
    """Tell whether an output of Python is the documented one, maybe with remarks behind it."""
    return is_same_text(text, got) or "#" not in got and is_same_text(_REMARK.sub("", text), got)


def comparison(example: Example) -> Callable[[str, str], bool]:
    """Return the function that compares an example's documented text with a printed one.

    Its arguments are the documented and the printed text; it returns whether they agree.
    """
    tolerance = example.settings.tolerance
    if "NUMBER" in example.flags:
        tolerance = tolerance.plus(1e-12)
    if example.language == PYTHON and tolerance == Tolerance():
        return _is_same_text
    return lambda expected, got: agrees(expected, got, tolerance)


#: Tolerances that are proposed where printed numbers are nearly the documented ones.
_PROPOSED = (1e-14, 1e-12, 1e-9, 1e-6)


def sufficient_tolerance(example: Example, got: str) -> float:
    """Return the least proposed `rtol` by which an example that differs would hold; 0 for none."""
    if number_words(example.expected) == number_words(got):
        return 0
    for rtol in _PROPOSED:
        settings = replace(example.settings, rtol=rtol)
        if comparison(replace(example, settings=settings))(example.expected, got):
            return rtol
    return 0


def is_quoted(expected: str, got: str) -> bool:
    """Tell whether the page shows the printed values as literals of Lua: `"a"  1`."""
    if not _LITERALS.fullmatch(expected.strip()):
        return False
    literals = _LITERAL.finditer(expected)
    words = [match["double"] or match["single"] or match["word"] or "" for match in literals]
    return words == got.strip("\n").removesuffix("\t").split("\t")  # one is behind the last, too
