"""Times torch in Python, this project's and another Python's, row by row in turn.

    scripts/bench torch [PYTHON]

PYTHON is an interpreter with PyTorch; without it, this project's times alone are printed. Small
rows are timed by the processor's clock, large ones, which use several threads, by the wall's.
"""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

from torch_rows import LARGE, SETUP, SMALL

ROUNDS = 5
_TOP = Path(__file__).resolve().parents[2]
# Reads a clock's name and an expression on each line, and answers the seconds of one evaluation.
_WORKER = """
import sys, time, timeit, warnings
warnings.simplefilter("ignore")
scope = {}
exec(sys.argv[1], scope)
for line in sys.stdin:
    clock, text = line.rstrip("\\n").split("\\t")
    timer = timeit.Timer(text, globals=scope, timer=getattr(time, clock))
    try:
        timer.timeit(1)
        count = max(1, int(0.02 / max(timer.timeit(3) / 3, 1e-7)))
        print(min(timer.repeat(3, count)) / count, flush=True)
    except Exception as error:
        print("nan", type(error).__name__, error, file=sys.stderr)
        print("nan", flush=True)
"""


class Worker:
    """A process that times expressions."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            [*command, "-c", _WORKER, SETUP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def time(self, clock: str, text: str) -> float:
        """Seconds of one evaluation; nan where it is an error."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(f"{clock}\t{text}", file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline() or "nan")


def main() -> None:
    """Print a table of all rows, and the geometric means of the ratios."""
    workers = [Worker([str(_TOP / "scripts" / "th"), "--python"])]
    if len(sys.argv) > 1:
        workers.append(Worker([sys.argv[1]]))
    for title, rows, clock in (("small", SMALL, "process_time"), ("large", LARGE, "perf_counter")):
        ratios = []
        for name, text in rows:
            best = [math.inf] * len(workers)
            for _ in range(ROUNDS):
                best = [min(t, w.time(clock, text)) for t, w in zip(best, workers, strict=True)]
            shown = "".join(f"{1e6 * t:12.2f} µs" for t in best)
            if len(best) > 1:
                ratios.append(best[0] / best[1])
                shown += f"{ratios[-1]:8.2f}"
            print(f"{title} {name:22}{shown}", flush=True)
        known = [math.log(r) for r in ratios if r > 0 and not math.isnan(r)]
        if known:
            print(
                f"{title} geometric mean of {len(known)}: {math.exp(sum(known) / len(known)):.2f}"
            )


if __name__ == "__main__":
    main()
