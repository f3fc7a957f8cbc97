"""``Nesting``: whether Lua text that is read line by line has something open.

It counts brackets and keywords, and knows comments and strings. That takes less time than to
compile the text again with each line, and tells as surely that a text is not complete yet.
"""

from __future__ import annotations

import re

__all__ = ["Nesting"]

_TOKEN = re.compile(
    r"--\[(?P<comment>=*)\[|--.*|\[(?P<string>=*)\[|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
    r"|(?P<opening>[({\[]|\b(?:function|do|if|repeat)\b)|(?P<closing>[)}\]]|\b(?:end|until)\b)|\w+"
)


class Nesting:
    """What is open behind the lines that were added."""

    def __init__(self) -> None:
        self._depth = 0
        self._level: str | None = None  # the '=' signs of a long bracket that is open

    def add(self, line: str) -> None:
        """Read a further line."""
        at = 0
        while at < len(line):
            if self._level is not None:
                end = line.find(f"]{self._level}]", at)
                if end < 0:
                    return
                at, self._level = end + 2 + len(self._level), None
                continue
            token = _TOKEN.search(line, at)
            if not token:
                return
            at = token.end()
            level = token["comment"] if token["comment"] is not None else token["string"]
            if level is not None:
                self._level = level
            elif token["opening"]:
                self._depth += 1
            elif token["closing"]:
                self._depth -= 1

    @property
    def is_open(self) -> bool:
        """Whether a bracket, a block, a long string or a long comment is open."""
        return self._depth > 0 or self._level is not None
