"""The names that are nearly the one that was typed."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The three names nearest to one that is not there, best first; none where all are far from it.

    Besides the best ones, those a step further that begin with one of them.
    """
    limit = _limit(name)
    found = [(_distance(name, other), other) for other in names]
    least = min((distance for distance, _ in found), default=limit + 1)
    if least > limit:
        return []
    best = tuple(other for distance, other in found if distance == least)
    further = least + 1 if limit >= 1 else least
    kept = [(d, o) for d, o in found if d == least or (d <= further and o.startswith(best))]
    kept.sort(key=lambda item: (item[0], item[1][:1] != name[:1], len(item[1]), item[1]))
    return [other for _, other in kept[:3]]


def slip_of(name: str, names: Iterable[str]) -> str:
    """The name that another one is by a slip of the fingers, hardly meant otherwise; or ''.

    Two neighbours are swapped, or a letter inside is left out, doubled or another one.
    """
    others = nearest(name, (other for other in names if other != name))
    return next((other for other in others if _is_slip(name, other)), "")


def _is_slip(name: str, other: str) -> bool:
    if _distance(name, other) != 1 or len(name) < 3 or len(other) < 3:
        return False
    marks = [[c for c in sorted(one) if not c.islower()] for one in (name, other)]
    if marks[0] != marks[1]:  # capital letters and digits tell variants apart
        return False
    if sorted(name) == sorted(other):
        return True
    if name[0] != other[0] or len(name) == len(other):
        return name[0] == other[0] and len(name) > 5
    shorter, longer = sorted((name, other), key=len)
    if len(shorter) < 4:
        return False
    is_longer = longer.startswith(shorter) and longer[-1] != shorter[-1]  # as one of several
    return not is_longer and longer[1:] != shorter


_OTHER_CASE = 0.5


def _limit(name: str) -> float:
    """How many steps away the best names may be: of a short name nearly all others are near."""
    if len(name) < 3:
        return _OTHER_CASE
    return 1 if len(name) < 6 else 2


def _distance(a: str, b: str) -> float:
    """How many letters are added, left out, changed, or swapped with the next, to get b from a.

    Letters that differ in case only count little.
    """
    if abs(len(a) - len(b)) > 2:
        return 9
    if a.lower() == b.lower():
        return _OTHER_CASE * (a != b)
    before: list[float] = []
    row: list[float] = [float(i) for i in range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        earlier, before, row = before, row, [float(i)]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]
