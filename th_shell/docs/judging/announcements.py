"""Finds the comments beside an input that announce the error which it raises."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile, takewhile

from th_shell import python_syntax
from th_shell.docs.judging.comparison import announces_error, rules_out, says
from th_shell.docs.judging.printout import bare_message
from th_shell.docs.judging.verdicts import ANNOUNCED, Result, Verdict
from th_shell.docs.reading.examples import LUA, PYTHON, Kind
from th_shell.patterns import pattern

#: A comment on a line of its own, in Python also behind a prompt; how many of them are read.
_COMMENT = {LUA: re.compile(r"^\s*--(?!\[|[->]|\s*=>)"), PYTHON: re.compile(r"^\s*(?:>>> ?)?#")}
_MOST = 3
#: A comment of words in an input of Lua.
_INSIDE = pattern(r"--(?![\[>-])[ \t]*(\S.*)")
#: A long comment, and the lines that are searched for its end.
_LONG, _REACH = pattern(r"\s*--\[\[(.*?)\]\]", re.S), 30
_FENCE = pattern(r"\s*(?:```|~~~)\s*$")
_IN_QUOTES = pattern(r"([\"`])([^\"`]+)\1")
#: The class and the message of an error in a comment.
_NAMED_ERROR = pattern(
    r"\b[Rr]aises (?:an? )?(?P<name>(?!(?:Error|Exception)\b)(?:\w+\.)*[A-Z]\w+)"
    r"(?::(?P<message>.*)|\.?$| (?:because|since|as)\b)"
)
#: The line of an input in Python in which an error was raised.
_PLACE = pattern(r'^  File "<input \d+>", line (\d+)', re.M)


def with_announced_errors(
    results: Iterable[Result], lines: Mapping[int, str], text: str = ""
) -> list[Result]:
    """Return the results; an error that its page announces is documented.

    A comment above its input or in it does so, the paragraph below its block quotes the message, or
    a long comment below it has a line with the message.
    In Python it may also stand right below the input, and above the last statement of a cell.
    lines: those of the page's code, by their numbers. text: all of the page.
    """
    every = text.split("\n")

    def judged(result: Result) -> Result:
        example = result.example
        is_open = result.verdict is Verdict.ERROR and not (example.expected or example.value)
        is_told = is_open and any(_tells(text, result.got) for text in _around(result, lines))
        below, last = every[example.last :], result.got.rstrip().rpartition("\n")[2]
        is_told |= is_open and _quotes(below, bare_message(result.got))
        is_told |= is_open and _shows(below, bare_message(last))
        return replace(result, verdict=Verdict.LAYOUT, note=ANNOUNCED) if is_told else result

    return list(map(judged, results))


def _quotes(below: Sequence[str], message: str) -> bool:
    """Tell whether the paragraph below the block that ends here quotes an error's message."""
    if not below or not _FENCE.match(below[0]):
        return False
    paragraph = dropwhile(str.isspace, (f"{line}\n" for line in below[1:]))
    words = " ".join(" ".join(takewhile(lambda line: not line.isspace(), paragraph)).split())
    quoted = {text for _, text in _IN_QUOTES.findall(words)}
    return "error" in words and " ".join(message.split()) in quoted


def _shows(below: Sequence[str], message: str) -> bool:
    """Tell whether the long comment that begins these lines has an error's message in one."""
    long = _LONG.match("\n".join(below[:_REACH]))
    return bool(long and any(line.endswith(f": {message}") for line in long[1].split("\n")))


def _around(result: Result, lines: Mapping[int, str]) -> Iterator[str]:
    """Yield the comments that may announce the error of an example."""
    example, first, below = result.example, result.example.line, result.example.last + 1
    mark = _COMMENT[example.language]
    if example.language == PYTHON and example.kind is not Kind.PROMPT:
        place, body = _PLACE.search(result.got), python_syntax.statements(example.source)
        if not place or not body or body[-1].lineno > int(place[1]):
            return  # what stands below has not run
        first += body[-1].lineno - 1
    above = takewhile(mark.match, (lines.get(first - n, "") for n in range(1, _MOST + 1)))
    inside = _INSIDE.findall(example.source) if example.language == LUA else ()
    comments = [[*list(above)[::-1], *inside]]
    if example.language == PYTHON:
        next_ones = (lines.get(below + n, "") for n in range(_MOST))
        comments += [[python_syntax.comment(example.source)], [*takewhile(mark.match, next_ones)]]
    for texts in comments:
        yield ". ".join(text.lstrip(" \t-#>") for text in texts)


def _tells(comment: str, error: str) -> bool:
    """Tell whether a comment announces an error: its class and its message, if it names them."""
    named = _NAMED_ERROR.search(comment)
    if not named:
        return announces_error(comment) and not rules_out(comment, error)
    last = error.rstrip().rpartition("\n")[2]
    is_class = last.partition(":")[0].endswith(named["name"].rpartition(".")[2])
    return is_class and (not named["message"] or says(last, named["message"].strip()))
