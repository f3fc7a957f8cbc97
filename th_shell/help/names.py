"""The names that people ask about, and those that are nearly the one that was typed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runtime import Engine
from th_shell.paragraphs import MOST_NAMES

_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*$", re.ASCII)


def name_in(text: str) -> str:
    """What is asked about: the text without the arguments of a call."""
    return re.sub(r"\s*\(.*\)\s*;?$", "", text.strip().rstrip("? "), flags=re.DOTALL)


def is_path(name: str) -> bool:
    """Whether a text is a name, which may have a path before it: 'torch.sum', 'x:t'."""
    return _PATH.match(name) is not None


def parts_of(name: str) -> tuple[str, str, str]:
    """The path before a name, '.' or ':', and the name."""
    last = re.split("[.:]", name)[-1]
    before = name.removesuffix(last)
    return before[:-1], before[-1:], last


# -- names that are nearly the one that was typed


def few_names(path: str, engine: Engine) -> list[str]:
    """The names that may follow a path; none where they are too many to be compared one by one."""
    listed = engine.members([f".{name}" for name in path.split(".") if name], limit=MOST_NAMES)
    return [] if listed.more else [member.name for member in listed.found]


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The three names nearest to one that is not there, best first; none where all are far from it.

    Besides the best ones, those a step further that begin with one of them.
    """
    limit = _limit(name)
    if not limit:
        return []
    found = [(_distance(name, other), other) for other in names]
    least = min((distance for distance, _ in found), default=limit + 1)
    if least > limit:
        return []
    best = tuple(other for distance, other in found if distance == least)
    kept = [(d, o) for d, o in found if d == least or (d <= least + 1 and o.startswith(best))]
    kept.sort(key=lambda item: (item[0], item[1][:1] != name[:1], len(item[1]), item[1]))
    return [other for _, other in kept[:3]]


def _limit(name: str) -> int:
    """How many steps away the best names may be: of a short name nearly all others are near."""
    if len(name) < 3:
        return 0
    return 1 if len(name) < 6 else 2


def _distance(a: str, b: str) -> float:
    """How many letters are added, left out, changed, or swapped with the next, to get b from a.

    Letters that differ in case only count little.
    """
    if abs(len(a) - len(b)) > 2:
        return 9
    if a.lower() == b.lower():
        return 0.5 * (a != b)
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
