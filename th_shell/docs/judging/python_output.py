"""Prepares documented and printed texts of Python for comparison, by the rules of doctest.

The rules are those of the module doctest: `...` stands for any text, `<BLANKLINE>` for an empty
line. Warnings do not count where the page shows none. The elements of a set, whose order differs
between processes, are sorted.

Of a warning a page shows its category and its message, or nothing but the line of code that it is
from: authors who copy the output of a notebook leave out its first line, a path of their own.
"""

import ast
import re
from dataclasses import replace

from th_shell.docs.judging.printout import ANYTHING, without_places
from th_shell.docs.reading.examples import PYTHON, Example, Kind
from th_shell.docs.running.evaluation import Outcome
from th_shell.patterns import pattern
from th_shell.python_syntax import expression

_BLANK = pattern(r"^[ \t]*<BLANKLINE>[ \t]*$", re.M)
#: The text that a notebook prints in place of a picture.
_FIGURE = pattern(
    r"^<(?:Figure size \S+ with \d+ Axes|IPython\.core\.display\.\w+ object)>$\n?", re.M
)
#: The output of `%time` and `%timeit`.
_TIMES = pattern(
    r"^(?:(?:CPU times|Wall time): .*|The slowest run took .*|.* per loop(?: \(mean ± .*)?)$\n?",
    re.M,
)
#: A function and other objects, as Python shows them, and a notebook.
_FUNCTION = pattern(r"<function ([\w.]+\.)?([\w<>]+)(?: at 0x\w+|\(.*\))?>")
_OBJECT = pattern(r"(?<=\w)(?: object)? at 0x\w+(?=>)")
_CLASS = pattern(r"<class '([\w.]+)'>")
_BRACES = pattern(r"\{[^{}]*\}")
#: A character outside of ASCII, as doctest compares it.
_ESCAPE = pattern(r"\\(?:x[89a-f][0-9a-f]|u[0-9a-f]{4}|U[0-9a-f]{8})")
#: Blanks inside of brackets, where an author has laid out a dictionary.
_PADDING = pattern(r"(?<=[{\[(]) | (?=[}\])])")
#: The elements of a printed set; objects are shown as calls. A set of names is mathematics.
_LITERALS = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.Call)
_IGNORE_DETAIL = "IGNORE_EXCEPTION_DETAIL"
_IGNORE_MODULE = "IGNORE_EXCEPTION_MODULE"
_IS_ERROR = pattern(r"^(?:Traceback |(?:\w+\.)*\w+: )", re.M)
#: The last line of an error: its class, of which the module does not count then, and its message.
_DETAIL = pattern(r"^(?:\w+\.)*(\w+)(?::.*)?\Z", re.M | re.S)
#: Dots in brackets for the traceback above an error.
_DOTS = pattern(r"\A[<\[(](?:\.\.\.|…)[>\])]\n(?=(?:\w+\.)*\w+: .*\Z)")
#: What an author has left out of a value: `(…)`. What a program cuts off stands in no brackets.
_OMITTED = pattern(r"(?<=[(\[{<])…(?=[)\]}>])")
_MODULE = pattern(r"^(?:\w+\.)+(?=\w+(?:: .*)?\Z)", re.M | re.S)
#: The module of a program's classes, which is printed only if the program is a script.
_MAIN = "__main__."
#: What stands between the traceback of an error and of one that was raised while it was handled.
_CHAINS = (
    "\nDuring handling of the above exception, another exception occurred:\n",
    "\nThe above exception was the direct cause of the following exception:\n",
)
#: A line that the module logging writes to the standard error, which doctest does not read.
_LOGGED = pattern(r"^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.]+:.*\n?", re.M)
_IS_WARNING = pattern(r"\b\w*Warning: ")
_HEADING = r"^(?:\S.*?:\d+: )?\w*Warning: .*\n"
#: A warning: where it is from, its message of some lines, and that line of code, if it is known.
_WARNING = pattern(
    rf"(?P<told>{_HEADING}(?:\S.*\n){{0,9}}?)  (?P<code>\S.*)(?:\n|\Z)|{_HEADING}", re.M
)


def comparable(example: Example) -> Example:
    """Return an example whose documented text can be compared with its output."""
    if example.language != PYTHON or not example.expected:
        return example
    text = _as_shown(_BLANK.sub("", _DOTS.sub("", example.expected)), example)
    text = _without_code(_with_sorted_sets(text))
    if _IGNORE_DETAIL in example.flags and _IS_ERROR.search(text):
        text = _DETAIL.sub(rf"\g<1>{ANYTHING}", text)
    elif _ignores_modules(example) and _IS_ERROR.search(text):
        text = _without_module(text)
    text = _OMITTED.sub(ANYTHING, text.replace("...", ANYTHING)).strip("\n")
    return example if text == example.expected else replace(example, expected=text)


def comparable_outcome(example: Example, outcome: Outcome) -> Outcome:
    """Return an outcome whose texts can be compared with the documented one."""
    if example.language != PYTHON:
        return outcome
    shown = {
        text: _with_shown_warnings(_with_sorted_sets(_as_shown(text, example)), example)
        for text in {outcome.output, outcome.printed}
    }
    error = outcome.error and _last_of_chain(outcome.error, example.expected)
    if error and (_IGNORE_DETAIL in example.flags or _ignores_modules(example)):
        error = _without_module(without_places(error).rstrip("\n"))
    output, printed = shown[outcome.output], shown[outcome.printed]
    if (output, printed, error) == (outcome.output, outcome.printed, outcome.error):
        return outcome
    return replace(outcome, output=output, printed=printed, error=error)


def _ignores_modules(example: Example) -> bool:
    """Tell whether errors of an example are compared without the modules of their classes."""
    return _IGNORE_MODULE in example.flags or bool(example.settings.ignore_exception_module)


def _without_module(error: str) -> str:
    """Return the text of an error without the module of its class in the last line."""
    above, newline, last = error.rpartition("\n")
    return above + newline + _MODULE.sub("", last)


def _last_of_chain(error: str, expected: str) -> str:
    """Return an error without the ones that it followed, unless the page shows these."""
    for words in _CHAINS:
        if words.strip() not in expected:
            error = error.rpartition(words)[2].lstrip("\n")
    return error


def _as_shown(text: str, example: Example) -> str:
    """Return a text without the marks of pictures and the modules of classes.

    In cells of notebooks, functions and objects lose their addresses, too.
    """
    text = _FIGURE.sub("", text)
    if _MAIN not in example.expected:
        text = text.replace(_MAIN, "")
    if _ESCAPE.search(example.expected):
        text = text.encode("ascii", "backslashreplace").decode("ascii")
    if example.kind is not Kind.CELL:
        return text
    text = _FUNCTION.sub(r"<function \2>", _TIMES.sub("", text))
    return _CLASS.sub(r"\1", _OBJECT.sub(" at 0x", text))


def _with_shown_warnings(text: str, example: Example) -> str:
    """Return a printed text with the parts of its warnings and its log that the page shows."""
    if not _LOGGED.search(example.expected):
        text = _LOGGED.sub("", text)
    if not _IS_WARNING.search(text):
        return text
    if _IS_WARNING.search(example.expected):
        return _without_code(text)
    echo = _echo(example)

    def shown(match: re.Match[str]) -> str:
        return f"  {echo}\n" if echo and match["code"] == echo else ""

    return _WARNING.sub(shown, text)


def _without_code(text: str) -> str:
    """Return a text whose warnings are without the lines of code that raised them."""
    return _WARNING.sub(lambda match: match["told"] or match[0], text)


def _echo(example: Example) -> str:
    """Return the first documented line if it is the line of code under a warning; or ''.

    Such a line is indented, and stands in the example, too.
    """
    first = example.expected.partition("\n")[0]
    code = [line.strip() for line in example.source.split("\n")]
    return first.strip() if first.startswith("  ") and first.strip() in code else ""


def _with_sorted_sets(text: str) -> str:
    """Return a text with the elements of printed sets in order."""
    return _BRACES.sub(lambda match: _sorted(match[0]), text)


def _sorted(text: str) -> str:
    """Sort the elements of a printed set of literals; only unify white space in other texts."""
    text = " ".join(text.split())
    value = expression(text)
    if isinstance(value, ast.Dict):
        return _PADDING.sub("", text)
    if not isinstance(value, ast.Set) or not all(isinstance(e, _LITERALS) for e in value.elts):
        return text
    elements = (ast.get_source_segment(text, element) or "" for element in value.elts)
    return "{" + ", ".join(sorted(elements)) + "}"
