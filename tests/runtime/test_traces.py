"""Hot Lua compiles: element access leaves LuaJIT on the user's loop.

A trace of link type 'loop' that starts at the user's line is that loop, compiled whole.
"""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_th

OBSERVE = data(__file__, "OBSERVE")

MIXED = data(__file__, "MIXED")

LOOPS = data(__file__, "LOOPS")


def traces(script: Path, before: str, hot: str) -> list[tuple[str, str]]:
    """Where the traces of some hot code start, and their link types, in order."""
    watched = f"jit.attach(observe, 'trace')\n{hot}\njit.attach(observe)\n"
    script.write_text(f"{OBSERVE}\n{before}\n{watched}")
    run = run_th(script)
    assert run.stderr == ""
    return [(line.rsplit(" ", 1)[0], line.rsplit(" ", 1)[1]) for line in run.stdout.splitlines()]


def own_links(script: Path, before: str, hot: str) -> list[str]:
    """The link types of the traces that start in the script's own lines."""
    found = traces(script, before, hot)
    return [link for place, link in found if place.startswith(script.name)]


@pytest.mark.sample(2)
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_loop_is_one_trace(tmp_path: Path, loop: str) -> None:
    assert own_links(tmp_path / "script.lua", "", loop) == ["loop"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "loop", [LOOPS[name] for name in ("read x[i]", "write x[i]", "read a storage", "queries")]
)
def test_loop_compiles_after_mixed_use(tmp_path: Path, loop: str) -> None:
    # LuaJIT's penalties are random: the loop may also end in a trace that exists already.
    found = own_links(tmp_path / "script.lua", MIXED, loop)
    assert found
    assert set(found) <= {"loop", "root"}


@pytest.mark.thorough
@pytest.mark.parametrize("before", ["", MIXED], ids=["alone", "after mixed use"])
@pytest.mark.parametrize(
    "call",
    data(__file__, "test_apply_is_one_trace"),
    ids=["apply", "map", "map2", "apply to columns", "apply to bytes"],
)
def test_apply_is_one_trace(tmp_path: Path, call: str, before: str) -> None:
    found = traces(tmp_path / "script.lua", before, call)
    assert "loop" in [link for place, link in found if "loops.lua" in place]


def test_rows_compile_although_they_make_userdata(tmp_path: Path) -> None:
    loop = "for i = 1, 100 do for j = 1, 100 do sum = sum + m[i][j] end end"
    assert "loop" in own_links(tmp_path / "script.lua", "", loop)


#: Starts of a program after which LuaJIT has compiled its loop, if it ever does.
_STARTS = 60


def links_by_chance(script: Path, before: str, calls: str) -> set[str]:
    """The link types of the traces of a loop of calls, of which there are some.

    Traces that make userdata go on behind it; those with a loop inside end where it begins. Where
    LuaJIT begins to compile is a matter of chance: now and then it gives the program's loop up, of
    the loop of variances in three of five starts.
    """
    loop = f"for _ = 1, 3000 do {calls} end"
    found = next(filter(None, (own_links(script, before, loop) for _ in range(_STARTS))), [])
    assert found
    return set(found)


# Calls that end in functions for few elements.
SMALL = data(__file__, "SMALL")


@pytest.mark.sample(1)
@pytest.mark.parametrize("calls", SMALL.values(), ids=SMALL)
@pytest.mark.unguarded("new tensors are made by more functions")
def test_loops_of_small_calls_compile(tmp_path: Path, calls: str) -> None:
    assert links_by_chance(tmp_path / "script.lua", calls, calls) <= {"loop", "root", "stitch"}


# Calls of formulas; those of strided tensors, and along a dimension, have loops over rows inside.
FORMULAS = data(__file__, "FORMULAS")


@pytest.mark.sample(1)
@pytest.mark.parametrize("calls", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.unguarded("new tensors are made by more functions")
def test_loops_of_formulas_compile(tmp_path: Path, calls: str) -> None:
    before = f"""
some, column = m:narrow(1, 1, 9):narrow(2, 2, 8):t(), torch.ones(200, 3):select(2, 2)
local view, total, row, rows = torch.Tensor(), torch.Tensor(), torch.ones(1, 5), torch.ones(4, 5)
{calls}"""
    assert links_by_chance(tmp_path / "script.lua", before, calls) <= {"loop", "root", "stitch"}


JOBS = data(__file__, "JOBS")


@pytest.mark.thorough
@pytest.mark.parametrize("call", JOBS.values(), ids=JOBS)
def test_loops_of_jobs_compile(tmp_path: Path, call: str) -> None:
    before = """
torch.setnumthreads(1)
m = torch.rand(400, 400)
local at, index = torch.randperm(400):long(), torch.LongTensor(400, 400):random(1, 400)
local weights = torch.rand(9, 9)
"""
    found = traces(tmp_path / "jobs.lua", before, f"for _ = 1, 20 do {call} end")
    assert any(at.startswith("[th] parallel/jobs.lua:") and link == "loop" for at, link in found)
