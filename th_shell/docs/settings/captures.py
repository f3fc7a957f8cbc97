"""Captures: parts of what an example prints that later examples have in their inputs and outputs.

A page shows a part of an output that is another one each time as a name in angle brackets, and a
directive says that this name is captured:

    <!-- th-docs: capture file -->
    > name = os.tmpname() print(name)
    <file>
    > io.open("<file>", "w") ~= nil
    true

In each run, the name stands for what the run has printed in its place.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

_PLACE = re.compile(r"<([A-Za-z_]\w*)>")


def shown_captures(text: str) -> list[str]:
    """The names in angle brackets in a text, in order."""
    return _PLACE.findall(text)


class Captures:
    """What one run of a page has captured."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def paste(self, source: str) -> str:
        """An input with the captured texts in the places of their names."""
        return _PLACE.sub(lambda match: self._values.get(match[1], match[0]), source)

    def named(self, names: Container[str], expected: str, *texts: str) -> list[str]:
        """Printed texts with names in place of captured texts, where the page shows these names.

        names: those that this example captures, unless they are known: from the first of the texts
        that is like the documented one.
        """
        shown = list(dict.fromkeys(shown_captures(expected)))
        new = [name for name in shown if name in names and name not in self._values]
        for text in texts if new else ():
            match = re.fullmatch(self._pattern(expected, new), text.strip(), re.S)
            if match:
                self._values |= match.groupdict()
                break
        return [self._with_names(shown, text) for text in texts]

    def _with_names(self, names: Sequence[str], text: str) -> str:
        for name in names:
            if value := self._values.get(name):
                text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", f"<{name}>", text)
        return text

    def _pattern(self, expected: str, new: Sequence[str]) -> str:
        """A regular expression for an output, with a group for each new name.

        A name stands for what is before the first place where the text behind it stands: that is
        found in a look ahead, which is not tried again.
        """
        first, *parts = re.split(rf"<({'|'.join(new)})>", self.paste(expected).strip())
        pattern, seen = _spaced(first), set[str]()
        for at in range(0, len(parts), 2):
            name, behind = parts[at], _spaced(parts[at + 1])
            end = "" if parts[at + 2 :] else r"\Z"
            if name not in seen:
                pattern += rf"(?=(?P<{name}>\S.*?){behind}{end})"
            pattern += rf"(?P={name}){behind}"
            seen.add(name)
        return pattern


def _spaced(text: str) -> str:
    """A regular expression for a text whose white space may be any."""
    return r"(?<!\s)\s+".join(re.escape(word) for word in re.split(r"\s+", text))
