"""Reads the source of an input without compiling it: its names, locals, and last expression.

At a prompt, locals outlive the input that declares them (`session_locals.lua`), and statements
may end with an expression, whose values are printed: `x = 5; x`. Both need what the compiler does
not tell. Reading takes time in proportion to the length of the source. Of code that does not
compile, what is found means nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from th_shell.runtime.core.lua_text import Token, tokens

#: Characters at the end of an input that do not belong to it.
EMPTY = b"; \t\r\n"
#: The name of the function that takes locals over.
KEEP = b"__session_locals__"
_UPVALUES = 50
#: An input that declares locals, mentions results, or ends with an expression behind statements
#: has one of these.
MUST_BE_READ = (b"local", b"_", b";", b"\n", b"end")

_BLOCKS = ("do", "if", "repeat")
_OPENING = frozenset((*_BLOCKS, "function", "(", "[", "{"))
_VALUES = frozenset(("nil", "true", "false", "..."))
#: Tokens of statements that no expression has outside of functions.
_STATEMENT = frozenset("local if for while repeat do return goto break = ;".split())
_CLOSING = {")": "prefix", "]": "prefix", "}": "value", "until": ""}


class Exit(NamedTuple):
    """A place where the whole chunk may end. locals: the names of those that there are."""

    offset: int
    locals: tuple[bytes, ...]


class Reading(NamedTuple):
    """The names, locals and last expression of an input.

    names: the variables that it mentions, and other names, such as keys of tables. locals: those
    that it declares outside of functions and blocks, in order. exits: the places before `return`
    and `goto`, and the end. last: the place where an expression behind the statements begins, if
    there can be one: behind `;` or `end`, or on a line of its own, since in `x = a b` something has
    been left out.
    """

    names: frozenset[bytes]
    locals: tuple[bytes, ...]
    exits: tuple[Exit, ...]
    last: Exit | None


def read(source: bytes) -> Reading:
    """Read the source of an input."""
    return _Reader(source).read()


def keeping_locals(source: bytes, exits: Sequence[Exit]) -> bytes:
    """Return the source with calls of `KEEP`, which takes over the locals, at its exits.

    It gets functions whose upvalues are the locals; a function has 60 of these at most.
    """
    parts, before = [], 0
    for offset, names in exits:
        groups = [names[i : i + _UPVALUES] for i in range(0, len(names), _UPVALUES)]
        takers = b",".join(b"function()return %s end" % b",".join(group) for group in groups)
        # A comment without an end of line may stand before the end of the source.
        start = b"\n" if offset == len(source) else b" "
        parts += [source[before:offset], b"%s%s(%s) " % (start, KEEP, takers) if takers else b""]
        before = offset
    return b"".join([*parts, source[before:]])


def forms(text: bytes, reading: Reading | None) -> tuple[bytes | None, ...]:
    """Return the texts to compile for an input, as engine/session_locals.lua takes them.

    `return f(x)` would be a tail call, whose frame is missing in tracebacks: so two values. The
    newline ends a comment that the text may end with.
    """
    expression = b"return nil, " + text.rstrip(EMPTY) + b"\n"
    if reading is None:
        return expression, text, text, None, None
    keeping = keeping_locals(text, reading.exits)
    if reading.last is None:
        return expression, text, keeping, None, None
    last = reading.last
    before = text[: last.offset]
    behind = b"return nil, " + text[last.offset :].rstrip(EMPTY) + b"\n"
    exits = [*(token for token in reading.exits if token.offset < last.offset), last]
    trailing = before + behind
    return expression, text, keeping, trailing, keeping_locals(trailing, exits)


class _Opened(NamedTuple):
    """An open block. kind: its first token; 'definition' where a statement defines a function."""

    kind: str
    is_argument: bool


class _Reader:
    """Goes through the tokens, and notes what is open and what the last token has ended.

    _last_ended, where nothing is open: 'statement'; 'value', which only an operator continues;
    'prefix', behind which arguments or an index may stand; or '' for none of these. _declares:
    whether names are declared: 'local', 'for' or ''. _labels: where the labels begin that the
    source ends with.
    """

    def __init__(self, source: bytes) -> None:
        self._source = source.decode("latin-1")  # a character for each byte
        self._tokens = [token for token in tokens(self._source) if token.kind != "comment"]
        self._last_end = 0  # where the last token ends
        self._opened: list[_Opened] = []
        self._last_ended = "statement"
        self._declares = ""
        self._in_label = False
        self._labels: int | None = None
        self._names: set[bytes] = set()
        self._locals: list[bytes] = []
        self._block_locals: set[bytes] = set()  # of blocks
        self._exits: list[Exit] = []
        self._returns = False
        self._last: tuple[int, int] | None = None  # the offset, and how many locals there are

    def read(self) -> Reading:
        """Read the source to its end."""
        for at, token in enumerate(self._tokens):
            after = self._tokens[at + 1] if at + 1 < len(self._tokens) else None
            self._add(token, after)
        if not self._returns:
            end = len(self._source) if self._labels is None else self._labels
            self._exits.append(self._exit(end))
        last = None
        if self._last and self._last[0] > self._tokens[0].start:
            offset, count = self._last
            last = Exit(offset, tuple(dict.fromkeys(self._locals[:count])))
        return Reading(frozenset(self._names), tuple(self._locals), tuple(self._exits), last)

    def _exit(self, offset: int) -> Exit:
        names = dict.fromkeys(self._locals)
        inner = self._block_locals if self._opened else ()
        return Exit(offset, tuple(name for name in names if name not in inner))

    def _add(self, token: Token, after: Token | None) -> None:
        text = token.text
        is_name = token.kind == "name"
        if text == "::" or self._in_label:
            self._label(token)
            return
        if text != ";":
            self._labels = None
        is_definition = text == "function" and after is not None and after.kind == "name"
        if not self._opened:
            self._note_last(token, is_name, is_definition)
        if is_name:
            self._name(text.encode("latin-1"), after)
        elif is_definition and after is not None and self._declares:
            self._local_function(after)
        elif text in ("local", "for"):
            self._declares = text
        elif text in ("return", "goto"):
            self._leave(token)
        self._nest(token, is_definition)
        self._end(token, is_name)
        self._last_end = token.end

    def _label(self, token: Token) -> None:
        if token.text == "::":
            self._in_label = not self._in_label
            if self._labels is None:
                self._labels = token.start
            self._last_ended = "statement"

    def _note_last(self, token: Token, is_name: bool, is_definition: bool) -> None:
        """See whether an expression begins at a token that may stand behind statements."""
        text = token.text
        if text in _STATEMENT or is_definition:
            self._last = None
            return
        is_argument = text in ("(", "{") or token.kind == "string"
        is_operand = (
            is_name
            or is_argument
            or token.kind == "number"
            or text in _VALUES
            or text in ("function", "not", "#")
        )
        is_new = self._last_ended == "value" or self._last_ended == "prefix" and not is_argument
        is_on_new_line = "\n" in self._source[self._last_end : token.start]
        if self._last_ended == "statement" or is_operand and is_new and is_on_new_line:
            self._last = (token.start, len(self._locals))

    def _name(self, name: bytes, after: Token | None) -> None:
        self._names.add(name)
        if self._declares:
            if self._declares == "for" or self._opened:
                self._block_locals.add(name)
            else:
                self._locals.append(name)
            if after is None or after.text != ",":
                self._declares = ""

    def _leave(self, token: Token) -> None:
        # A jump may lead to a label at the end of the source.
        if all(block.kind in _BLOCKS for block in self._opened):
            self._exits.append(self._exit(token.start))
            is_end = token.text == "return" and not self._opened
            self._returns = self._returns or is_end

    def _local_function(self, after: Token) -> None:
        (self._block_locals.add if self._opened else self._locals.append)(
            after.text.encode("latin-1")
        )
        self._declares = ""

    def _nest(self, token: Token, is_definition: bool) -> None:
        text = token.text
        if text in _OPENING:
            kind = "definition" if is_definition else text
            self._opened.append(_Opened(kind, self._last_ended == "prefix"))

    def _end(self, token: Token, is_name: bool) -> None:
        text = token.text
        if text in _CLOSING or text == "end":
            self._last_ended = self._closed(text)
        elif is_name:
            self._last_ended = "prefix"
        elif token.kind == "string":
            self._last_ended = "prefix" if self._last_ended == "prefix" else "value"
        elif token.kind == "number" or text in _VALUES:
            self._last_ended = "value"
        else:
            self._last_ended = "statement" if text in (";", "break") else ""

    def _closed(self, text: str) -> str:
        opened = self._opened.pop() if self._opened else _Opened("", False)
        if text == "end":
            return "value" if opened.kind == "function" else "statement"
        return "prefix" if text == "}" and opened.is_argument else _CLOSING[text]
