"""The fuzzers by name: how each does one batch, and its share of a campaign's time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.fuzz import harness
from tests.fuzz.harness import Tally

__all__ = ["FUZZERS", "Fuzzer"]


@dataclass(frozen=True)
class Fuzzer:
    """batch: runs one batch, by the campaign's seed, its number, and the seconds left."""

    batch: Callable[[str, int, Tally, float], None]
    weight: float = 1.0


def _programs(name: str, count: int, seed: str, batch: int, tally: Tally, seconds: float) -> None:
    harness.programs(name, seed, batch * count, count, tally, max(seconds, 5))


FUZZERS: dict[str, Fuzzer] = {
    "files": Fuzzer(partial(_programs, "files", 3000), 4),
    "calls": Fuzzer(partial(_programs, "calls", 3000), 6),
    "nans": Fuzzer(partial(_programs, "nans", 1000), 2),
    "collections": Fuzzer(partial(_programs, "collections", 1000), 3),
}
