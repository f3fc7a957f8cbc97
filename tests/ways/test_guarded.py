"""All ways in guard mode: one that reads or writes beyond its memory ends the process.

Half of the calls run where memory ends behind its pieces, the others where it ends before them.
"""

import os
from itertools import cycle
from pathlib import Path

import pytest

from tests.limits import Limits
from tests.processes import run_python
from tests.runtime.thnn.test_recorded import FAMILIES, HERE
from tests.ways.calls import calls
from tests.ways.test_ways import FEW, HARNESS, lua_call, sizes
from th_shell.runtime.shell import Engine

TOP = Path(__file__).parents[2]
LARGE = 16  # of so many calls, one has a size at a limit, too


def run(half: int) -> None:
    """Call half of all in each way; prints where ways differ."""
    shell, limit = Engine(), Limits("compute", "ops")
    engine = shell.values
    engine["set_limits"] = lambda size: limit.set(size or None)
    engine.run(HARNESS)
    few, large = cycle(FEW), cycle(sizes())
    for at, call in enumerate(calls()[half::2]):
        engine.run(lua_call(call, at, next(few)))
        if at % LARGE == 0:
            engine.run(lua_call(call, at, next(large) + at // LARGE % 3 - 1))
    engine.run("io.write = function() end")
    for family in FAMILIES[half::2]:
        shell.set_arguments(b"run_cases.lua", [f"{HERE}/cases/{family}.lua".encode(), b"3", b"2"])
        shell.call(shell.compile_file(f"{HERE}/run_cases.lua"))
    shell.flush()


@pytest.mark.thorough
@pytest.mark.parametrize(("mode", "half"), [("1", 0), ("front", 1)])
def test_no_way_leaves_its_memory(mode: str, half: int) -> None:
    code = f"from tests.ways.test_guarded import run; run({half})"
    environment = {**os.environ, "TH_GUARD": mode}
    done = run_python("-c", code, cwd=TOP, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
