"""Indents the lines of an input while it is typed.

A new line stands behind the block or bracket that is open, and what closes it (`end`, `else`, `}`)
goes back to where it was opened. Only blanks that were put there by Enter are changed: a pasted
text stays as it is.
"""

from __future__ import annotations

import re

from prompt_toolkit.buffer import Buffer

from th_shell.tokens import Token, structure

__all__ = ["Indenter", "margin"]

_OPENING = frozenset(["function", "then", "do", "repeat", "else", "{", "(", "["])
_CLOSING = frozenset(["end", "until", "else", "elseif", "}", ")", "]"])
_CLOSED = re.compile(r"[ \t]*(?:(?:end|until|else|elseif)\b|[})\]])$")


def margin(before: str, width: int) -> str:
    """The blanks for a new line behind a text."""
    found = structure(before)
    if found and found[-1].is_open:  # a string or a long comment
        return ""
    opened = _opened(found)
    return _margin_of_line(before, opened) + " " * width if opened else ""


def _margin_of_closing(before: str) -> str | None:
    """The blanks for a line that the text ends with and that closes something."""
    found = structure(before)
    opened = _opened(found[:-1])
    return _margin_of_line(before, opened) if opened else None


def _opened(found: list[Token]) -> Token | None:
    """The innermost block or bracket that is open behind some tokens."""
    opened: list[Token] = []
    for token in found:
        if token.kind not in ("keyword", "sign"):
            continue
        if token.text in _CLOSING and opened:
            opened.pop()
        if token.text in _OPENING:
            opened.append(token)
    return opened[-1] if opened else None


def _margin_of_line(text: str, token: Token) -> str:
    line = text[text.rfind("\n", 0, token.start) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


class Indenter:
    """Indents the lines of a buffer. width: blanks for each level; 0: nothing is indented."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._row = -1  # of the line that was begun by Enter
        self._blanks = ""  # that were put at its beginning

    def watch(self, buffer: Buffer) -> None:
        """Let the lines of a buffer go back when what closes them has been typed."""
        buffer.on_text_insert += self._inserted

    def newline(self, buffer: Buffer, *, typed: bool) -> None:
        """Begin a new line. typed: by a key that was pressed, and not by one in a pasted text."""
        document = buffer.document
        self._row = -1
        if not typed or not self._width:
            buffer.newline(copy_margin=False)
            return
        blanks = margin(document.text_before_cursor, self._width)
        if not document.current_line.strip():
            buffer.delete_before_cursor(len(document.current_line_before_cursor))
        after = document.current_line_after_cursor
        buffer.delete(len(after) - len(after.lstrip(" \t")))
        buffer.newline(copy_margin=False)
        buffer.insert_text(blanks)
        self._row, self._blanks = buffer.document.cursor_position_row, blanks

    def make_room(self, buffer: Buffer) -> None:
        """Take back the blanks of the line, where a text of several lines is to be pasted."""
        line = buffer.document.current_line
        if buffer.document.cursor_position_row == self._row and line == self._blanks:
            buffer.delete_before_cursor(len(buffer.document.current_line_before_cursor))

    def _inserted(self, buffer: Buffer) -> None:
        document = buffer.document
        line = document.current_line_before_cursor
        if document.cursor_position_row != self._row or document.current_line_after_cursor:
            return
        now = line[: len(line) - len(line.lstrip(" \t"))]
        wanted = self._blanks
        if _CLOSED.match(line):
            wanted = _margin_of_closing(document.text_before_cursor) or ""
        elif not re.match(r"[ \t]*\w+$", line):
            return
        if now != wanted and len(wanted) <= len(self._blanks):
            buffer.delete_before_cursor(len(line))
            buffer.insert_text(wanted + line[len(now) :], fire_event=False)
