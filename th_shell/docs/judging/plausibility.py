"""Judges documented numbers that depend on chance by what other runs have printed.

What holds for the numbers of each run must hold for the documented ones: that they are whole, that
they are in order, that they are always the same ones in another order, and roughly their range.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

__all__ = ["implausible"]

#: How far beyond the range of so many numbers, at least, others may be: in widths of the range.
_MOST_BEYOND = ((20, 0.6), (6, 3.0))


def implausible(documented: Sequence[float], runs: Sequence[Sequence[float]]) -> str:
    """Why numbers cannot have been printed by a run like the others; '' where they can.

    runs: the numbers that runs have printed, as many in each.
    """
    everything = [value for run in runs for value in run]
    if not documented or any(len(run) != len(documented) for run in runs):
        return ""
    if all(map(isfinite, everything)) and not all(map(isfinite, documented)):
        return "no run has printed nan or inf"
    if not all(map(isfinite, everything)):
        return ""
    whole = all(value == int(value) for value in everything)
    if whole and any(value != int(value) for value in documented):
        return "all runs have printed whole numbers"
    first = sorted(runs[0])
    if len(first) > 1 and all(sorted(run) == first for run in runs) and sorted(documented) != first:
        return "all runs have printed the same numbers in some order"
    for reverse, order in ((False, "ascending"), (True, "descending")):
        is_sorted = [list(run) == sorted(run, reverse=reverse) for run in runs]
        if (
            len(first) > 3
            and all(is_sorted)
            and list(documented) != sorted(documented, reverse=reverse)
        ):
            return f"all runs have printed {order} numbers"
    return _out_of_range(documented, everything)


def _out_of_range(documented: Sequence[float], everything: Sequence[float]) -> str:
    low, high = min(everything), max(everything)
    widths = next((widths for count, widths in _MOST_BEYOND if len(everything) >= count), None)
    if widths is None or low == high:
        return ""
    lowest, highest = low - widths * (high - low), high + widths * (high - low)
    if widths < 1:  # the ends of uniform numbers, and of what many functions return, are sharp
        lowest = 0.0 if 0 <= low < 0.25 * high else lowest
        highest = 1.0 if 0.75 < high <= 1 and low >= -1 else highest
    for value in documented:
        if not lowest <= value <= highest:
            return f"{value:g} is far from what runs have printed: {low:g} to {high:g}"
    return ""
