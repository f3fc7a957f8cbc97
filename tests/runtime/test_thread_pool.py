"""What threads compute together is what one computes alone."""

import ctypes
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

from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_th
from th_shell.runtime.compute import bulk, thread_pool
from th_shell.runtime.compute.c_functions import inner_loop
from th_shell.runtime.compute.thread_pool import ThreadPool
from th_shell.runtime.core.state import current
from th_shell.runtime.ops import conv
from th_shell.runtime.shell import Engine, Interrupted

TOP = Path(__file__).parent.parent.parent
THREADS = [2, 5, 100]

# Enough elements to share out, with a rest.
PRELUDE = data(__file__, "PRELUDE")

# Everything that is shared out: an expression that gives a tensor or several.
SHARED = data(__file__, "SHARED")


@pytest.fixture
def shared(lua: Lua, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lua]:
    """Lua whose large work is shared out, whatever else the machine does."""
    monkeypatch.setattr(thread_pool, "free_threads", lambda count: count)
    yield lua
    lua(f"torch.setnumthreads({os.cpu_count()})")


def state() -> tuple[int, int, int]:
    """The shared job, shares and threads of the engine that tests work for."""
    return current(ThreadPool).state()


@pytest.fixture(scope="module")
def engines() -> Iterator[dict[int, Engine]]:
    """An engine for each number of threads: those of a pool stay, and wake up for each job."""
    engines = {count: Engine() for count in THREADS}
    yield engines
    for engine in engines.values():
        engine.close()


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


@pytest.mark.thorough
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("expression", SHARED.values(), ids=SHARED)
def test_several_threads(
    shared: Lua,
    engines: dict[int, Engine],
    capfd: pytest.CaptureFixture[str],
    expression: str,
    threads: int,
) -> None:
    # BLAS adds up in groups, which depend on where a part starts.
    groups = any(name in expression for name in ("mv", "conv", "xcorr", "inverse"))
    tolerance = 1e-3 if groups and "float" in expression else 1e-11 if groups else 0
    if expression == SHARED["multiples of floats"]:
        tolerance = 2e-7  # BLAS's axpy may round the last digit otherwise
    lua = Lua(engines[threads], capfd)
    assert compare(lua, expression, threads, tolerance) == ""
    with lua.engine._lua.active():
        assert state()[1:] == (min(threads, 64),) * 2  # it was shared out


def test_threads_that_sleep(shared: Lua) -> None:
    for _ in range(3):
        assert compare(shared, "x + y", 2) == ""
        time.sleep(0.05)


def test_other_processes_come_first(lua: Lua, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_pool._LOAD, "busy_elsewhere", lambda: float(thread_pool._ALL))
    lua("torch.setnumthreads(2)")
    assert state()[1:] == (2, 1)
    assert compare(lua, "x + y", 2) == ""


def test_job_that_fails(shared: Lua) -> None:
    shared("torch.setnumthreads(2)")
    sizes = {
        "size": 3,
        "placeSize": 8,
        "run": 1,
        "runs": 1,
        "block": 1,
        "step": 1,
        "base": 0,
        "places": 1,
    }
    with pytest.raises(Exception, match="C type expected|another thread failed"):
        thread_pool.run("gather", 1000, out=0, source=0, at=0, **sizes)  # no type has 3 bytes
    assert compare(shared, "x + y", 2) == ""


def test_jobs_refuse_parameters_that_are_not_theirs(shared: Lua) -> None:
    with pytest.raises(TypeError, match="^job copy takes out, source, not out$"):
        thread_pool.run("copy", 8, out=0)
    with pytest.raises(TypeError, match="^job copy takes out, source, not out, source, size$"):
        thread_pool.run("copy", 8, out=0, source=0, size=8)
    with pytest.raises(TypeError, match="^job loop: step is 4 numbers, not 2$"):
        at = {"at": [0, 0, 0, 0], "step": [8, 8]}
        thread_pool.run("loop", 8, run=0, data=0, count=2, number=0, **at)


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_errors_leave_the_pool_free(shared: Lua) -> None:
    # The stack overflows in each of the functions that a job calls: the frames of f have all
    # sizes, and f uses the pool where the stack is nearly full.
    shared("torch.setnumthreads(2)")
    shared.run(data(__file__, "test_errors_leave_the_pool_free"))
    with shared.engine.interruptible():
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(Interrupted):
            shared("while true do end")
    shared("do local keep = select; select = nil; x = torch.rand(2e5):add(1); select = keep end")
    assert compare(shared, "x + y", 2) == ""


def posted() -> int:
    """The number of the last job that was posted, behind three locks."""
    return ctypes.c_int.from_address(state()[0] + 3 * 64).value


@pytest.mark.thorough
def test_work_is_shared_out_after_a_stack_overflow(shared: Lua) -> None:
    shared("torch.setnumthreads(2) a, b = torch.rand(1000), torch.rand(1000)")
    shared.run("local function f() pcall(a.cmul, a, b) return f() + 1 end pcall(f)")
    shared("x = torch.rand(2e5)")
    before = posted()
    shared("x:add(1)")
    assert posted() == before + 1


@pytest.mark.thorough
def test_the_same_results_however_many_threads_are_free(
    lua: Lua, monkeypatch: pytest.MonkeyPatch
) -> None:
    expressions = ", ".join(f"function() return {text} end" for text in SHARED.values())
    source = f"""
        {PRELUDE}
        local sums = {{}}
        for i, compute in ipairs{{ {expressions} }} do
          torch.manualSeed(i)
          sums[i] = torch.serialize({{ compute() }})
        end
        return sums"""
    lua(f"first = nil function compute() {source} end")
    for free in (1, 2, 3):
        monkeypatch.setattr(thread_pool, "free_threads", lambda count, free=free: min(count, free))
        lua("torch.setnumthreads(3) collectgarbage()")
        different = lua("""
            local results = compute()
            first = first or results
            for i, result in ipairs(results) do if result ~= first[i] then print(i) end end""")
        assert different == ""
    lua(f"torch.setnumthreads({os.cpu_count()}) first, compute = nil, nil")


def test_a_system_without_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(thread_pool, "free_threads", lambda count: count)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Engine() as engine, engine._lua.active():
        engine.inputs.evaluate(b"torch.setnumthreads(4) x = torch.rand(2e5)")
        assert state()[1:] == (4, 1)
        engine.inputs.evaluate(b"assert((x + x):add(-2, x):abs():max() == 0) x:sigmoid()")
        assert state()[1:] == (4, 1)  # results depend on the shares


def test_no_more_threads_than_processors(lua: Lua) -> None:
    lua("torch.setnumthreads(1000)")
    assert state()[1] == 64 and state()[2] <= thread_pool.PROCESSORS
    lua(f"torch.setnumthreads({os.cpu_count()})")


@pytest.mark.thorough
def test_without_what_is_looked_up(shared: Lua, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("inner_loop", "blas", "lapack"):
        monkeypatch.setattr(bulk, name, lambda *_: None)
    monkeypatch.setattr(conv, "blas", lambda *_: None)
    for name in ("floats", "comparison"):
        assert compare(shared, SHARED[name], 2) == ""
    # Where BLAS's axpy rounds once, numpy rounds twice: that depends on the processor's kernel.
    assert compare(shared, SHARED["multiples of floats"], 2, 1.2e-7) == ""
    for name in ("matrix and vector", "inverse", "convolution"):  # numpy's BLAS has threads too
        assert compare(shared, SHARED[name], 2, 1e-11) == ""


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_after_a_fork() -> None:
    program = data(__file__, "test_after_a_fork")
    command = [sys.executable, "-W", "ignore", "-c", program]
    assert subprocess.run(command, cwd=TOP, timeout=60).returncode == 0


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forks_while_threads_look_for_jobs() -> None:
    program = data(__file__, "test_forks_while_threads_look_for_jobs")
    command = [sys.executable, "-W", "ignore", "-c", program]
    assert subprocess.run(command, cwd=TOP, timeout=60).returncode == 0


@pytest.mark.thorough
def test_leaving_while_threads_look_for_work() -> None:
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


@pytest.mark.parametrize(
    "call", ["cmul(x, x, x:t())", "exp(x, x:t())", "add(x, x:t(), 0.5, x)", "pow(x, x:t(), 3)"]
)
def test_the_transposed_matrix_is_read_as_if_it_had_been_copied(shared: Lua, call: str) -> None:
    answer = shared.run(f"""
        local start = torch.range(1, 400 * 400):div(160000):view(400, 400)
        local x = start:clone()
        torch.{call}
        local shared = x
        x = start:clone()
        torch.{call.replace("x:t()", "start:t()")}
        io.write(shared:ne(x):sum(), ' ', tostring(x:equal(start)))""")
    assert answer == "0 false"


# -- what it stands on


def test_inner_loop() -> None:
    found = inner_loop(np.add, "dd->d")
    assert found is not None and found[0] != 0
    assert found != inner_loop(np.add, "ff->f")
    assert inner_loop(np.add, "dq->d") is None


def test_busy_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    load = thread_pool._Load()
    clock = {"now": 1.0, "all": 5.0, "own": 2.0}
    monkeypatch.setattr(thread_pool, "processor_seconds", lambda: clock["all"])
    monkeypatch.setattr(thread_pool.time, "monotonic", lambda: clock["now"])
    monkeypatch.setattr(thread_pool.time, "process_time", lambda: clock["own"])
    assert load.busy_elsewhere() == 0  # nothing to compare with
    clock.update(now=2.0, all=7.5, own=3.0)
    assert load.busy_elsewhere() == pytest.approx(1.5)
    clock.update(now=2.01, all=9.0)
    assert load.busy_elsewhere() == pytest.approx(1.5)  # too soon for another look


# -- how soon what nobody uses goes


@pytest.mark.unguarded("memory starts anywhere")
def test_large_memory_starts_at_a_cache_line(lua: Lua) -> None:
    addresses = lua.run("""
        local ffi = require 'ffi'
        for i = 1, 6 do
          local x = torch.Tensor(200000 + i)
          io.write(tonumber(ffi.cast('intptr_t', x:data())) % 64, ' ')
        end""")
    assert addresses == "0 0 0 0 0 0 "


@pytest.mark.thorough
def test_finalizers_may_use_tensors(lua: Lua) -> None:
    answer = lua.run(data(__file__, "test_finalizers_may_use_tensors"))
    assert answer == "0 of 200"


@pytest.mark.thorough
def test_finalizers_within_jobs(tmp_path: Path) -> None:
    # The collector runs finalizers wherever memory is allocated, in jobs too. A process of its
    # own has little memory to go through, and so many collections.
    script = tmp_path / "script.lua"
    script.write_text(data(__file__, "test_finalizers_within_jobs"))
    run = run_th(script, timeout=600)
    assert run.stdout == "0 of many"


@pytest.mark.thorough
@pytest.mark.unguarded("garbage is collected where too much is guarded")
def test_a_stopped_collector_stays_stopped(lua: Lua) -> None:
    """After collections of many tensors, too, which the runtime begins itself."""
    grown = lua.run("""
        local x = torch.rand(10)
        collectgarbage() collectgarbage('stop')
        for i = 1, 150000 do local y = x + x end
        local before = collectgarbage('count')
        for i = 1, 20000 do kept = ('x'):rep(1000) .. i end
        io.write(collectgarbage('count') - before)
        collectgarbage('restart') collectgarbage()""")
    assert float(grown) > 19_000


@pytest.mark.thorough
@pytest.mark.unguarded("each piece of memory has a page of its own")
def test_tables_of_small_tensors_stay_small(lua: Lua) -> None:
    kilobytes = lua.run("""
        collectgarbage() collectgarbage()
        local x, before = torch.rand(10), collectgarbage('count')
        collectgarbage('setpause', 10000) -- the collector itself waits
        for i = 1, 300000 do local y = x + x local z = y:narrow(1, 2, 3) end
        collectgarbage('setpause', 200) collectgarbage() collectgarbage()
        io.write(collectgarbage('count') - before)""")
    assert float(kilobytes) < 20_000
