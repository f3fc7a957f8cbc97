"""Python's text: its tokens, and how far a line is indented by the lines above it.

The text may end anywhere, as one does that is being typed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from th_shell.runtime.shell import Token
from th_shell.terminal.indentation import Margins
from th_shell.tokens import blanks_of, innermost, margin_at, opening

_TOKEN = re.compile(
    r"(?P<comment>\#[^\n]*)|(?i:[bruf]{0,2})(?:"
    r"(?P<long>'{3}|\"{3})(?:\\[\s\S]|(?!(?P=long))[^\\])*(?P<long_end>(?P=long))?"
    r"|(?P<short>['\"])(?:\\[\s\S]|(?!(?P=short))[^\\\n])*(?P<short_end>(?P=short))?)"
    r"|(?P<number>\.?\d(?:[eE][+-]|[\w.])*)|(?P<name>[^\W\d]\w*)|(?P<sign>\S)"
)
_STRINGS = {"long": True, "short": True, "long_end": False, "short_end": False}  # are they open?
_PREFIXES = "bBrRuUfF"


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text, comments among them."""
    return [_token(match) for match in _TOKEN.finditer(text)]


def _token(match: re.Match[str]) -> Token:
    kind = match.lastgroup or ""
    if kind in _STRINGS:
        return Token("string", match[0], match.start(), _STRINGS[kind])
    return Token(kind, match[0], match.start())


def quotes_of(string: Token) -> str:
    """Return the quotes of a string, without its prefix."""
    return string.mark.lstrip(_PREFIXES)


_LEAVES = re.compile(r"[ \t]*(?:return|break|continue|pass|raise)\b")
_OPENERS = {
    clause: re.compile(rf"^[ \t]*(?:{words})\b")
    for clause, words in {
        "elif": "if|elif",
        "else": "if|elif|for|async for|while|except",
        "except": "try|except",
        "finally": "try|except|else",
    }.items()
}
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


def _below(before: str, width: int) -> str | None:
    """Return the blanks of a new line behind a text; None within a string."""
    code = [token for token in tokens(before) if token.kind != "comment"]
    if code and code[-1].is_open and len(quotes_of(code[-1])) == 3:
        return None
    opened = innermost(code, OPENING, CLOSING)
    if opened:
        return margin_at(before, opened.start) + " " * width
    line = before[_start_of_line(before, code) :]
    blanks = blanks_of(line)
    if code and code[-1].text == ":":
        return blanks + " " * width
    if _LEAVES.match(line):
        return blanks[: max(len(blanks) - width, 0)]
    return blanks


def _start_of_line(text: str, code: Sequence[Token]) -> int:
    """Return the start of the last line, with the lines that brackets and strings join to it."""
    start = text.rfind("\n") + 1
    for at in range(len(code) - 1, -1, -1):
        if code[at].end <= start:
            break
        partner = opening(code, at) if code[at].text in CLOSING else at
        first = code[at if partner is None else partner].start
        start = min(start, text.rfind("\n", 0, first) + 1)
    return start


def _of_closing(before: str) -> str | None:
    """Return the blanks of a line such as `else:`, which the text ends with: those of its `if`."""
    above, _, line = before.rpartition("\n")
    word = re.match(r"[ \t]*(\w*)", line)
    openers = _OPENERS.get(word[1] if word else "")
    if openers is None:
        return _of_bracket(before)
    least = len(blanks_of(line)) + 1
    for line_above in reversed(above.split("\n")):
        blanks = blanks_of(line_above)
        if not line_above.strip() or len(blanks) > least:
            continue
        if len(blanks) < least and openers.match(line_above):
            return blanks
        least = min(least, len(blanks))
    return None


def _of_bracket(before: str) -> str | None:
    """Return the blanks of the line in which the bracket was opened that the text ends with."""
    all_tokens = tokens(before)
    partner = opening(all_tokens, len(all_tokens) - 1)
    return None if partner is None else margin_at(before, all_tokens[partner].start)


MARGINS = Margins(
    _below, re.compile(r"^[ \t]*(?:(?:else|finally|elif\b.*|except\b.*):|[)\]}])$"), _of_closing
)
