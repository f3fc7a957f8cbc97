"""Makes what pages of Python document, and what their examples print, fit to be compared.

The conventions are those of the module doctest: `...` stands for any text, `<BLANKLINE>` for an
empty line. Warnings do not count where the page shows none. The elements of a set, whose order each
process has for itself, are sorted.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from th_shell.docs.judging.tokens import ANYTHING
from th_shell.docs.reading.examples import Example
from th_shell.docs.reading.languages import PYTHON
from th_shell.docs.reading.python_syntax import statements
from th_shell.docs.running.evaluation import Outcome

__all__ = ["comparable", "comparable_outcome"]

_BLANK = re.compile(r"^[ \t]*<BLANKLINE>[ \t]*$", re.M)
_BRACES = re.compile(r"\{[^{}]*\}")
_IGNORE_DETAIL = re.compile(r"#\s*doctest:.*\+IGNORE_EXCEPTION_DETAIL\b")
_DETAIL = re.compile(r"^([\w.]+):.*\Z", re.M | re.S)
_IS_WARNING = re.compile(r"\b\w*Warning: ")
_HEADING = r"^(?:\S.*?:\d+: )?\w*Warning: .*\n"
#: A warning: where it is from, its message of some lines, and that line of code, if it is known.
_WARNING = re.compile(rf"(?P<told>{_HEADING}(?:\S.*\n){{0,9}}?)  \S.*(?:\n|\Z)|{_HEADING}", re.M)


def comparable(example: Example) -> Example:
    """An example whose documented text can be compared with what it prints."""
    if example.language != PYTHON or not example.expected:
        return example
    text = _with_sorted_sets(_BLANK.sub("", _without_echo(example)))
    text = _without_code(text)
    if _IGNORE_DETAIL.search(example.source):
        text = _DETAIL.sub(rf"\g<1>{ANYTHING}", text)
    return replace(example, expected=text.replace("...", ANYTHING).strip("\n"))


def comparable_outcome(example: Example, outcome: Outcome) -> Outcome:
    """The outcome of an example in a form that can be compared with a documented text."""
    if example.language != PYTHON:
        return outcome
    output, printed = _with_sorted_sets(outcome.output), _with_sorted_sets(outcome.printed)
    if _IS_WARNING.search(example.expected):
        output, printed = _without_code(output), _without_code(printed)
    else:
        output, printed = _WARNING.sub("", output), _WARNING.sub("", printed)
    return replace(outcome, output=output, printed=printed)


def _without_code(text: str) -> str:
    """A text whose warnings are without the lines of code that they are from."""
    return _WARNING.sub(lambda match: match["told"] or match[0], text)


def _without_echo(example: Example) -> str:
    """The documented text without the line of code that stands under a warning, and nothing above.

    Who copies the output of a notebook leaves out the warning's first line, a path of their own.
    """
    first, _, rest = example.expected.partition("\n")
    code = [line.strip() for line in example.source.split("\n")]
    is_echo = first.startswith("  ") and first.strip() in code
    return rest if is_echo and rest.strip() else example.expected


def _with_sorted_sets(text: str) -> str:
    return _BRACES.sub(lambda match: _sorted(match[0]), text)


def _sorted(text: str) -> str:
    """A printed set with its elements in order; another text as it is."""
    body = statements(" ".join(text.split()))
    value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    if not isinstance(value, ast.Set):
        return text
    return "{" + ", ".join(sorted(map(ast.unparse, value.elts))) + "}"
