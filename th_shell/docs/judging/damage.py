"""Finds printed texts in a page that contradict themselves: whoever runs the page cannot be right.

Conversion and print lose numbers, rows and lines of the texts that a page documents. What is left
of a tensor then does not fit the sizes in the line under it, or that line is missing. In Python,
where a tensor is printed as lists in brackets, its rows have other lengths, or brackets are open.
"""

from __future__ import annotations

import re

from th_shell.docs.judging.printout import contradictions, only_rows, printed_tensors
from th_shell.docs.judging.python_adoption import has_uneven_rows
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.reading.languages import LUA
from th_shell.docs.reading.python_syntax import syntax
from th_shell.syntax import Syntax

#: The line with class and sizes, also where it stands behind numbers or lost its bracket.
_SHAPE = re.compile(r"[\[(](torch\.\w+) of (size|dimension) ([\dx ]+?)[\])]")
_ESCAPED = re.compile(r"\\[{}]")


def damage(example: Example, got: str, compiler: Compiler) -> str:
    """How an example that fails contradicts itself; '' where it does not.

    got: what it has printed.
    """
    if example.language != LUA:
        return _in_python(example, got)
    if example.kind is Kind.PROMPT and compiler.typed(example.source) is not Syntax.COMPLETE:
        return "the input is not whole: it does not compile"
    text = example.expected
    problems = contradictions(text, got)
    if problems:
        sizes = "x".join(map(str, problems[0].sizes))
        return f"the text contradicts its last line, {sizes}: {problems[0].problem}"
    shape = _SHAPE.search(text)
    if shape and not any(printed_tensors(text)):
        return f"the line with the sizes is no line of its own: {shape[0]}"
    if _ESCAPED.search(text):
        return "backslashes stand before brackets"
    if not shape and only_rows(text):
        if len({len(row.split()) for row in text.split("\n") if row.strip()}) > 1:
            return "the rows have different lengths"
        if _SHAPE.search(got):
            return "the line with the class and the sizes is missing"
    return ""


#: Where Python prints a tensor or an array.
_ARRAY = re.compile(r"\b(?:tensor|array)\(\[")
_OPENED, _CLOSED = "([{", ")]}"


def _in_python(example: Example, got: str) -> str:
    is_error = "SyntaxError" in example.expected or "IndentationError" in example.expected
    if syntax(example.source) is not Syntax.COMPLETE and not is_error:
        return "the input is not whole: it does not compile"
    text = example.expected
    if not _ARRAY.search(text) or not _is_balanced(got):
        return ""
    if not _is_balanced(text):
        return "a bracket of the tensor is missing"
    return "the rows have different lengths" if has_uneven_rows(text) else ""


def _is_balanced(text: str) -> bool:
    return sum(map(text.count, _OPENED)) == sum(map(text.count, _CLOSED))
