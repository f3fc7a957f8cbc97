"""Python's text: its inputs, its tokens, and how far a line is indented by the lines above it.

An input is one or several statements, or a command. A text with prompts, `>>>` or `In [1]:`, was
copied from a page or from another prompt: its inputs are what stands behind these, and its outputs
are left out. The text may end anywhere, as one does that is being typed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from textwrap import dedent
from typing import TYPE_CHECKING

from th_shell.lines import usual_lines
from th_shell.python_syntax import statements, syntax
from th_shell.runtime.shell import Token
from th_shell.session.commands import PYTHON_COMMANDS as COMMANDS
from th_shell.session.inputs import ASKED, FENCE
from th_shell.syntax import Syntax
from th_shell.tokens import blanks_of, innermost, margin_at, opening

if TYPE_CHECKING:
    from th_shell.docs.library import Example

_PROMPT = re.compile(r"(?<![ \t])[ \t]*(?:>>>(?: |$)|In ?\[[\d ]*\]:)", re.M)
_CELL = re.compile(r"\s*In ?\[[\d ]*\]:")
_OF_CELL = re.compile(r"\A\s*%%(\w+)\b[ \t]*(\S.*)?\n", re.A)


def is_page(text: str) -> bool:
    """Tell whether a text has the prompts or the fences of a page."""
    if _has_fences(text) and syntax(text) is Syntax.WRONG:
        return True
    if not _PROMPT.search(text):
        return False
    if _CELL.match(text):  # which Python would read as an annotation
        return True
    state = syntax(text)
    return state is Syntax.WRONG or (state is Syntax.INCOMPLETE and bool(_PROMPT.match(text)))


def inputs(text: str) -> list[str]:
    """Return the inputs in a text, of which only the last one may be incomplete."""
    if is_page(text):
        return _of_page(text)
    text = _OF_CELL.sub(r"%\1 \2\n", _without_margin(text).rstrip(), count=1)
    asked = ASKED.match(text)
    if asked:
        return [asked[2] + asked[1]]
    return [] if _is_blank(text) else [text]


def wants_more(text: str) -> bool:
    """Tell whether a text that was typed up to Enter goes on: its last input is not complete.

    A compound statement, such as a loop, ends with an empty line.
    """
    if is_page(text):
        pieces = _of_page(text)
        return bool(pieces) and syntax(pieces[-1]) is Syntax.INCOMPLETE
    if COMMANDS.is_command(text):
        text = _code_of_command(text)
    text = _without_margin(text)
    state = syntax(text)
    if state is not Syntax.COMPLETE or not text.strip():
        return state is Syntax.INCOMPLETE
    ends = not text.rpartition("\n")[2].strip()
    return not ends and _is_compound(statements(text)[-1:])


def _code_of_command(text: str) -> str:
    """Return the code that stands behind the name of a command such as %time."""
    mark = re.match(r"\s*%?(%\w+)[ \t]*", text)
    if mark is None or not COMMANDS.takes_input(mark[1]):
        return ""
    return text[mark.end() :]


def _without_margin(text: str) -> str:
    """Return a text whose first line may stand behind a margin, as it was copied."""
    text = re.sub(r"\A(?:[ \t]*\n)+", "", text)
    return dedent(text) if text[:1].isspace() else text


def _is_compound(last: list[ast.stmt]) -> bool:
    return bool(last) and (hasattr(last[0], "body") or hasattr(last[0], "cases"))


def _is_blank(text: str) -> bool:
    return syntax(text) is Syntax.COMPLETE and not statements(text)


def _has_fences(text: str) -> bool:
    return any(map(FENCE.match, usual_lines(text)))


def _of_page(text: str) -> list[str]:
    return [example.source for example in examples(text) if example.source]


def examples(text: str) -> list[Example]:
    """Return the examples of Python in a page."""
    import th_shell.docs.library as docs  # late: with the first page

    if _has_fences(text):
        page = docs.read_text(text, "the text", "python")
        _, page_examples = docs.cut_with_settings(page, docs.Compiler())
        return [example for example in page_examples if example.language == "python"]
    lines = docs.numbered(usual_lines(text), 1)
    return docs.cut_python(docs.Block(0, len(lines) + 1, "python", lines))


# -- tokens

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


# -- indentation

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


def margin_below(before: str, width: int) -> str | None:
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


def margin_of_closing(before: str) -> str | None:
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
