"""Uncaught errors show their text, whatever the program did before; the prompt goes on."""

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_th

CLEARED = (
    "local G, set = _G, rawset "
    "for name in next, G do if name ~= 'x' then set(G, name, nil) end end "
    "set(G, 'x', x)"
)


def prompt(*inputs: str) -> str:
    """What a session in a process of its own prints."""
    run = run_th("-i", input="\n".join(inputs) + "\n")
    assert (run.stderr, run.returncode) == ("", 0)
    return run.stdout


@pytest.mark.sample(3)
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("error({1, {2}})", "{\n  1 : 1\n  2 : \n    {\n      1 : 2\n    }\n}"),
        ("error(setmetatable({}, {__tostring = function() error('x') end}))", "stdin:1: x"),
        ("error(setmetatable({}, {__tostring = function() return 1 end}))", "1"),
        ("error(setmetatable({}, {__tostring = function() return {} end}))", "error object is a"),
        ("error(setmetatable({}, {__tostring = 1}))", "attempt to call a number value"),
        ("error(42)", "42"),
        ("error(torch.ones(1))", " 1\n[torch.DoubleTensor of dimension 1]"),
        ("debug = nil error('x')", "stdin:1: x"),
        ("table.concat = nil error('x')", "stdin:1: x"),
        ("string.find = nil string.format = nil error('x')", "stdin:1: x"),
        ("tostring = nil pcall = nil type = nil select = nil error('x')", "stdin:1: x"),
        ("setmetatable = nil getmetatable = nil unpack = nil error('x')", "stdin:1: x"),
        ("io = nil os = nil math = nil jit = nil error('x')", "stdin:1: x"),
        ("getmetatable(io.stdout).__index = nil error('x')", "stdin:1: x"),
        ("getmetatable('').__index = nil error('x')", "stdin:1: x"),
        (f"x = error {CLEARED} x('x')", "stdin:1: x"),
        ("local function f() return 1 + f() end f()", "stack overflow"),
        (
            "(('a'):rep(1e5)):find(('a?'):rep(1e5) .. ('a'):rep(1e5))",
            "stdin:1: pattern too complex",
        ),
        ("error(select(2, xpcall(error, error)))", "error in error handling"),
        ("coroutine.wrap(function() error('x', 0) end)()", "x"),
        # The embedding library where Python has no memory for a call.
        ("error('error during Python call', 0)", "not enough memory"),
    ],
)
def test_text_of_an_uncaught_error(source: str, shown: str) -> None:
    printed = prompt(source, "= 6 * 7")
    assert shown in printed.partition("\nstack traceback:")[0]
    assert printed.endswith("42\t\n")


def test_locals_behind_many_calls_are_kept_soon() -> None:
    printed = prompt(
        "start = os.clock()",
        "local x = 5 local function f() return 1 + f() end f()",
        "= x, os.clock() - start < 1",
    )
    assert printed.endswith("\n5\ttrue\t\n")


def test_values_are_kept() -> None:
    printed = prompt("kept = torch.ones(3)", "_RESULTS = nil string = nil", "kept:sum()", "_LAST")
    assert printed == "3\t\n3\t\n"


def test_a_long_table_is_cut_off() -> None:
    source = "local t = {} for i = 1, 1000 do t[i] = ('x'):rep(1000) end error(t)"
    table, _, _ = prompt(source).partition("\nstack traceback:")
    assert 10000 <= len(table) < 10010
    assert table.endswith("x...")


@pytest.mark.sample(1)
@pytest.mark.parametrize("call", data(__file__, "test_errors_of_lua_tell_the_users_line"))
def test_errors_of_lua_tell_the_users_line(call: str) -> None:
    printed = prompt(f"local ok, message = pcall(function() {call} end) print(ok, message)")
    assert printed.startswith("false\tstdin:1: ")
    assert "[th]" not in printed


def test_tracebacks_show_the_programs_frames_alone(lua: Lua) -> None:
    source = """local function f() torch.ones(2):add(torch.ones(3)) end
        local _, text = xpcall(f, debug.traceback)
        print(text)
        local waiting = coroutine.create(function() coroutine.yield() end)
        coroutine.resume(waiting)
        print(debug.traceback(waiting, 'm', 1))
        local object = {}
        print(debug.traceback(object) == object, debug.traceback(nil), debug.traceback('m', 50))"""
    message, *frames = lua.run(source).splitlines()
    assert message.startswith("lua:1: inconsistent tensor size")
    assert frames == [
        "stack traceback:",
        "\t[C]: in function 'add'",
        "\tlua:1: in function <lua:1>",
        "\t[C]: in function 'xpcall'",
        "\tlua:2: in main chunk\t",
        "m",
        "stack traceback:",
        "\tlua:4: in function <lua:4>\t",
        "true\tnil\tm",
        "stack traceback:\t",
    ]
