"""What threads compute together is what one computes alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from runtime import Interrupted, LuaError, processors, team
from runtime.c_functions import inner_loop
from runtime.memory import METER
from tests.conftest import Lua

TOP = Path(__file__).parent.parent.parent

# Enough elements to share out, with a rest.
PRELUDE = """
torch.manualSeed(3)
local n = 100003
local x, y, r = torch.randn(n), torch.randn(n), torch.Tensor(n)
local a, b, c = torch.randn(401, 317), torch.randn(317), torch.randn(401)
local k = torch.randn(3, 5, 7)
"""

# Everything that is shared out: an expression that gives a tensor or several.
SHARED = {
    "sum": "x + y",
    "in place": "x:add(2)",
    "number first": "torch.csub(r, x, 2)",
    "product": "torch.cmul(r, x, y)",
    "quotient": "torch.cdiv(r, x, y)",
    "square": "torch.pow(r, x, 2)",
    "aliased": "torch.cmul(y, x, y)",
    "unary": "x:exp()",
    "several steps": "x:sigmoid()",
    "comparison": "x:lt(y)",
    "floats": "x:float():add(y:float())",
    "whole numbers": "x:mul(100):int():add(y:mul(100):int())",
    "multiples": "x:add(0.3, y)",
    "negative multiples": "x:csub(0.3, y)",
    "multiples of floats": "x:float():add(0.3, y:float())",
    "copy": "r:copy(x)",
    "clone": "x:clone()",
    "transposed copy": "a:t():clone()",
    "rows": "a:index(1, torch.randperm(401):long())",
    "gather columns": "a:gather(2, torch.LongTensor(401, 300):random(1, 317))",
    "gather rows": "a:gather(1, torch.LongTensor(401, 317):random(1, 401))",
    "gather bytes": "a:byte():gather(1, torch.LongTensor(401, 317):random(1, 401))",
    "matrix and vector": "torch.mv(a, b)",
    "transposed matrix and vector": "torch.mv(a:t(), c)",
    "matrix and vector of floats": "torch.mv(a:float(), b:float())",
    "matrix and strided vector": "torch.mv(a, torch.randn(317, 2):select(2, 1))",
    "into a strided vector": "torch.mv(torch.zeros(401, 2):select(2, 1), a, b)",
    "convolution": "torch.conv2(a, torch.randn(5, 7))",
    "full convolution": "torch.conv2(a, torch.randn(5, 7), 'F')",
    "convolution of floats": "torch.xcorr2(a:float(), torch.randn(5, 7):float())",
    "convolution of volumes": "torch.conv3(torch.randn(30, 40, 50), torch.randn(3, 3, 3))",
    "paired convolution": "torch.xcorr2(torch.randn(3, 90, 90), torch.randn(3, 7, 7))",
    "singular values": "torch.svd(a)",
    "singular values of floats": "torch.svd(torch.randn(70, 80):float())",
    "inverse": "torch.inverse(torch.randn(200, 200))",
    "inverse of floats": "torch.inverse(torch.randn(160, 160):float())",
    "permutation": "torch.randperm(n)",
    "normal numbers": "torch.randn(n)",
}


@pytest.fixture
def shared(lua: Lua, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lua]:
    """Lua whose large work is shared out, whatever else the machine does."""
    monkeypatch.setattr(team, "are_free", lambda _: True)
    yield lua
    lua(f"torch.setnumthreads({os.cpu_count()})")


def compare(lua: Lua, expression: str, threads: int, tolerance: float = 0) -> str:
    """What differs between the results of one thread and of several."""
    return lua.run(f"""
        local function compute(threads)
          torch.setnumthreads(threads)
          {PRELUDE}
          return {{ {expression} }}
        end
        local alone, together = compute(1), compute({threads})
        for i, value in ipairs(alone) do
          local other = together[i]
          assert(value:isSameSizeAs(other) and value:isContiguous() == other:isContiguous())
          local largest = (value:double() - other:double()):abs():max()
          if not (largest <= {tolerance}) then print(i, largest) end
        end""")


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("expression", SHARED.values(), ids=SHARED)
def test_several_threads(shared: Lua, expression: str, threads: int) -> None:
    # BLAS adds up in groups, which depend on where a part starts.
    groups = any(name in expression for name in ("mv", "conv", "xcorr", "inverse"))
    tolerance = 1e-3 if groups and "float" in expression else 1e-11 if groups else 0
    assert compare(shared, expression, threads, tolerance) == ""


def test_threads_that_sleep(shared: Lua) -> None:
    for _ in range(3):
        assert compare(shared, "x + y", 2) == ""
        time.sleep(0.05)


def test_other_processes_come_first(lua: Lua, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    monkeypatch.setattr(team, "are_free", lambda _: False)
    monkeypatch.setattr(team._Team, "gather", lambda _, count: counts.append(count))
    assert compare(lua, "x + y", 2) == ""
    assert counts == []


def test_job_that_fails(shared: Lua) -> None:
    shared("torch.setnumthreads(2)")
    sizes = [3, 8, 0, 1, 1, 1, 1]  # no type has 3 bytes
    with pytest.raises(Exception, match="failed: gather"):
        team.run(b"gather", 1000, 0, 0, 0, *sizes)
    assert compare(shared, "x + y", 2) == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_after_a_fork(tmp_path: Path) -> None:
    program = """
import os
import signal
from runtime import Engine
engine = Engine()
work = engine.compile(b"local x = torch.rand(2e5) local y = x + x assert(y:equal(x * 2))")
engine.run(work)
child = os.fork()
engine.run(work)
if child:
    raise SystemExit(os.waitpid(child, 0)[1])
os._exit(0)
"""
    command = [sys.executable, "-W", "ignore", "-c", program]
    assert subprocess.run(command, cwd=TOP, timeout=60).returncode == 0


def test_leaving_while_threads_look_for_work(tmp_path: Path) -> None:
    program = "local x = torch.rand(2e5) for _ = 1, 3 do x:add(1) end"
    command = [sys.executable, "-m", "th_shell", "-e", program]
    for _ in range(3):
        assert subprocess.run(command, cwd=TOP, timeout=60).returncode == 0


def test_views_that_overlap(shared: Lua) -> None:
    answer = shared.run("""
        local n, x = 200000, torch.range(1, 200000)
        local a, b = x:narrow(1, 2, n - 1), x:narrow(1, 1, n - 1)
        a:add(b) io.write(a[1], ' ', a[n - 1], ' ')
        x:copy(torch.range(1, n)) a:copy(b) io.write(a[1], ' ', a[n - 1], ' ')
        x:copy(torch.range(1, n)) a:add(0.5, b) io.write(a[1], ' ', a[n - 1])""")
    assert answer == "3 399999 1 199999 2.5 299999.5"


# -- what it stands on


def test_inner_loop() -> None:
    found = inner_loop(np.add, "dd->d")
    assert found is not None and found[0] != 0
    assert found != inner_loop(np.add, "ff->f")
    assert inner_loop(np.add, "dq->d") is None


def test_busy_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    load = processors._Load()
    clock = {"now": 1.0, "all": 5.0, "own": 2.0}
    monkeypatch.setattr(load, "_all_work", lambda: clock["all"])
    monkeypatch.setattr(processors.time, "monotonic", lambda: clock["now"])
    monkeypatch.setattr(processors.time, "process_time", lambda: clock["own"])
    assert load.busy_elsewhere() == 0  # nothing to compare with
    clock.update(now=2.0, all=7.5, own=3.0)
    assert load.busy_elsewhere() == pytest.approx(1.5)
    clock.update(now=2.01, all=9.0)
    assert load.busy_elsewhere() == pytest.approx(1.5)  # too soon for another look


# -- how soon what nobody uses goes


def test_one_collection_frees_a_tensor(lua: Lua) -> None:
    lua("collectgarbage() collectgarbage()")
    before = METER.live
    lua("local x = torch.Tensor(1000, 1000):zero() x = x:t():clone()")
    assert METER.live > before + 8_000_000
    lua("collectgarbage()")
    assert METER.live == before


def test_tables_of_small_tensors_stay_small(lua: Lua) -> None:
    kilobytes = lua.run("""
        local x = torch.rand(10)
        for i = 1, 300000 do local y = x + x local z = y:narrow(1, 2, 3) end
        collectgarbage() collectgarbage()
        io.write(collectgarbage('count'))""")
    assert float(kilobytes) < 20_000


def test_error_from_lua_is_known(shared: Lua) -> None:
    with pytest.raises(LuaError, match="inconsistent tensor size"):
        shared.run("torch.rand(200000):add(torch.rand(200001))")


def test_interrupted_jobs_are_finished(shared: Lua) -> None:
    shared("torch.setnumthreads(2) x, y = torch.rand(2e5), torch.rand(2e5)")
    with shared.engine.interruptible():
        for delay in np.linspace(0.001, 0.05, 20):
            timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(Interrupted):
                shared("while true do x:add(y) x:cmul(y) z = x:clone() end")
            timer.join()
    assert compare(shared, "x + y", 2) == ""
