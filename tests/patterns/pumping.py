"""Makes texts that a regular expression may take long for, and times it on them.

They are made of the parsed pattern: each of its repeated parts is repeated many times, behind what
matches the parts before it, and before what makes the whole fail; and so is each of its beginnings.
"""

import re
import signal
import time
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from tests.data_files import data

try:
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # before Python 3.11
    import sre_parse as parser  # type: ignore[no-redef]

#: How often parts are repeated: first, and where that is not done at once; the most that a bounded
#: repeat may allow.
LITTLE, TIMES, FEW = 5_000, 20_000, 256
#: Seconds within which the first is done at once, the second is never slow, and any is broken off.
AT_ONCE, SOON, MOST = 0.004, 0.04, 5.0
#: How many times longer the second may take than the first, which is a quarter as long.
GROWTH = 11
LETTERS = "\n \ta_A0.-,()[]{}'\"\\/:=<>#*e~x\0é"
ENDS = ("", "\0", "!x")
CATEGORIES = data(__file__, "CATEGORIES")
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


class Late(Exception):
    """A text has taken more than MOST seconds."""


class Pump:
    """The texts for a pattern."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        text = pattern.pattern
        self._tree = parser.parse(text, pattern.flags & ~re.DEBUG)
        own = text if isinstance(text, str) else text.decode("latin-1")
        self._letters = dict.fromkeys(LETTERS + own)
        self._groups: dict[int, str] = {}

    def texts(self) -> dict[str, None]:
        """Texts of one unit each, by three: what stands before, the unit, and what ends it."""
        units = {("", letter) for letter in LETTERS}
        units |= set(self._units(list(self._tree), ""))
        return dict.fromkeys(
            (before, unit, end) for (before, unit), end in product(sorted(units), ENDS) if unit
        )

    def _units(self, nodes: Sequence[Any], before: str) -> Iterator[tuple[str, str]]:
        start = ""
        for node in nodes:
            name, of = str(node[0]), node[1]
            if name in REPEATS:
                _, most, body = of
                if most > FEW:
                    yield from ((before + start, one) for one in self._samples(body))
                for one in [*self._samples(body)][:3]:
                    yield "", start + one
                yield from self._units(list(body), before + start)
            elif name == "SUBPATTERN":
                yield from self._units(list(of[3]), before + start)
            elif name == "BRANCH":
                for one in of[1]:
                    yield from self._units(list(one), before + start)
            elif name in ("ASSERT", "ASSERT_NOT"):
                yield from self._units(list(of[1]), before + start)
            elif name == "ATOMIC_GROUP":
                yield from self._units(list(of), before + start)
            start += self._sample([node])
            yield "", start
            yield before, start

    def _sample(self, nodes: Sequence[Any]) -> str:
        return next(iter(self._samples(nodes)), "")

    def _samples(self, nodes: Sequence[Any]) -> list[str]:
        """Some short texts that nodes match, the first of each way."""
        found = [""]
        for node in nodes:
            own = list(dict.fromkeys(self._of(node)))[:8] or [""]
            found = [a + b for a, b in product(found, own)][:12]
        return found

    def _of(self, node: Any) -> list[str]:
        name, of = str(node[0]), node[1]
        if name in REPEATS:
            few = self._samples(of[2])
            return [one * max(of[0], 1) for one in few] if of[0] else ["", *few[:3]]
        if name == "SUBPATTERN":
            own = self._samples(of[3])
            self._groups[of[0]] = own[0] if own else ""
            return own
        if name == "BRANCH":
            return [text for one in of[1] for text in self._samples(one)[:3]]
        if name == "ATOMIC_GROUP":
            return self._samples(of)
        if name == "GROUPREF":
            return [self._groups.get(of, "")]
        if name == "ASSERT" and of[0] < 0:
            return self._samples(of[1])[:2]
        if name == "LITERAL":
            return [chr(of)]
        if name in ("NOT_LITERAL", "ANY", "IN"):
            return [letter for letter in self._letters if is_in(name, of, letter)]
        return [""]


def is_in(name: str, of: Any, letter: str) -> bool:
    """Whether a node for one letter matches it."""
    if name == "ANY":
        return letter != "\n"
    if name == "NOT_LITERAL":
        return ord(letter) != of
    is_negated, found = False, False
    for kind, value in ((str(kind), value) for kind, value in of):
        is_negated |= kind == "NEGATE"
        found |= kind == "LITERAL" and ord(letter) == value
        found |= kind == "RANGE" and value[0] <= ord(letter) <= value[1]
        if kind == "CATEGORY":
            found |= re.match(CATEGORIES[str(value)], letter) is not None
    return found != is_negated


def seconds(pattern: re.Pattern[Any], walk: str, text: Any) -> float:
    """How long a pattern takes on a text; at most MOST."""
    start = time.thread_time()
    signal.setitimer(signal.ITIMER_REAL, MOST)
    try:
        if walk == "scan":
            at = 0
            while at < len(text):
                found = pattern.match(text, at)
                at = max(found.end(), at + 1) if found else len(text)
        elif walk == "finditer":
            for _ in pattern.finditer(text):
                pass
        else:
            getattr(pattern, walk)(text)
    except Late:
        return MOST
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return time.thread_time() - start


def slow_text(pattern: re.Pattern[Any], walk: str) -> tuple[str, str, str] | None:
    """What a pattern takes longer for than linear growth allows: the parts of a text."""

    def took(parts: tuple[str, str, str], times: int) -> float:
        before, unit, end = parts
        text = before + unit * times + end
        is_text = isinstance(pattern.pattern, str)
        return seconds(pattern, walk, text if is_text else text.encode("latin-1", "replace"))

    for parts in Pump(pattern).texts():
        if took(parts, LITTLE) > AT_ONCE:
            first = min(took(parts, LITTLE) for _ in range(3))
            most = max(GROWTH * first, SOON)
            if first == MOST or all(took(parts, TIMES) > most for _ in range(6)):
                return parts
    return None


def ring(*_: object) -> None:
    raise Late


signal.signal(signal.SIGALRM, ring)
