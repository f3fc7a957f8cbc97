"""What counts in a printed or documented text: its tokens.

White space, colours, the times that a prompt shows, addresses, and where in code an error or a
warning comes from are no part of them. 'of size' and 'of dimension' are one token with the class
and the sizes, and so is a line '...', which stands for any text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from th_shell.docs.judging.printout import NUMBER

#: In a documented text: stands for any text.
ANYTHING = "\0"

_IS_NUMBER = re.compile(rf"(?:{NUMBER})\Z")
_SHAPE = re.compile(r"\[(torch\.\w+) of (?:size|dimension) ([\dx]+)\]")
_SHAPE_TOKEN = re.compile(r"<(torch\.\w+)\|([\dx]+)>")
_PUNCTUATION = r"{}()\[\],:=*"
_TOKEN = re.compile(
    rf"{ANYTHING}|<torch\.\w+\|[\dx]+>|(?:{NUMBER})(?![\w.])"
    rf"|[{_PUNCTUATION}]|[^\s{_PUNCTUATION}]+"
)
_HEADING = re.compile(r"^\s*\((\d+(?:,\d+)*)[,.]+\)\s*=\s*$", re.M)
_SCALE = re.compile(r"^\s*\S+\s\*\s*$", re.M)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_OVERWRITTEN = re.compile(r"^.*\r(?!$)", re.M)
#: As Lua prints it, on some systems without '0x'.
_ADDRESS = re.compile(
    r"\b0x[0-9a-fA-F]+\b|(?:(?<=table: )|(?<=function: )|(?<=userdata: )|(?<=thread: ))"
    r"[0-9A-Fa-f]{8,16}\b|(?<=[^\W\d]: )0[0-9A-F]{7,15}\b"
)
#: A prompt behind a text without an end of line.
_NEXT_PROMPT = re.compile(r"(?<=\S) (?:th)?>\s*\Z")
_COMMENT = re.compile(r"(?:^|\s)--.*$", re.M)
_TIMING = re.compile(r"^\s*\[\d+\.\d+s\]\s*$", re.M)
_ELLIPSIS = re.compile(r"^\s*(?:\.\.\.|…)\s*$", re.M)
_TRACEBACK = re.compile(r"^\s*stack traceback:.*", re.M | re.S)
#: Python's, up to the error's own line; and IPython's, which begins with the error's name.
_PYTHON_TRACEBACKS = (
    # What stands above that line is indented, or dots for it.
    re.compile(
        r"^[ \t]*Traceback \(most recent call last\):\n(?:[ \t].*\n|(?:\.\.\.|\0)\n)*", re.M
    ),
    re.compile(r"^  File \".*\", line \d+\n(?:[ \t].*\n)*", re.M),
    re.compile(
        r"^(?:-{9,}\n)?(?P<name>[\w.]+) +Traceback \(most recent call last\):?\n.*\n"
        r"(?=(?P=name)\b)",
        re.M | re.S,
    ),
)
_WARNED_AT = re.compile(r"^\S.*?:\d+: (?=\w*Warning: )", re.M)
_PROSE = re.compile(r"\n[ \t]*\n(?:[A-Z][a-z]+)(?: [\w,]+)*:?\s*\Z")
#: As in 'name.lua:1: ', '[string "…"]:1: ', and '[7]:1: ' or 'syntax error: [7]:1: ' at a prompt.
_POSITION = re.compile(
    r"(?:\bsyntax error: )?(?:\[(?:string \"[^\n]*?\"|\d+)\]|(?<![\w./-])[\w./-]+):\d+:\s"
)


def same(first: str, second: str) -> bool:
    """Whether two runs have printed the same text, addresses aside."""
    return _ADDRESS.sub("0x", first) == _ADDRESS.sub("0x", second)


def tokens(text: str) -> list[str]:
    """The tokens of a text, in order."""
    text = located(text).replace(ANYTHING, f" {ANYTHING} ")
    text = _OVERWRITTEN.sub("", _COLOUR.sub("", text))
    text = _SHAPE.sub(r"<\1|\2>", _TIMING.sub("", text))
    text = _HEADING.sub(r"(\1) =", _ADDRESS.sub("0x", text))
    return _TOKEN.findall(_ELLIPSIS.sub(ANYTHING, text))


def is_number(token: str) -> bool:
    """Whether a token is a number."""
    return _IS_NUMBER.match(token) is not None


def located(text: str) -> str:
    """A text without the places in code that Python's errors and warnings tell."""
    if "Traceback" in text or 'File "' in text:
        for traceback in _PYTHON_TRACEBACKS:
            text = traceback.sub("", text)
    return _WARNED_AT.sub("", text) if "Warning: " in text else text


def readings(expected: str) -> Sequence[str]:
    """What a documented text may mean.

    The text of the page; the text without comments: '--' may also be part of the output; and the
    text without words of prose at its end, such as the heading of the next example in a block, or
    without the next prompt.
    """
    plain = _COMMENT.sub("", expected)
    return expected, plain, _PROSE.sub("", plain), _NEXT_PROMPT.sub("", plain)


def numbers(text: str) -> list[float]:
    """The numbers in a printed text, in order."""
    return list(map(float, number_words(text)))


def number_words(text: str) -> list[str]:
    """The numbers in a printed text as they stand there."""
    return [token for token in tokens(_SCALE.sub("", text)) if is_number(token)]


def is_scaled(text: str) -> bool:
    """Whether a printed text has numbers under a scale factor."""
    return bool(_SCALE.search(text))


def layout(text: str) -> tuple[list[str], int]:
    """The words of a text, and how many numbers there are."""
    found = tokens(_SCALE.sub("", text))
    words = [token for token in found if not is_number(token)]
    return words, len(found) - len(words)


def loose_layout(text: str) -> list[str]:
    """The words of a text, without the sizes of its tensors."""
    return [_SHAPE_TOKEN.sub(r"<\1>", word) for word in layout(text)[0]]


def bare_message(error: str) -> str:
    """The message of an error of Lua without its position and traceback."""
    return _POSITION.sub("", _TRACEBACK.sub("", error)).strip()


def without_colours(text: str) -> str:
    """A printed text as a terminal leaves it: no colours, and nothing that was written over."""
    return _OVERWRITTEN.sub("", _COLOUR.sub("", text))
