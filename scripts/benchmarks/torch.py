"""Times torch in Python, this project's and another Python's, row by row in turn.

    scripts/bench torch [PYTHON [THREADS]]

PYTHON is an interpreter with PyTorch; without it, this project's times alone are printed. THREADS
is how many both use; each has its own default. Small rows are timed by the processor's clock, large
ones, which use several threads, by the wall's: the best of many counts. Those are evaluated for a
while before, until it is seen that no other process needs the processors any more.
"""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

from torch_rows import LARGE, SETUP, SMALL

ROUNDS = 5
_TOP = Path(__file__).resolve().parents[2]
# Reads a clock's name, how many evaluations are timed at once at most, and an expression on each
# line, and answers the seconds of one evaluation; nan where it is an error.
_WORKER = """
import sys, time, timeit, warnings
warnings.simplefilter("ignore")
scope = {}
exec(sys.argv[1], scope)
for line in sys.stdin:
    clock, most, text = line.rstrip("\\n").split("\\t")
    timer = timeit.Timer(text, globals=scope, timer=getattr(time, clock))
    try:
        timer.timeit(1)
        begun = time.perf_counter()
        while int(most) == 1 and time.perf_counter() < begun + 0.25:
            timer.timeit(1)
        fit = max(1, int(0.06 / max(timer.timeit(3) / 3, 1e-7)))
        count = min(max(1, fit // 3), int(most))
        print(min(timer.repeat(max(3, fit // count), count)) / count, flush=True)
    except Exception as error:
        print(f"{text}: {type(error).__name__}: {error}", file=sys.stderr)
        print("nan", flush=True)
"""


class Worker:
    """A process that times expressions."""

    def __init__(self, command: list[str], setup: str) -> None:
        self._process = subprocess.Popen(
            [*command, "-c", _WORKER, setup],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def time(self, clock: str, most: int, text: str) -> float:
        """Seconds of one evaluation, of which at most so many are timed at once; nan for errors."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(f"{clock}\t{most}\t{text}", file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline() or "nan")

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _best(workers: list[Worker], clock: str, most: int, text: str) -> list[float]:
    """Each worker's best time, in rounds, so that both meet the same load; nan for errors."""
    times = [[w.time(clock, most, text) for w in workers] for _ in range(ROUNDS)]
    return [min(samples) for samples in zip(*times, strict=True)]


def _show(
    title: str, rows: tuple[tuple[str, str], ...], workers: list[Worker], method: tuple[str, int]
) -> None:
    ratios = []
    for name, text in rows:
        best = _best(workers, *method, text)
        shown = "".join(f"{1e6 * t:12.2f} µs" for t in best)
        if len(best) > 1:
            shown += f"{best[0] / best[1]:8.2f}"
            ratios.append(best[0] / best[1])
        print(f"{title} {name:22}{shown}", flush=True)
    logarithms = [math.log(r) for r in ratios if math.isfinite(r)]
    if logarithms:
        mean = math.exp(sum(logarithms) / len(logarithms))
        print(f"{title} geometric mean of {len(logarithms)} of {len(rows)}: {mean:.2f}")


def main(words: list[str]) -> None:
    """Print a table of all rows, and the geometric means of the ratios."""
    setup = SETUP + (f"torch.set_num_threads({int(words[1])})\n" if len(words) > 1 else "")
    workers = [Worker([str(_TOP / "scripts" / "th"), "--python"], setup)]
    workers += [Worker([python], setup) for python in words[:1]]
    _show("small", SMALL, workers, ("process_time", 1_000_000))
    _show("large", LARGE, workers, ("perf_counter", 1))
    for worker in workers:
        worker.close()


if __name__ == "__main__":
    main(sys.argv[1:])
