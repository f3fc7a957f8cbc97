"""Finds outputs of a page that repeat one another but for some of their numbers.

Who writes a page often shows the numbers of one run in several places. Numbers with fractions do
not agree by chance: where most of them do, the others must agree, too, unless the program changes
them in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_LEAST = 4  # numbers that must agree


def nearly_repeats(documented: Sequence[float], others: Sequence[float]) -> bool:
    """Whether numbers are the others but for some: at least half of those with fractions agree."""
    pairs = [pair for pair in zip(documented, others, strict=False) if not _are_whole(*pair)]
    same = sum(a == b for a, b in pairs)
    return (
        len(documented) == len(others) and same < len(pairs) and same >= max(_LEAST, len(pairs) / 2)
    )


def differences(documented: Sequence[float], others: Sequence[float]) -> str:
    """What tells numbers from those that they nearly repeat."""
    pairs = [(a, b) for a, b in zip(documented, others, strict=True) if a != b]
    shown = ", ".join(f"{a:g} for {b:g}" for a, b in pairs[:3])
    return shown + (f" and {len(pairs) - 3} more" if len(pairs) > 3 else "")


def unlike_above(outputs: Mapping[int, Sequence[float]]) -> dict[int, int]:
    """For outputs that nearly repeat one above, by their indices, the index of that one.

    An output that another one above repeats exactly is left out.
    """
    found: dict[int, int] = {}
    above: list[int] = []
    for index, own in outputs.items():
        if not any(list(outputs[other]) == list(own) for other in above):
            near = [other for other in above if nearly_repeats(own, outputs[other])]
            if near:
                found[index] = near[-1]
        above.append(index)
    return found


def _are_whole(*values: float) -> bool:
    return all(value == value // 1 for value in values)
