"""Checks documented random numbers against the numbers that several runs have printed.

Properties that the numbers of every run have must hold for the documented ones: that they are
whole, that they are in order, that they are always the same ones in another order, and roughly
their range. Numbers that are the same in all runs, beside others that depend on chance, must be the
documented ones.

Outputs of a page may also repeat one another in all but a few numbers, since authors often show the
numbers of one run in several places. Numbers with fractions do not agree by chance: where most of
them do, the others must agree, too, unless the program changes them in between.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite

from th_shell.docs.judging.printout import contradictions, precision

#: Fewer numbers may agree, or be in order, by chance.
_LEAST = 4
#: How far beyond the range of printed numbers a documented one may lie, in widths of that range, by
#: the least count of printed numbers.
_MOST_BEYOND = ((20, 0.6), (6, 3.0))
#: If runs have printed each of their values at least so often, no other value is possible.
_OFTEN = 8
#: The runs that a number must have been printed in before its deviation counts, and the standard
#: deviations that are too many: with 6 runs, a right number is refused once in a million.
_RUNS, _MOST_DEVIATIONS = 6, 30


def implausible(documented: Sequence[float], runs: Sequence[Sequence[float]]) -> str:
    """Return why a run like the others cannot have printed some numbers; '' if it can.

    runs: the numbers that runs have printed.
    """
    everything = [value for run in runs for value in run]
    if not documented or not everything or not all(map(isfinite, everything)):
        return ""
    if why := not_finite(documented, everything):
        return why
    whole = _are_whole(everything)
    if whole and not _are_whole(documented):
        return "all runs have printed whole numbers"
    alike = all(len(run) == len(documented) for run in runs)
    why = _other_order(documented, runs)
    if alike and not why:
        why = _other_numbers(documented, runs) or (whole and _far_off(documented, runs)) or ""
    return why or _out_of_range(documented, everything)


def not_finite(documented: Sequence[float], printed: Sequence[float]) -> str:
    """Return that nan or inf is documented, and is not printed; '' where that is not so."""
    is_wrong = all(map(isfinite, printed)) and not all(map(isfinite, documented))
    return "no run has printed nan or inf" if is_wrong else ""


def misshapen(documented: str, printed: str) -> str:
    """Return how a tensor in a text contradicts the line with its sizes; '' if none does.

    printed: the text that the program prints, whose tensors may do so as well.
    """
    return next((tensor.problem for tensor in contradictions(documented, printed)), "")


def unlike_fixed(
    words: Sequence[str], adopted: Sequence[Sequence[float]], runs: Sequence[Sequence[float]]
) -> str:
    """Return which documented number differs from one that all runs agree on; or ''.

    words: the documented numbers. adopted: the numbers of runs that have the documented values of
    examples above in place of their own, in the last all changed within their rounding. runs: the
    numbers of other runs.
    """
    *exact, varied = adopted
    if any(len(numbers) != len(words) for numbers in (*adopted, *runs)):
        return ""
    columns = list(zip(*exact, *runs, strict=True))
    by_chance = {v for column in columns if column[0] != column[1] for v in column}
    for word, column, changed in zip(words, columns, varied, strict=True):
        value = column[0]
        is_fixed = len(set(column[: len(exact)])) == 1 and value not in by_chance
        if _are_whole([value]):  # it may be the same in a few runs by chance
            is_fixed = is_fixed and len(set(column)) == 1 and float(word) not in by_chance
        slack = 1.01 * precision(word) + 4 * abs(changed - value)
        if is_fixed and isfinite(value) and not abs(float(word) - value) <= slack:
            return f"all runs have printed {value:g}, not {word}"
    return ""


def _other_order(documented: Sequence[float], runs: Sequence[Sequence[float]]) -> str:
    """Return which order the numbers of all runs have, and the documented ones have not; or ''."""
    if min(map(len, runs)) < _LEAST:
        return ""
    for reverse, order in ((False, "ascending"), (True, "descending")):
        is_sorted = all(list(run) == sorted(run, reverse=reverse) for run in runs)
        if is_sorted and list(documented) != sorted(documented, reverse=reverse):
            return f"all runs have printed {order} numbers"
    return ""


def _other_numbers(documented: Sequence[float], runs: Sequence[Sequence[float]]) -> str:
    """Return why documented numbers are none of the values that runs print; or ''."""
    first = sorted(runs[0])
    if len(first) > 1 and all(sorted(run) == first for run in runs) and sorted(documented) != first:
        return "all runs have printed the same numbers in some order"
    counts = Counter(value for run in runs for value in run)
    if len(counts) > 1 and min(counts.values()) >= _OFTEN:
        for value in documented:
            if value not in counts:
                shown = ", ".join(f"{number:g}" for number in sorted(counts))
                return f"{value:g} is none of what runs have printed: {shown}"
    return ""


def _far_off(documented: Sequence[float], runs: Sequence[Sequence[float]]) -> str:
    """Return which documented whole number is far from those that runs print there; or ''."""
    from statistics import fmean, stdev  # late: few pages need it

    for value, *samples in zip(documented, *runs, strict=True):
        # New memory may hold numbers so large that their squares are infinite.
        if len(samples) < _RUNS or not all(isfinite(8 * sample * sample) for sample in samples):
            continue
        deviation = stdev(samples)
        if deviation and abs(value - fmean(samples)) > _MOST_DEVIATIONS * deviation:
            low, high = min(samples), max(samples)
            return f"{value:g} is far from what runs have printed there: {low:g} to {high:g}"
    return ""


def _out_of_range(documented: Sequence[float], everything: Sequence[float]) -> str:
    """Return which documented number is far outside the range of all printed ones; or ''."""
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


def _are_whole(values: Sequence[float]) -> bool:
    """Tell whether all finite numbers are whole."""
    return all(value == int(value) for value in values if isfinite(value))


def nearly_repeats(documented: Sequence[float], earlier: Sequence[float]) -> bool:
    """Tell whether numbers repeat earlier ones in part.

    At least half of the numbers with fractions agree, and not all of them do.
    """
    pairs = [(a, b) for a, b in zip(documented, earlier, strict=False) if a % 1 or b % 1]
    same = sum(a == b for a, b in pairs)
    return (
        len(documented) == len(earlier)
        and same < len(pairs)
        and same >= max(_LEAST, len(pairs) / 2)
    )


def _differ_alike(
    documented: Sequence[float],
    earlier: Sequence[float],
    printed: Sequence[float],
    printed_earlier: Sequence[float],
) -> bool:
    """Tell whether documented numbers differ from earlier ones only where printed ones do."""
    quads = zip(documented, earlier, printed, printed_earlier, strict=False)
    is_alike = all(a == b or c != d for a, b, c, d in quads)
    return is_alike and nearly_repeats(printed, printed_earlier)


def differences(documented: Sequence[float], earlier: Sequence[float]) -> str:
    """Return a text that lists where numbers differ from those that they nearly repeat."""
    pairs = [(a, b) for a, b in zip(documented, earlier, strict=True) if a != b]
    shown = ", ".join(f"{a:g} for {b:g}" for a, b in pairs[:3])
    return shown + (f" and {len(pairs) - 3} more" if len(pairs) > 3 else "")


def unlike_above(
    outputs: Mapping[int, Sequence[float]], printed: Mapping[int, Sequence[float]]
) -> dict[int, int]:
    """Return, by index, the index of the output above that an output nearly repeats.

    Left out are outputs that repeat one above exactly, and those that are like it where what was
    `printed` is, and unlike it in nothing else.
    """
    repeated: dict[int, int] = {}
    above: list[int] = []
    for index, numbers in outputs.items():
        if not any(list(outputs[earlier]) == list(numbers) for earlier in above):
            near = [earlier for earlier in above if nearly_repeats(numbers, outputs[earlier])]
            if near and not _differ_alike(
                *(texts[at] for texts in (outputs, printed) for at in (index, near[-1]))
            ):
                repeated[index] = near[-1]
        above.append(index)
    return repeated
