"""`#` of a table calls its `__len`, as in the reference's LuaJIT, whose answers these are."""

import os
import threading
from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_th
from th_shell.runtime.shell import Engine

# Classes whose objects have a length, and have none, and a function that prints values.
_CLASSES = data(__file__, "_CLASSES")
_HEADING = "local c, list = test_lengths.Counted(5), { 1, 2, 'three' }\n"


def _run(lua: Lua, source: str) -> str:
    if lua("print(test_lengths)") == "nil\t\n":
        lua(_CLASSES)
    return lua(_HEADING + source)


@pytest.mark.parametrize(("expressions", "printed"), data(__file__, "test_lengths"))
def test_lengths(lua: Lua, expressions: str, printed: str) -> None:
    assert _run(lua, f"show({expressions})") == printed + "\t\n"


@pytest.mark.parametrize(("expression", "message"), data(__file__, "test_errors"))
def test_errors(lua: Lua, expression: str, message: str) -> None:
    source = f"c = 1\nlocal function f() local x; return {expression} end\nprint(pcall(f))"
    assert _run(lua, source) == f"false\tlua:3: {message}\t\n"


def test_errors_of_metamethods_pass(lua: Lua) -> None:
    source = "print(pcall(function() return #setmetatable({}, { __len = %s }) end))"
    assert _run(lua, source % "function() error('inner', 0) end") == "false\tinner\t\n"
    assert _run(lua, source % "7") == "false\tattempt to call a number value\t\n"


def test_sources_without_classes_are_not_changed() -> None:
    with Engine() as engine:
        engine.inputs.evaluate(b"dumped = string.dump(function(t) return #t end)")
        engine.inputs.evaluate(b"require 'torch' require('paths')")
        engine.inputs.evaluate(b"assert(dumped == string.dump(function(t) return #t end))")
        engine.inputs.evaluate(b"local mt = { __len = print }")
        engine.inputs.evaluate(b"assert(dumped ~= string.dump(function(t) return #t end))")


def test_files_and_modules(lua: Lua, tmp_path: Path) -> None:
    path = tmp_path / "test_lengths_module.lua"
    path.write_text(
        "#!/usr/bin/env th\n"
        "local mt = { __len = function() return 9 end }\n"
        "return { #setmetatable({}, mt), debug.getinfo(1, 'l').currentline }"
    )
    for load in (f"loadfile({str(path)!r})()", f"dofile({str(path)!r})", "require(path)"):
        source = f"""
            package.path, path = {str(tmp_path)!r} .. '/?.lua', 'test_lengths_module'
            local result = {load}
            print(result[1], result[2])"""
        assert lua(f"local old = package.path {source}\npackage.path = old") == "9\t3\t\n"


def test_a_pipe_is_read_once(lua: Lua, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("return #setmetatable({}, {})",))
    writer.start()
    assert lua(f"print(dofile({str(path)!r}))") == "0\t\n"
    writer.join()


@pytest.mark.thorough
def test_a_source_that_runs_another_file(tmp_path: Path) -> None:
    path = tmp_path / "counted.lua"
    path.write_text("torch.class('Counted').__len = function() return 7 end")
    for run in ("dofile", "paths.dofile", "include", "loadfile"):
        call = f"{run}({str(path)!r})" + "()" * (run == "loadfile")
        assert run_th("-e", f"{call} print(#Counted.new())").stdout == "7\t\n"


def test_what_is_compiled_after_such_a_source(lua: Lua) -> None:
    _run(lua, "test_object = c")
    assert lua("print(#test_object, load('return #test_object')())") == "5\t5\t\n"
    # A function that has all the slots it may have stays as it is.
    names = ", ".join(f"a{i}" for i in range(199))
    values = ", ".join(["1"] * 240)
    assert lua(f"local {names} print(#{{ {values} }}, #test_object)") == "240\t5\t\n"


def test_loops_are_compiled(lua: Lua) -> None:
    """A loop over an object's length, and one over a plain table's, are each one trace."""
    source = """
        local util = require 'jit.util'
        jit.flush()
        local total = 0
        for i = 1, 1000 do total = total + #c + #list end
        local before = util.traceinfo(1) ~= nil
        for i = 1, 1000 do total = total + #c + #list end
        print(total, before)"""
    assert _run(lua, source) == "16000\ttrue\t\n"
