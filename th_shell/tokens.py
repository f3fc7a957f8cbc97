"""Lua's text: what is open behind it, and how far a further line is indented.

The text may end anywhere, as text does that is being typed.
"""

from collections.abc import Iterable, Sequence

from th_shell.patterns import pattern
from th_shell.runtime.shell import Token, structure

_BRACKETS = {**dict.fromkeys("([{", 1), **dict.fromkeys(")]}", -1)}


def without_texts(source: str) -> str:
    """Return a source with blanks in place of comments and of what is in quotes."""
    parts, before = [], 0
    for token in structure(source):
        if token.kind in ("comment", "string"):
            quote = token.text[0] if token.text[0] in "\"'" else " "
            parts += [source[before : token.start], quote, " " * (len(token.text) - 2), quote]
            before = token.end
    return "".join([*parts, source[before:]])


# -- brackets


def opening(code: Sequence[Token], at: int) -> int | None:
    """Return the index of the bracket that the one at an index closes; None where there is none."""
    return _partner(code, range(at, -1, -1))


def closing(code: Sequence[Token], at: int) -> int | None:
    """Return the index of the bracket that closes the one at an index; None where there is none."""
    return _partner(code, range(at, len(code)))


def _partner(code: Sequence[Token], order: Iterable[int]) -> int | None:
    """Return the index, in some order, at which the brackets that were open before are closed."""
    depth = 0
    for at in order:
        depth += _BRACKETS.get(code[at].text, 0)
        if not depth:
            return at
    return None


# -- what is open behind lines

_STEPS = {
    **dict.fromkeys(("function", "do", "if", "repeat"), 1),
    **dict.fromkeys(("end", "until"), -1),
    **_BRACKETS,
}
#: The ends of lines that go on in the next one.
_GOES_ON = pattern(r"(?:[-+*/%^#<>=~,]|(?<!\.)\.\.?|(?<!:):|\b(?:and|or|not|then))\s*$")


def open_mark(text: str) -> tuple[list[Token], str]:
    """Return the structure of a line, and the mark of the text or comment open behind it, or ''.

    The line begins with that of the line before, if any.
    """
    parts = structure(f"{text}\n")
    return parts, parts[-1].mark if parts and parts[-1].is_open else ""


class Nesting:
    """The brackets, blocks and texts that are open behind the lines that were added.

    To count brackets and keywords takes less time than to compile the text again with each line,
    and tells as surely that a text is not complete yet.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._mark = ""  # of the string or comment that is open
        self._waits = False

    def add(self, line: str) -> None:
        """Read a further line."""
        text = self._mark + line
        parts, self._mark = open_mark(text)
        self._depth += sum(_STEPS.get(token.text, 0) for token in parts)
        if parts and parts[-1].kind == "comment" and parts[-1].end >= len(text.rstrip()):
            text = text[: parts[-1].start]
        if text.strip() and not self._mark:
            self._waits = _GOES_ON.search(text) is not None

    @property
    def is_open(self) -> bool:
        """Tell whether a bracket, a block, a long comment or a string is open."""
        return self._depth > 0 or self._mark != ""

    @property
    def goes_on(self) -> bool:
        """Tell whether anything is open, or the last line ends with an operator."""
        return self.is_open or self._waits


# -- how far a line is indented, by the blocks and brackets that are open before it

_OPENING = frozenset(["function", "then", "do", "repeat", "else", *"([{"])
_CLOSING = frozenset(["end", "until", "else", "elseif", *")]}"])


def margin(before: str, width: int) -> str | None:
    """Return the blanks for a new line behind a text; None within a string or a long comment."""
    parts = structure(before)
    if parts and parts[-1].is_open:
        return None
    opened = innermost(parts, _OPENING, _CLOSING)
    return margin_at(before, opened.start) + " " * width if opened else ""


def margin_of_closing(before: str) -> str | None:
    """Return the blanks for a line that the text ends with and that closes something."""
    opened = innermost(structure(before)[:-1], _OPENING, _CLOSING)
    return margin_at(before, opened.start) if opened else None


def innermost(
    all_tokens: Iterable[Token], opening: frozenset[str], closing: frozenset[str]
) -> Token | None:
    """Return the innermost block or bracket that is open behind some tokens."""
    opened: list[Token] = []
    for token in all_tokens:
        if token.text in closing and opened:
            opened.pop()
        if token.text in opening:
            opened.append(token)
    return opened[-1] if opened else None


def margin_at(text: str, at: int) -> str:
    """Return the blanks that the line begins with in which a position is."""
    return blanks_of(text[text.rfind("\n", 0, at) + 1 :])


def blanks_of(line: str) -> str:
    """Return the blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]
