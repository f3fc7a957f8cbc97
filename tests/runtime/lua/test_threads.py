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
POOL = """
    threads = require 'threads'
    local msg = 'hello'
    pool, first = threads.Threads(2, function(id) greeting = msg .. id return id end)
"""

#: A pool of its own, and a tensor that it shares.
SHARING = """
    local threads = require 'threads'
    threads.Threads.serialization('threads.sharedserialize')
    pool = threads.Threads(1)
    local x = torch.ones(1000)
"""


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
    pool.run("""
        assert(#first == 2 and first[1][1] + first[2][1] == 3)
        local done, x = 0, torch.ones(3)
        for i = 1, 10 do
          pool:addjob(function(a)
            assert(greeting == 'hello' .. __threadid)
            return x:sum() + a, nil, {x}
          end, function(sum, none, list)
            assert(sum == 3 + i and none == nil and list[1]:sum() == 3)
            done = done + 1
          end, i)
        end
        assert(pool:hasjob())
        pool:synchronize()
        assert(done == 10 and not pool:hasjob() and not pool:haserror() and pool:acceptsjob())
    """)


def test_quick_threads_keep_no_more_results_than_the_references_queues(pool: Lua) -> None:
    """Two threads have six open jobs at most: waiting, done now, and with results that wait."""
    pool.run("""
        local open, most = 0, 0
        for _ = 1, 30 do
          open = open + 1
          pool:addjob(function() end, function() open = open - 1 end)
          require('sys').sleep(0.005)
          most = math.max(most, open)
        end
        pool:synchronize()
        assert(open == 0 and most <= 3 * pool.N, most)
    """)


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("function() error('in the job') end", "callback] lua:2: in the job"),
        ("function() return coroutine.create(print) end", "Unwritable object <thread>"),
        ("function() end, function() error('at the end') end", "endcallback] lua:2: at the end"),
    ],
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
    pool.run("""
        local list = {}
        local function printed()
          local parts, tostring_was = {}, tostring
          function tostring(value) parts[#parts + 1] = type(value) return tostring_was(value) end
          print({ 1 })
          tostring = tostring_was
          return table.concat(parts), print == print_new
        end
        pool:addjob(printed, function(...) list[1] = { ... } end)
        pool:addjob(function() require 'trepl' return print == print_new end, function(is)
          list[2] = is
        end)
        pool:synchronize()
        assert(list[1][1] == 'table' and not list[1][2] and list[2])
    """)


def test_jobs_for_one_thread(pool: Lua) -> None:
    pool.run("""
        pool:specific(true)
        local ran = {}
        for i = 1, 2 do
          pool:addjob(i, function() return __threadid end, function(id) ran[i] = id end)
        end
        pool:synchronize()
        assert(ran[1] == 1 and ran[2] == 2 and pool:specific())
        assert(not pcall(pool.addjob, pool, 3, print) and not pcall(pool.addjob, pool, print))
        pool:specific(false)
    """)


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
    lua.run("""
        local threads, tds = require 'threads', require 'tds'
        local before = threads.Threads.serialization()
        threads.Threads.serialization('threads.sharedserialize')
        local pool = threads.Threads(2)
        threads.Threads.serialization(before)
        local y, s, count = torch.zeros(4), torch.FloatStorage(3):fill(1), tds.AtomicCounter()
        for i = 1, 4 do
          pool:addjob(function()
            y[i], s[1] = i, 9
            for _ = 1, 100 do count:inc() end
            return y:narrow(1, i, 1)
          end, function(z) z[1] = z[1] + 10 end)
        end
        pool:synchronize()
        assert(y:sum() == 50 and y[4] == 14 and s[1] == 9 and count:get() == 400)
        assert(torch.deserialize(torch.serialize(y)):storage() ~= y:storage())
        pool:terminate()
        assert(not pool:isrunning())
        assert(not pcall(pool.addjob, pool, function() end))
    """)


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
