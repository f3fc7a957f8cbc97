"""Colours of the text report, where a terminal shows it.

The convention of https://no-color.org holds: with NO_COLOR in the environment there are none,
unless the command line asks for them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """Marks parts of a text by colours, or leaves them as they are."""

    coloured: bool = False

    def bad(self, text: str) -> str:
        """What is wrong: the word FAIL, a documented line that was not printed."""
        return self._in(text, "31")

    def good(self, text: str) -> str:
        """What is right: a printed line that is not documented."""
        return self._in(text, "32")

    def strong(self, text: str) -> str:
        """A place."""
        return self._in(text, "1")

    def faint(self, text: str) -> str:
        """What is less important than the text around it."""
        return self._in(text, "2")

    def _in(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.coloured and text else text


PLAIN = Style()


def style_for(when: str, descriptor: int) -> Style:
    """The style of what is written to a file descriptor. when: 'auto', 'always' or 'never'."""
    if when != "auto":
        return Style(when == "always")
    is_dumb = os.environ.get("TERM") == "dumb" or bool(os.environ.get("NO_COLOR"))
    return Style(not is_dumb and os.isatty(descriptor))
