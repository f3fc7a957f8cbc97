"""The names that are nearly the one that was typed."""

from collections import defaultdict
from collections.abc import Iterable, Set
from os.path import commonprefix


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Return the three names nearest to one that is not there, best first; none where all are
    far.

    Besides the best ones, those a step further that begin with one of them.
    """
    limit = _limit(name)
    distances = [(_distance(name, candidate), candidate) for candidate in names]
    least = min((distance for distance, _ in distances), default=limit + 1)
    if least > limit:
        return []
    best = tuple(candidate for distance, candidate in distances if distance == least)
    further = least + 1 if limit >= 1 else least
    near = [(d, o) for d, o in distances if d == least or (d <= further and o.startswith(best))]
    near.sort(key=lambda item: (item[0], item[1][:1] != name[:1], len(item[1]), item[1]))
    return [candidate for _, candidate in near[:3]]


def slip_of(name: str, names: Iterable[str], is_rare: bool = False) -> str:
    """Return the name of which another is a slip of the fingers, hardly meant otherwise; or ''.

    Two neighbours are swapped, or a letter inside is left out, doubled or another one. Capital
    letters and digits tell variants apart. is_rare: nobody else uses the name, so that short
    names count, too.
    """
    near = (
        candidate
        for candidate in names
        if abs(len(name) - len(candidate)) < 2 and candidate != name
    )
    return min((candidate for candidate in near if _is_slip(name, candidate, is_rare)), default="")


def typo_of(name: str, names: Iterable[str]) -> str:
    """Return the name that is a letter away from one of four letters or more; or ''.

    It is right where the other one certainly is there, and this one nowhere else.
    """
    near = [n for n in names if abs(len(name) - len(n)) < 2 and name.rstrip("s") != n.rstrip("s")]
    is_long = len(name) > 3
    return min((n for n in near if is_long and _is_typo(name, n)), default="")


class NameIndex:
    """Names, which are found by what is left of them without one of their letters."""

    def __init__(self, names: Set[str]) -> None:
        self.names = names
        self._asked = 0
        self._by_rests: dict[str, list[str]] = defaultdict(list)

    def around(self, name: str) -> Set[str]:
        """Return at least the names that are a letter, or two neighbours swapped, away from one."""
        self._asked += 1
        if self._asked < _FEW:
            return self.names
        if not self._by_rests:
            for other in self.names:
                for rest in _rests(other):
                    self._by_rests[rest].append(other)
        return {other for rest in _rests(name) for other in self._by_rests.get(rest, ())}


_FEW = 50  # questions before which it takes longer to make the index


def _rests(name: str) -> set[str]:
    return {name, *(name[:i] + name[i + 1 :] for i in range(len(name)))}


def _is_typo(name: str, second: str) -> bool:
    same = len(commonprefix((name[::-1], second[::-1])))
    start = len(commonprefix((name, second)))
    changed = set(name[start : len(name) - same] + second[start : len(second) - same])
    is_plain = all(letter.islower() or letter == "_" for letter in changed)
    is_other = name.startswith(second) or name.lstrip("_") == second.lstrip("_")
    return is_plain and not is_other and _distance(name, second) == 1


def _is_slip(name: str, second: str, is_rare: bool) -> bool:
    start = len(commonprefix((name, second)))
    end = len(commonprefix((name[start:][::-1], second[start:][::-1])))
    first, last = name[start : len(name) - end], second[start : len(second) - end]
    if len(first) == 2 and first == last[::-1]:
        return len(name) > 2
    is_plain = (first + last).islower() or is_rare
    if not (is_plain and (first + last).isalpha()):
        return False
    if len(first) == len(last):
        return len(first) == 1 and start > 0 and len(name) > (4 if is_rare else 5)
    shorter, longer = sorted((name, second), key=len)
    is_one_of_several = longer.startswith(shorter) and longer[-1:] != shorter[-1:]
    is_inside = len(first + last) == 1 and start > 0 and longer[1:] != shorter
    return is_inside and len(shorter) > (4 if is_rare else 3) and not is_one_of_several


_OTHER_CASE = 0.5


def _limit(name: str) -> float:
    """Return how many steps away the best names may be: a short name is near to nearly all."""
    if len(name) < 3:
        return _OTHER_CASE
    return 1 if len(name) < 6 else 2


def _distance(a: str, b: str) -> float:
    """Count the letters to add, leave out, change, or swap with the next, to get b from a.

    Letters that differ in case only count little.
    """
    if abs(len(a) - len(b)) > 2:
        return 9
    if a.lower() == b.lower():
        return 0 if a == b else _OTHER_CASE
    if len(set(a).symmetric_difference(b)) > 4:  # each step changes two of the letters at most
        return 9
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
