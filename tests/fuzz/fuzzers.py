"""The fuzzers by name: how each does one batch, and its share of a campaign's time."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.fuzz import harness
from tests.fuzz.harness import Tally


@dataclass(frozen=True)
class Fuzzer:
    """batch: runs one batch, by the campaign's seed, its number, the seconds left, the guard mode.

    guarded: whether it may run in guard mode, which takes time and memory.
    """

    batch: Callable[[str, int, Tally, float, str], None]
    weight: float = 1.0
    guarded: bool = True


def _programs(
    name: str, count: int, seed: str, batch: int, tally: Tally, seconds: float, guard: str
) -> None:
    harness.programs(name, seed, batch * count, count, tally, max(seconds, 5), guard)


def _worker(
    name: str, most: float, seed: str, batch: int, tally: Tally, seconds: float, guard: str
) -> None:
    harness.worker(name, seed, batch, tally, min(most, max(seconds, 1)), guard)


FUZZERS: dict[str, Fuzzer] = {
    "files": Fuzzer(partial(_programs, "files", 1000), 4),
    "calls": Fuzzer(partial(_programs, "calls", 1000), 6),
    "nans": Fuzzer(partial(_programs, "nans", 1000), 2),
    "collections": Fuzzer(partial(_programs, "collections", 1000), 3),
    "sizes": Fuzzer(partial(_programs, "sizes", 200), 4),
    "interrupts": Fuzzer(partial(_worker, "interrupts", 10), 1),
    "forks": Fuzzer(partial(_worker, "forks", 10), 1),
    "kills": Fuzzer(partial(_worker, "kills", 5), 0.5, False),
    "answers": Fuzzer(partial(_worker, "answers", 15), 1, False),
    "pytorch": Fuzzer(partial(_worker, "pytorch", 20), 2),
    "memory": Fuzzer(partial(_worker, "memory", 10), 1, False),
}
