"""Divides pages among machines: each of them finds by itself which pages are its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Shard:
    """One of several parts. number: from 1; count: how many parts there are."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read a text such as '1/4'. Raises ValueError, whose message says what is wrong."""
        number, _, count = text.partition("/")
        if not (number.isdecimal() and count.isdecimal() and int(count)):
            raise ValueError(f"{text!r} is not like 1/4")
        shard = cls(int(number), int(count))
        if not 1 <= shard.number <= shard.count:
            raise ValueError(f"{text!r}: there are parts from 1 to {shard.count}")
        return shard

    def choose(self, sizes: Mapping[str, int]) -> set[str]:
        """The names of this part's pages. sizes: of all pages by their names, in any unit.

        The largest pages come first, each to the part that has the least by then. All parts
        together have each page once, wherever they are computed.
        """
        parts: list[set[str]] = [set() for _ in range(self.count)]
        loads = [0] * self.count
        for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
            least = loads.index(min(loads))
            parts[least].add(name)
            loads[least] += sizes[name] + 1  # a page takes time even where it has nothing
        return parts[self.number - 1]
