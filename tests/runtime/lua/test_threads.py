"""The package threads: jobs in threads with engines of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Lua, run_text
from tests.data_files import data
from tests.processes import run_python, run_th
from th_shell.runtime.shell import Engine

TOP = Path(__file__).parents[3]

#: A pool that is there for all tests of the file, since each thread makes an engine.
POOL = data(__file__, "POOL")

#: A pool of its own, and a tensor that it shares.
SHARING = data(__file__, "SHARING")


@pytest.fixture(scope="module", autouse=True)
def ended(engine: Engine) -> Iterator[None]:
    """Ends the threads after the tests: the engine goes on, and ends with the process."""
    yield
    engine.run(engine.compile(b"if pool and pool:isrunning() then pool:terminate() end"))


@pytest.fixture
def pool(lua: Lua) -> Lua:
    """An engine with the globals threads, pool and first."""
    lua.run(f"if not pool or not pool:isrunning() then {POOL} end")
    return lua


def test_jobs_arguments_and_results(pool: Lua) -> None:
    pool.run(data(__file__, "test_jobs_arguments_and_results"))


def test_quick_threads_keep_no_more_results_than_the_references_queues(pool: Lua) -> None:
    """Two threads have six open jobs at most: waiting, done now, and with results that wait."""
    pool.run(data(__file__, "test_quick_threads_keep_no_more_results_than_the_references_queues"))


@pytest.mark.parametrize(
    ("job", "message"),
    data(__file__, "test_errors_of_jobs"),
)
def test_errors_of_jobs(pool: Lua, job: str, message: str) -> None:
    pool.run(f"""
        pool:addjob({job})
        local ok, text = pcall(pool.synchronize, pool)
        assert(not ok and text:find('%[thread %d ') and text:find({message!r}, 1, true), text)
        pool:addjob(function() return 5 end, function(five) assert(five == 5) end)
        pool:synchronize()
    """)


def test_print_of_jobs_is_luas_own_until_they_require_trepl(pool: Lua) -> None:
    pool.run(data(__file__, "test_print_of_jobs_is_luas_own_until_they_require_trepl"))


def test_jobs_for_one_thread(pool: Lua) -> None:
    pool.run(data(__file__, "test_jobs_for_one_thread"))


def test_wrong_jobs(pool: Lua) -> None:
    assert pool.error("pool:addjob(7)") == "function callback expected"
    assert pool.error("pool:addjob(print, 7)") == "function (or nil) endcallback expected"


#: What raises an error in a pool of one thread, and what its message contains.
FAILING = data(__file__, "FAILING")

#: A module that serializes, until it is told to break.
SERIALIZER = data(__file__, "SERIALIZER")


@pytest.mark.sample(1)
@pytest.mark.parametrize(("source", "message"), FAILING.values(), ids=list(FAILING))
def test_a_pool_in_which_something_fails_can_be_ended(
    tmp_path: Path, source: str, message: str
) -> None:
    (tmp_path / "serializer.lua").write_text(SERIALIZER)
    (tmp_path / "x.lua").write_text(f"""
        threads = require 'threads'
        threads.Threads.serialization('serializer')
        pool = threads.Threads(1)
        local ok, text = pcall(function() {source} end)
        assert(not ok)
        print(text:match('%C*'))
        broken = nil
        while not pcall(pool.synchronize, pool) do end
        pool:terminate()
        print(pool:isrunning())
    """)
    run = run_th("x.lua", cwd=tmp_path)
    first, second = run.stdout.splitlines()
    assert first.endswith(message + "\t") and second == "false\t"
    assert (run.stderr, run.returncode) == ("", 0)


def test_a_program_ends_whose_job_was_not_added(tmp_path: Path) -> None:
    run = run_th(
        "-e",
        "local f, p = io.stdout, require('threads').Threads(1) "
        "p:addjob(function() f:write('x') end)",
    )
    assert "Unwritable object <userdata>" in run.stderr and run.returncode == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("Threads()", "bad argument #1 to '?' (number expected, got nil)"),
        ("Threads({})", "bad argument #1 to '?' (number expected, got table)"),
        ("Threads('2')", "attempt to compare number with string"),
        ("Threads(-1)", "threads: queue new out of memory"),
        ("Threads(0 / 0)", "threads: queue new out of memory"),
        ("Threads(1e300)", "threads: thread new failed"),
        ("Threads(1, print, 2)", "function callback expected"),
        ("Threads(0):addjob(loadstring(''))", "there is no job to wait for"),
        ("Threads.dojob()", "attempt to index local 'self' (a nil value)"),
        ("Thread()", "bad argument #1 to '?' (string expected, got no value)"),
        ("Mutex(nil)", "bad argument #1 to '?' (number expected, got nil)"),
        ("Mutex({})", "bad argument #1 to '?' (number expected, got table)"),
        ("Mutex(1e300):lock()", f"no mutex has the number {1e300:.0f}"),
        ("Mutex.lock()", "bad argument #1 to 'lock' (threads.Mutex expected, got no value)"),
        ("Condition.signal(5)", "bad argument #1 to 'signal' (threads.Condition expected, got "),
        ("Condition():wait(5)", "bad argument #1 to 'wait' (threads.Mutex expected, got number)"),
        ("safe(print, 5)", "function, [mutex] expected"),
    ],
)
def test_wrong_arguments(lua: Lua, call: str, message: str) -> None:
    assert lua.error(f"local x = require('threads').{call}").startswith(message)


def test_memory_and_counters_are_shared(lua: Lua) -> None:
    lua.run(data(__file__, "test_memory_and_counters_are_shared"))


def test_locks_and_single_threads(lua: Lua, tmp_path: Path) -> None:
    (tmp_path / "beside.lua").write_text("return 'beside'")
    lua.run(f"""
        local threads, path = require 'threads', package.path
        local mutex, condition = threads.Mutex(), threads.Condition()
        package.path = '{tmp_path}/?.lua;' .. path
        mutex:lock()
        local thread = threads.Thread(([[
          local threads = require 'threads'
          local mutex = threads.Mutex(%d)
          mutex:lock()
          local file = io.open('{tmp_path}/made', 'w')
          file:write(require 'beside')
          file:close()
          threads.Condition(%d):signal()
          mutex:unlock()
        ]]):format(mutex:id(), condition:id()))
        condition:wait(mutex)
        mutex:unlock()
        package.path = path
        thread:free() mutex:free() condition:free()
    """)
    assert (tmp_path / "made").read_text() == "beside"
    assert "no mutex has the number 0" in lua.error("require('threads').Mutex(0):lock()")


def test_threads_may_do_what_the_program_may(tmp_path: Path) -> None:
    with Engine() as engine:
        run_text(
            engine,
            f"""
            torch.gpuascpu()
            torch.trustfunctions(true)
            torch.save('{tmp_path}/f', function() return 7 end)
            local pool = require('threads').Threads(1)
            pool:addjob(function()
              return torch.load('{tmp_path}/f')(), torch.ones(2):cuda():type()
            end, function(seven, kind) done = seven == 7 and kind == 'torch.FloatTensor' end)
            pool:terminate()
            assert(done)
        """,
        )


def test_safe_functions(pool: Lua) -> None:
    pool.run("""
        local safe = threads.safe(function(a, b) return b, a end)
        local b, a = safe(1, 2)
        assert(a == 1 and b == 2)
        pool:addjob(safe, function(b, a) assert(a == 3 and b == 4) end, 3, 4)
        pool:synchronize()
    """)


@pytest.mark.thorough
def test_a_pool_that_is_there_when_the_process_ends() -> None:
    program = """if True:
        from th_shell.runtime.shell import Engine
        engine = Engine()
        source = b"pool = require('threads').Threads(2) pool:addjob(function() x = 1 end)"
        engine.run(engine.compile(source))
        print("ends")
    """
    assert _run(program) == (0, "ends\n", "")


#: Jobs that resize what the program made, and the other way round.
RESIZED = data(__file__, "RESIZED")


@pytest.mark.thorough
@pytest.mark.parametrize("source", RESIZED.values(), ids=list(RESIZED))
def test_threads_resize_what_they_share(source: str) -> None:
    program = f"""if True:
        from th_shell.runtime.shell import Engine
        engine = Engine()
        engine.run(engine.compile({(SHARING + source).encode()!r}))
        engine.run(engine.compile(b"pool:terminate() io.write('ok')"))
    """
    assert _run(program) == (0, "ok", "")


def _run(program: str) -> tuple[int, str, str]:
    done = run_python("-c", program, timeout=60, cwd=TOP)
    return done.returncode, done.stdout, done.stderr
