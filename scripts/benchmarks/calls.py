"""Times calls on few elements against the real Torch7, both in turn.

    scripts/bench calls TORCH7 [ROUNDS]

TORCH7 is a command that runs a Lua file in Torch7. Printed are microseconds of the processor, the
best of the rounds, and the ratio; then the geometric mean of the ratios. The calls are in
`calls.lua`.
"""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

__all__ = ["main"]

_HERE = Path(__file__).resolve().parent
_TH = _HERE.parent / "th"
_ROUNDS = 3
_LEAST = 0.001  # microseconds: what the program prints has three digits behind the point

Times = dict[tuple[str, str, str], float]  # name, element type and number of elements


def main(arguments: list[str]) -> None:
    """Print the table."""
    torch7, *more = arguments
    here: Times = {}
    there: Times = {}
    for _ in range(int(more[0]) if more else _ROUNDS):
        _keep_best(here, str(_TH))
        _keep_best(there, torch7)
    for call in here:
        ratio = here[call] / there[call]
        name, kind, count = call
        print(f"{name:20}{kind:8}{count:>5}{here[call]:9.2f}{there[call]:9.2f}{ratio:7.2f}")
    logarithms = [math.log(here[call] / there[call]) for call in here]
    print(f"geometric mean {math.exp(sum(logarithms) / len(logarithms)):.2f}")


def _keep_best(times: Times, command: str) -> None:
    run = subprocess.run(
        [command, str(_HERE / "calls.lua")], stdout=subprocess.PIPE, text=True, check=True
    )
    for line in run.stdout.splitlines():
        name, kind, count, microseconds = line.split("\t")
        call = name, kind, count
        times[call] = min(max(float(microseconds), _LEAST), times.get(call, math.inf))
