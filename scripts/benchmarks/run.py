"""Prints a table: topic, row, ns a unit of work, and the ratio to plain numpy doing the same.

    scripts/bench [TOPIC ...]
    scripts/bench torch [PYTHON [THREADS]]      (see torch.py)
    scripts/bench calls TORCH7 [ROUNDS]         (see calls.py)
    scripts/bench nn [PYTHON]                   (see nn.py)
    scripts/bench crossings                     (see crossings.py)

A topic is a module beside this one with ROWS; a row says its setup and its work in Lua and in
Python. Setup is not timed; the best of several rounds counts.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from th_shell.runtime.shell import Engine

TOPICS = ("elements", "small", "formulas", "geometry", "large", "text")
_OTHERS = ("torch", "calls", "nn", "crossings")  # which are not compared with numpy
ROUND_SECONDS = 0.05
ROUNDS = 5


@dataclass(frozen=True)
class Row:
    """One benchmark.

    unit: units of work of one repetition. lua: the work; setup: Lua before it. numpy: the
    same work in Python, and python_setup what it needs; both see `np` and the setup's names.
    """

    name: str
    unit: int
    lua: str
    numpy: str
    setup: str = ""
    python_setup: str = ""


def best_time(run: Callable[[int], Any]) -> float:
    """Seconds of one repetition: the best of several rounds."""
    run(1)
    count = 1
    while True:
        start = time.perf_counter()
        run(count)
        taken = time.perf_counter() - start
        if taken > ROUND_SECONDS / 2:
            break
        count = max(count + 1, math.ceil(count * min(50, ROUND_SECONDS / max(taken, 1e-6))))
    best = math.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run(count)
        best = min(best, (time.perf_counter() - start) / count)
    return best


def lua_runner(engine: Engine, row: Row) -> Callable[[int], None]:
    """Runs the row's Lua work a number of times."""
    work = f"{row.setup}\nreturn function(n) for _ = 1, n do {row.lua} end end"
    engine.run(engine.compile(f"bench_work = (function() {work} end)()".encode()))

    def run(count: int) -> None:
        engine.run(engine.compile(f"bench_work({count})".encode()))

    return run


def numpy_runner(row: Row) -> Callable[[int], None]:
    """Runs the row's Python work a number of times."""
    scope: dict[str, Any] = {"np": np, "math": math}
    body = f"def run(n):\n    for _ in range(n):\n        {row.numpy}"
    exec(f"{row.python_setup}\n{body}", scope)
    return scope["run"]  # type: ignore[no-any-return]


def main() -> None:
    if sys.argv[1:2] and sys.argv[1] in _OTHERS:
        importlib.import_module(sys.argv[1]).main(sys.argv[2:])
        return
    engine = Engine()
    print(f"{'topic':10s} {'row':28s} {'ns':>12s} {'of numpy':>9s}")
    for topic in sys.argv[1:] or TOPICS:
        ratios = []
        for row in importlib.import_module(topic).ROWS:
            ours = best_time(lua_runner(engine, row))
            theirs = best_time(numpy_runner(row))
            ratios.append(ours / theirs)
            print(f"{topic:10s} {row.name:28s} {ours * 1e9 / row.unit:12.2f} {ratios[-1]:9.2f}")
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{topic:10s} {'geometric mean':28s} {'':12s} {mean:9.2f}")


if __name__ == "__main__":
    # Topics import this file by name: there must be one of it.
    sys.modules["run"] = sys.modules["__main__"]
    main()
