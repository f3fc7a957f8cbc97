"""Shows how many errors in the ways to compute the comparison of ways finds.

    .venv/bin/python -m tests.ways.mutants [COUNT] [--seed N]

Each error is a change of one constant in one way: a mask, a limit that is one too high, an element
that is left out. The comparison (test_ways.py) then runs on a copy of the project and must fail,
its slow tests if no other does; where a limit is too high, in guard mode.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.mutants import TOP, Mutant, is_found

#: The ways, and the modules that have their constants.
WAYS = {
    "formulas": ("lua/tensor/formulas.lua", "lua/tensor/layouts.lua", "compute/formula_code.py"),
    "small functions": ("ops/*.lua", "ops/linalg/*.lua"),
    "reductions": ("lua/tensor/reductions.lua",),
    "copies": ("lua/tensor/copies.lua",),
    "kernels": ("compute/lua_kernels.lua", "compute/lua_kernels.py", "lua/parallel/sorting.lua"),
    "jobs": ("lua/parallel/jobs.lua", "lua/parallel/thread_pool.lua", "compute/bulk.py"),
    "Python": ("ops/_operands.py", "ops/reduce.py", "ops/order.py", "compute/bulk.py"),
}

#: What is changed: a pattern, and what takes the place of its first group.
CHANGES = (
    (re.compile(r"for \w+ = \w+, [^=\n]*? - (1) do"), lambda _: "2"),  # one element less
    (re.compile(r"\b(0x[0-9a-f]{4,})\b"), lambda text: hex(int(text, 16) >> 1)),  # another mask
    (re.compile(r"> (MAX|ROOM|MAX_SORTED)\b(?= then return)"), lambda text: f"{text} + 1"),
    (re.compile(r"(?:start|at|first|offset)\w* \+ (1)\b"), lambda _: "2"),
    (re.compile(r"\[(1):\]|\b(1) \+ "), lambda _: "2"),
)

#: Functions that compute for no row of the table: th_shell.torch alone calls them.
NO_ROW = ("job('spread'", "job('cumulate'")

_HEAD = re.compile(r"(?:local )?(?:function|job\(|add\(|def |class )")  # where a function begins


def _mutants(patterns: Iterable[str]) -> Iterator[Mutant]:
    for pattern in patterns:
        for path in sorted((TOP / "runtime").glob(pattern)):
            yield from _of_module(path)


def _of_module(path: Path) -> Iterator[Mutant]:
    head = ""
    for number, line in enumerate(path.read_text().splitlines()):
        head = line if _HEAD.match(line) else head
        if head.startswith(NO_ROW):
            continue
        code = re.sub(r"(--|#).*", "", line)
        for pattern, change in CHANGES:
            for match in pattern.finditer(code):
                group = 1 if match[1] else 2
                start, end = match.span(group)
                changed = line[:start] + change(match[group]) + line[end:]
                yield Mutant(path.relative_to(TOP), number, changed)


def _drawn(count: int, seed: int) -> list[Mutant]:
    """So many, as many of each way as there are."""
    draw = random.Random(seed)
    by_way = [list(_mutants(patterns)) for patterns in WAYS.values()]
    for found in by_way:
        draw.shuffle(found)
    turns = (found[k] for k in range(count) for found in by_way if k < len(found))
    return [mutant for mutant, _ in zip(turns, range(count), strict=False)]


def _is_found(mutant: Mutant) -> bool:
    guard = "1" if re.search(r"> \w+ \+ 1 then", mutant.text) else ""
    return any(
        is_found(mutant, ["tests/ways/test_ways.py", "-m", which], TH_GUARD=guard)
        for which in ("not slow", "slow")
    )


def main() -> int:
    """Run the command; returns 1 where less than nine of ten errors are found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("count", nargs="?", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    mutants, found = _drawn(options.count, options.seed), 0
    for mutant in mutants:
        was_found = _is_found(mutant)
        found += was_found
        print("found    " if was_found else "not found", mutant, flush=True)
    print(f"{found} of {len(mutants)} found")
    return int(found < 0.9 * len(mutants))


if __name__ == "__main__":
    sys.exit(main())
