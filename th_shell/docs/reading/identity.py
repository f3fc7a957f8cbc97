"""Names of examples that stay the same when lines are added to their page above them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from th_shell.docs.reading.examples import Example


@dataclass(frozen=True)
class Identity:
    """What tells an example from the others of its page.

    heading: the heading above. ordinal: the number of the example among those under this heading
    that begin with the same line, from 1. headline: that line; for a text without an input, the
    first line of the text.
    """

    heading: str
    ordinal: int
    headline: str

    def __str__(self) -> str:
        """All three, with slashes between."""
        return f"{self.heading}/{self.ordinal}/{self.headline}"


def identities(examples: Sequence[Example]) -> list[Identity]:
    """The identities of a page's examples, each of which is another one."""
    seen = Counter[tuple[str, str]]()
    found = []
    for example in examples:
        headline = " ".join((example.source or example.expected).split("\n")[0].split())
        heading = " ".join(example.heading.split())
        seen[heading, headline] += 1
        found.append(Identity(heading, seen[heading, headline], headline))
    return found
