"""Backspaces in output: front ends delete at them, where a terminal only moves its cursor.

Progress bars write a line, move back and write over a part of it. A line with backspaces is
therefore sent whole, as a terminal would show it, behind a carriage return.
"""

from __future__ import annotations

import re

_LONGEST = 10000  # characters; nobody draws a bar in a longer line
_MOVES = re.compile(r"([\r\b])")


class Line:
    """The last line of a stream, which has no end yet."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._text = ""
        self._cursor = 0
        self._is_rewritten = False

    def rewrite(self, text: str) -> str:
        """What a front end is sent for a text that follows in the stream."""
        if "\b" in text or self._is_rewritten:
            *ended, last = text.split("\n")
            return "\n".join([*map(self._end, ended), self._write(last)])
        whole, newline, last = text.rpartition("\n")
        if newline:
            self._end("")
        return whole + newline + self._write(last)

    def _end(self, text: str) -> str:
        sent = self._write(text)
        self._begin()
        return sent

    def _write(self, text: str) -> str:
        if len(self._text) > _LONGEST:
            return text
        for part in _MOVES.split(text):
            if part == "\r":
                self._cursor = 0
            elif part == "\b":
                self._cursor = max(0, self._cursor - 1)
            else:
                end = self._cursor + len(part)
                self._text = self._text[: self._cursor] + part + self._text[end:]
                self._cursor = end
        self._is_rewritten = self._is_rewritten or "\b" in text
        return "\r" + self._text if self._is_rewritten else text
