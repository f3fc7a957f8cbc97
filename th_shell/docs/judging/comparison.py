"""Compares what an example has printed with the text that its page documents.

These differences do not count: white space, colours, 'of size' and 'of dimension', the dots in the
heading of a slice '(1,.,.) =', addresses, the times that a prompt shows, and comments in the page.
A line '...' in the page stands for any text. Numbers are compared by value, to the precision that
the page shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = [
    "agrees",
    "agrees_by_layout",
    "agrees_in_any_order",
    "is_error_message",
    "same",
]

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?nan|[-+]?inf"
_IS_NUMBER = re.compile(rf"(?:{_NUMBER})\Z")
_ANYTHING = "\0"
_SHAPE = re.compile(r"\[(torch\.\w+) of (?:size|dimension) ([\dx]+)\]")
_SHAPE_TOKEN = re.compile(r"<(torch\.\w+)\|([\dx]+)>")
_PUNCTUATION = r"{}()\[\],:=*"
_TOKEN = re.compile(
    rf"{_ANYTHING}|<torch\.\w+\|[\dx]+>|(?:{_NUMBER})(?![\w.])"
    rf"|[{_PUNCTUATION}]|[^\s{_PUNCTUATION}]+"
)
_HEADING = re.compile(r"^\s*\((\d+(?:,\d+)*)[,.]+\)\s*=\s*$", re.M)
_SCALE = re.compile(r"^\s*\S+\s\*\s*$", re.M)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_OVERWRITTEN = re.compile(r"^.*\r(?!$)", re.M)
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
_COMMENT = re.compile(r"(?:^|\s)--.*$", re.M)
_TIMING = re.compile(r"^\s*\[\d+\.\d+s\]\s*$", re.M)
_TABLE = re.compile(r"^\s*\{\s*$", re.M)
_ELLIPSIS = re.compile(r"^\s*(?:\.\.\.|…)\s*$", re.M)
_TRACEBACK = re.compile(r"^\s*stack traceback:.*", re.M | re.S)
_POSITION = re.compile(r"(?:\[string \"[^\n]*?\"\]|[\w./-]+):\d+:\s")


def same(first: str, second: str) -> bool:
    """Whether two runs have printed the same text, addresses aside."""
    return _ADDRESS.sub("0x", first) == _ADDRESS.sub("0x", second)


def agrees(expected: str, got: str) -> bool:
    """Whether a printed text is the one that the page documents."""
    found = _tokens(got)
    return any(_match(_tokens(text), found) for text in _readings(expected))


def agrees_by_layout(expected: str, first: str, second: str) -> bool:
    """Whether one of the different texts of two runs has the layout that the page documents.

    The layout is the words, how many numbers there are, and the lines with class and sizes. If the
    runs differ in their layouts, too, it is only the words and the classes in these lines.
    """
    layouts = [_layout(text) for text in (first, second)]
    simplify = _layout if layouts[0] == layouts[1] else _loose_layout
    return any(
        simplify(text) == simplify(got) for text in _readings(expected) for got in (first, second)
    )


def agrees_in_any_order(expected: str, got: str) -> bool:
    """Whether a printed text that shows a table has the documented lines in any order.

    LuaJIT traverses named fields in a different order in each process.
    """
    if not _TABLE.search(got):
        return False
    return any(_same_lines(text, got) for text in _readings(expected))


def is_error_message(expected: str, message: str) -> bool:
    """Whether the page documents this error; the position in the message does not count."""
    wanted, found = (_POSITION.sub("", _TRACEBACK.sub("", t)) for t in (expected, message))
    return agrees(wanted.removeprefix("lua: ").removeprefix("error: "), found)


def _readings(expected: str) -> Sequence[str]:
    # The text of the page, and the text without comments: '--' may also be part of the output.
    return expected, _COMMENT.sub("", expected)


def _same_lines(expected: str, got: str) -> bool:
    wanted, left = (
        [_tokens(line) for line in t.split("\n") if line.strip()] for t in (expected, got)
    )
    for line in wanted:
        found = next((i for i, other in enumerate(left) if _match(line, other)), None)
        if found is None:
            return False
        del left[found]
    return not left


def _tokens(text: str) -> list[str]:
    text = _OVERWRITTEN.sub("", _COLOUR.sub("", text))
    text = _SHAPE.sub(r"<\1|\2>", _TIMING.sub("", text))
    text = _HEADING.sub(r"(\1) =", _ADDRESS.sub("0x", text))
    return _TOKEN.findall(_ELLIPSIS.sub(_ANYTHING, text))


def _match(expected: list[str], got: list[str]) -> bool:
    if _ANYTHING in expected:
        at = expected.index(_ANYTHING)
        rest = expected[at + 1 :]
        return _match(expected[:at], got[:at]) and any(
            _match(rest, got[i:]) for i in range(at, len(got) + 1)
        )
    return len(expected) == len(got) and all(map(_equal, expected, got))


def _equal(expected: str, got: str) -> bool:
    if expected == got:
        return True
    if not (_IS_NUMBER.match(expected) and _IS_NUMBER.match(got)):
        return False
    wanted, found = float(expected), float(got)
    if wanted != wanted or found != found:
        return wanted != wanted and found != found
    return wanted == found or abs(wanted - found) <= _precision(expected)


def _precision(number: str) -> float:
    # One unit in the last place that is shown; a number without a fraction is exact.
    digits, _, exponent = number.lower().partition("e")
    _, point, fraction = digits.partition(".")
    return 1.01 * 10.0 ** (int(exponent or 0) - len(fraction)) if point and fraction else 0.0


def _layout(text: str) -> tuple[list[str], int]:
    tokens = _tokens(_SCALE.sub("", text))
    words = [token for token in tokens if not _IS_NUMBER.match(token)]
    return words, len(tokens) - len(words)


def _loose_layout(text: str) -> list[str]:
    return [_SHAPE_TOKEN.sub(r"<\1>", word) for word in _layout(text)[0]]
