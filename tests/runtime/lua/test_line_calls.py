"""Chunks with a call whose parenthesis begins a line compile, as in the reference's LuaJIT."""

from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data


@pytest.mark.parametrize(("source", "calls"), data(__file__, "test_calls"))
def test_calls(lua: Lua, source: str, calls: str) -> None:
    heading = "local seen = {} local function f(x) seen[#seen + 1] = tostring(x) return f end\n"
    printed = lua.run(f"{heading}{source}\nprint(table.concat(seen, ' '))")
    assert printed == calls + "\t\n"


def test_other_lines_keep_their_numbers(lua: Lua) -> None:
    source = "local f = type\nf\n(1)\nprint(debug.getinfo(1, 'l').currentline)"
    assert lua.run(source) == "4\t\n"


@pytest.mark.parametrize("source", ["f\n(1)\n)", "f\n(1)\nf\n(", "f\n(1) '"])
def test_other_errors_stay(lua: Lua, source: str) -> None:
    joined = source.replace("f\n(", "f(\n")
    for name in ("load", "loadstring"):
        refused = f"print(select(2, {name}([===[{source}]===], '=c')))"
        expected = f"print(select(2, {name}([===[{joined}]===], '=c')))"
        assert lua(refused) == lua(expected)


def test_names_of_chunks(lua: Lua) -> None:
    assert lua("print(loadstring('f\\n(1)\\nx x'))").startswith('nil\t[string "f..."]:3:')
    assert (
        lua("print(pcall(load('print\\n(1)\\nerror(2)', '@file')))") == "1\t\nfalse\tfile:3: 2\t\n"
    )


@pytest.mark.parametrize(
    "load",
    ["loadfile(path)()", "dofile(path)", "require('line_calls_here')"],
)
def test_files(lua: Lua, tmp_path: Path, load: str) -> None:
    path = tmp_path / "line_calls_here.lua"
    path.write_text("#!/usr/bin/th\nlocal r = tostring\n(12)\nreturn {r, debug.getinfo(1, 'l')}")
    source = f"""
        local path, old = {str(path)!r}, package.path
        package.path = {str(tmp_path)!r} .. '/?.lua'
        local result = {load}
        package.path = old
        print(result[1], result[2].currentline)"""
    assert lua(source) == "12\t4\t\n"


def test_errors_in_files(lua: Lua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong_calls.lua").write_text("f\n(1)\nx x")
    source = """
        local old = package.path
        package.path = '?.lua'
        print(loadfile('wrong_calls.lua'))
        print(pcall(dofile, 'wrong_calls.lua'))
        print(pcall(require, 'wrong_calls'))
        package.path = old"""
    message = "wrong_calls.lua:3: '=' expected near 'x'"
    assert lua(source).splitlines() == [
        f"nil\t{message}\t",
        f"false\t{message}\t",
        "false\terror loading module 'wrong_calls' from file 'wrong_calls.lua':",
        f"\t{message}\t",
    ]
