"""bit32 computes what Lua 5.2's own library does, on random calls."""

from __future__ import annotations

import random

import pytest

from tests.conftest import Lua
from tests.processes import run_python

NUMBERS = [0, 1, 2, 7, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40 + 3, -1, -5, -(2**31)]
SHIFTS = [*range(-34, 35), 2**31, -(2**31)]
CASES = 40

SHOW = """
local lines = {}
for _, call in ipairs{%s} do
  local results = {pcall(loadstring('local bit32 = ... local v = ' .. call .. ' return v'), bit32)}
  for i, value in ipairs(results) do
    results[i] = type(value) == 'number' and ('%%d'):format(value)
      or (tostring(value):gsub('^.-:1: ', ''))
  end
  lines[#lines + 1] = call .. ' ' .. table.concat(results, ' ')
end
return table.concat(lines, '\\n')
"""


def calls() -> list[str]:
    chance = random.Random(5)

    def any_number() -> int:
        return chance.choice([chance.choice(NUMBERS), chance.randrange(2**32)])

    made = ["band()", "bor()", "bxor()", "btest()", "band('7', 3)", "lshift('x', 1)", "bnot()"]
    made += ["lshift(1)", "extract(1, 31, 2)", "extract(1, -1)", "extract(1, 3, 0)", "band(1, {})"]
    made += ["replace(1, 1, 32)", "replace(1, 1, 2, -1)", "extract(7)", "replace(1, 2)"]
    for _ in range(CASES):
        numbers = ", ".join(str(any_number()) for _ in range(chance.randint(1, 4)))
        made += [f"{name}({numbers})" for name in ("band", "bor", "bxor", "btest")]
        made.append(f"bnot({any_number()})")
        for name in ("lshift", "rshift", "arshift", "lrotate", "rrotate"):
            made.append(f"{name}({any_number()}, {chance.choice(SHIFTS)})")
        first = chance.randrange(32)
        field = f"{first}, {chance.randint(1, 32 - first)}"
        made += [f"extract({any_number()}, {field})", f"extract({any_number()}, {first})"]
        made += [f"replace({any_number()}, {any_number()}, {field})"]
    return made


def in_lua_5_2(program: str) -> str:
    """What a program returns there, in a process of its own.

    One with C modules has LuaJIT's symbols for all, and another Lua in it calls LuaJIT's functions.
    """
    code = """
import sys
try:
    from lupa.lua52 import LuaRuntime
except ImportError:
    sys.exit("lupa has no Lua 5.2")
print(LuaRuntime().execute(sys.stdin.read()))
"""
    run = run_python("-c", code, input=program)
    if run.stderr.strip() == "lupa has no Lua 5.2":
        pytest.skip(run.stderr)
    assert run.stderr == ""
    return run.stdout.rstrip("\n")


def test_as_lua_5_2(lua: Lua) -> None:
    program = SHOW % ", ".join(f"[[bit32.{call}]]" for call in calls())
    reference = in_lua_5_2("local loadstring = load " + program)
    computed = lua.run(f"local bit32 = require 'bit32' print((function() {program} end)())")
    assert computed.rstrip("\t\n").split("\n") == reference.split("\n")
