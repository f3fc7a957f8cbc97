"""Times calls on few elements against the real Torch7, both in turn.

    scripts/bench calls TORCH7 [ROUNDS]

TORCH7 is a command that runs a Lua file in Torch7. Printed are microseconds of the processor, and
the ratio; then the geometric mean of the ratios. The calls are in `calls.lua`.

First all rows are timed once, by loops of some milliseconds. Those that do not take clearly less
time here than there are timed anew, and only that counts: the best of the rounds, by loops that are
long enough for the collector to free what they make.
"""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_TH = _HERE.parent / "th"
_ROUNDS = 5
_SHORT, _LONG = "0.004", "0.012"  # seconds of a loop
_CLOSE = 1.0  # the ratio from which on rows are timed anew
_LEAST = 0.001  # microseconds: what the program prints has three digits behind the point

Call = tuple[str, str, str]  # name, element type and number of elements
Times = dict[Call, float]


def main(arguments: list[str]) -> None:
    """Print the table."""
    torch7, *more = arguments
    here, there = _time(str(_TH), _SHORT), _time(torch7, _SHORT)
    close = [call for call in here if here[call] > _CLOSE * there[call]]
    best_here: Times = {}
    best_there: Times = {}
    if close:
        for _ in range(int(more[0]) if more else _ROUNDS):
            _keep_best(best_here, _time(str(_TH), _LONG, close))
            _keep_best(best_there, _time(torch7, _LONG, close))
    here.update(best_here)
    there.update(best_there)
    for call in here:
        ratio = here[call] / there[call]
        name, kind, count = call
        print(f"{name:20}{kind:8}{count:>5}{here[call]:9.2f}{there[call]:9.2f}{ratio:7.2f}")
    logarithms = [math.log(here[call] / there[call]) for call in here]
    print(f"geometric mean {math.exp(sum(logarithms) / len(logarithms)):.2f}")


def _time(command: str, seconds: str, calls: list[Call] | None = None) -> Times:
    """Run the calls, or all of them."""
    rows = [] if calls is None else ["\n".join("\t".join(call) for call in calls)]
    run = subprocess.run(
        [command, str(_HERE / "calls.lua"), seconds, *rows],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    times: Times = {}
    for line in run.stdout.splitlines():
        name, kind, count, microseconds = line.split("\t")
        times[name, kind, count] = max(float(microseconds), _LEAST)
    return times


def _keep_best(best: Times, times: Times) -> None:
    for call, microseconds in times.items():
        best[call] = min(microseconds, best.get(call, math.inf))
