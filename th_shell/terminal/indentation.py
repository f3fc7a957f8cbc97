"""Indents the lines of an input while it is typed.

A new line stands behind the block or bracket that is open, and what closes it (`end`, `else`, `}`)
goes back to where it was opened. Only blanks that were put there by Enter are changed: a pasted
text stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from prompt_toolkit.buffer import Buffer

from th_shell.tokens import margin, margin_of_closing


@dataclass(frozen=True)
class Margins:
    """The indentation of a language."""

    #: Returns the blanks of a new line behind a text, of so many for each level; None within a
    #: string, whose blanks are the user's.
    below: Callable[[str, int], str | None]
    #: Matches a line that closes what was opened above.
    closed: re.Pattern[str]
    #: Returns the blanks of that line, which the text ends with; None where nothing was opened.
    of_closing: Callable[[str], str | None]


LUA_MARGINS = Margins(
    margin, re.compile(r"[ \t]*(?:(?:end|until|else|elseif)\b|[})\]])$"), margin_of_closing
)


class Indenter:
    """Indents the lines of a buffer. width: blanks for each level; 0: nothing is indented."""

    def __init__(self, width: int, margins: Margins = LUA_MARGINS) -> None:
        self._width = width
        self._margins = margins
        self._row = -1  # of the line that was begun by Enter
        self._blanks = ""  # that were put at its beginning

    def watch(self, buffer: Buffer) -> None:
        """Let the lines of a buffer go back when what closes them has been typed."""
        buffer.on_text_insert += self._inserted

    def newline(self, buffer: Buffer, *, typed: bool) -> None:
        """Begin a new line. typed: by a key that was pressed, and not by one in a pasted text."""
        document = buffer.document
        self._row = -1
        before, is_wanted = document.text_before_cursor, typed and self._width > 0
        blanks = self._margins.below(before, self._width) if is_wanted else None
        if blanks is None:
            buffer.newline(copy_margin=False)
            return
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
        blanks = self._blanks
        if self._margins.closed.match(line):
            blanks = self._margins.of_closing(document.text_before_cursor) or ""
        elif not re.match(r"[ \t]*\w+$", line):
            return
        if now != blanks and len(blanks) <= len(self._blanks):
            buffer.delete_before_cursor(len(line))
            buffer.insert_text(blanks + line[len(now) :], fire_event=False)
