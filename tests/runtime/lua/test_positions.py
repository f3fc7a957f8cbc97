"""Errors tell the program's line, and never one of the runtime's own files."""

import re
from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.processes import run_th

ODD_ARGUMENTS = Path(__file__).with_name("odd_arguments.lua")


@pytest.mark.thorough
def test_functions_of_packages_with_odd_arguments(tmp_path: Path) -> None:
    run = run_th(ODD_ARGUMENTS, cwd=tmp_path)
    told = re.findall(r".*(?:\[th\]|internal|attempt to).*", run.stderr)
    assert told == [] and run.returncode == 0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("require'tds'.Hash()[0 / 0] = 1", "lua:1: hash index is nan"),
        ("require'tds'.Vec()[0 / 0] = 1", "lua:1: positive number expected as key"),
        ("require'tds'.Vec()[math.huge] = 1", "lua:1: out of memory"),
        ("require'tds'.Vec():resize(-1)", "lua:1: size must be a positive number"),
        ("torch.Tensor[0 / 0] = 1", "table index is NaN"),
        ("loadfile('/dev/null', 't', 1, {})", None),
        (
            "local f = require('hdf5').open()",
            "lua:1: bad argument #1 to 'open' (string expected, got nil)",
        ),
    ],
)
def test_metamethods(lua: Lua, source: str, message: str | None) -> None:
    answer = lua.answer(f"print(pcall(function() {source} end))")
    assert answer == (f"false\t{message}\t\n" if message else "true\t\n")
    assert lua("local h = require'tds'.Hash() h[0 / 0] = nil print(#h, h[0 / 0])") == "0\tnil\t\n"


@pytest.mark.thorough
@pytest.mark.parametrize("call", ["t:apply(f)", "t:map(t, f)", "t:map2(t, t, f)"])
def test_functions_that_call_themselves_within_a_loop(lua: Lua, call: str) -> None:
    """Wherever the stack ends: in the program, or in what it has called."""
    for pad in range(8):
        names = ", ".join(f"a{i}" for i in range(pad + 1))
        printed = lua(
            f"local f f = function(v) local {names} = v local t = torch.ones(2):clone() {call} "
            "return 1 end print(pcall(f))"
        )
        assert printed in ("false\tstack overflow\t\n", "false\tlua:1: stack overflow\t\n")


@pytest.mark.thorough
def test_uncaught_errors_where_the_stack_ends(tmp_path: Path) -> None:
    for pad in range(6):
        names = ", ".join(f"a{i}" for i in range(pad + 1))
        call = "require 'cjson'.encode{ 1, { 2, { 3 } } }"
        (tmp_path / "x.lua").write_text(
            f"local function f(v)\n  local {names} = v, {call}\n  return f() * 2\nend\nf()\n"
        )
        error = run_th("x.lua", cwd=tmp_path).stderr.splitlines()[0]
        assert re.fullmatch(r"th: (x\.lua:[123]: )?stack overflow", error)
