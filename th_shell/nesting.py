"""``Nesting``: whether Lua text that is read line by line has something open.

It counts brackets and keywords, and knows comments and strings. That takes less time than to
compile the text again with each line, and tells as surely that a text is not complete yet.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"--\[(?P<comment>=*)\[|--.*|\[(?P<string>=*)\[|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
    r"|(?P<quote>[\"'])(?:\\.|(?!(?P=quote))[^\\])*\\$"
    r"|(?P<opening>[({\[]|\b(?:function|do|if|repeat)\b)|(?P<closing>[)}\]]|\b(?:end|until)\b)|\w+"
)
#: What a line ends with that goes on in the next one.
_GOES_ON = re.compile(r"(?:[-+*/%^#<>=~,]|(?<!\.)\.\.?|(?<!:):|\b(?:and|or|not|then))\s*$")


class Nesting:
    """What is open behind the lines that were added."""

    def __init__(self) -> None:
        self._depth = 0
        self._level: str | None = None  # the '=' signs of a long bracket that is open
        self._quote = ""  # the quote of a string that goes on in the next line
        self._waits = False

    def add(self, line: str) -> None:
        """Read a further line."""
        at = self._string_end(line) if self._quote else 0
        code = at
        while at < len(line):
            if self._level is not None:
                end = line.find(f"]{self._level}]", at)
                if end < 0:
                    return
                at, self._level = end + 2 + len(self._level), None
                code = at
                continue
            token = _TOKEN.search(line, at)
            if not token:
                break
            at = token.end()
            level = token["comment"] if token["comment"] is not None else token["string"]
            if level is not None:
                self._level = level
            elif token["quote"]:
                self._quote = token["quote"]
            elif token["opening"]:
                self._depth += 1
            elif token["closing"]:
                self._depth -= 1
            elif token[0].startswith("--"):
                line = line[: token.start()]
        if line[code:].strip():
            self._waits = _GOES_ON.search(line) is not None

    def _string_end(self, line: str) -> int:
        """Where a string of a former line ends in a line; the line's length where it goes on."""
        end = re.match(rf"(?:\\.|[^{self._quote}\\])*{self._quote}", line)
        if end or not line.endswith("\\"):
            self._quote = ""
        return end.end() if end else len(line)

    @property
    def is_open(self) -> bool:
        """Whether a bracket, a block, a long comment or a string is open."""
        return self._depth > 0 or self._level is not None or self._quote != ""

    @property
    def goes_on(self) -> bool:
        """Whether anything is open, or the last line ends with an operator."""
        return self.is_open or self._waits
