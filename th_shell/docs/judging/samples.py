"""Holds a documented text against those that several runs have printed by chance.

The runs differ in their seed, and one in its clock alone. Numbers that the clock changes are times:
what the page shows in their place says nothing, but that it is finite as they are. The others must
be like those that the runs have printed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from th_shell.docs.judging import plausibility
from th_shell.docs.judging.printout import numbers


@dataclass(frozen=True)
class Samples:
    """The texts that runs have printed for one example."""

    #: Printed with different seeds; first that of the page's first run.
    texts: Sequence[str]
    #: Printed by the first run at a later time.
    later: str

    @property
    def differ(self) -> bool:
        """Tell whether the text depends on the seed or on the clock."""
        return len({*self.texts, self.later}) > 1

    def contradiction(self, documented: str) -> str:
        """Return why a run like these cannot have printed a text; '' if it can."""
        why = plausibility.misshapen(documented, self.texts[0])
        if not why and self.later != self.texts[0]:
            why = plausibility.not_finite(numbers(documented), numbers(self.later))
        if why or not self.differ:
            return why
        return plausibility.implausible(*self._untimed(documented))

    def _untimed(self, documented: str) -> tuple[Sequence[float], Sequence[Sequence[float]]]:
        """Return the numbers of a text, and those of each run, without those that are times."""
        shown, rows = numbers(documented), list(map(numbers, self.texts))
        if self.later == self.texts[0]:
            return shown, rows
        later = numbers(self.later)
        if any(len(row) != len(later) for row in (shown, *rows)):
            return [], []
        kept = [i for i, value in enumerate(later) if value == rows[0][i]]
        return [shown[i] for i in kept], [[row[i] for i in kept] for row in rows]
