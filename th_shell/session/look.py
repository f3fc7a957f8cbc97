"""How a session marks the examples of a page: signs and colours."""

from __future__ import annotations

from typing import NamedTuple


class Look(NamedTuple):
    """The marks behind an example.

    good, bad, faint: the formats, each with one {}, of what is so marked.
    """

    held: str
    layout: str
    differs: str
    good: str = "{}"
    bad: str = "{}"
    faint: str = "{}"

    def coloured(self) -> Look:
        """This look in colours, those of the terminal."""
        green, red, grey = (f"\x1b[{code}m{{}}\x1b[0m" for code in (32, 31, 90))
        return self._replace(good=green, bad=red, faint=grey)


UNICODE = Look("✓", "≈ layout", "✗")
ASCII = Look("ok", "~ layout", "x")
