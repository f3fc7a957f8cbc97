"""Debug hooks of a program see its own lines, and none within th's functions."""

from __future__ import annotations

import pytest

from tests.conftest import Lua

_PROGRAMS = {
    "what a hook sees, which resizes the operands": (
        """
        local x, y = torch.ones(100), torch.ones(100)
        local program, within = 0, 0
        for i = 1, 3 do x:add(y):cmul(y) x:dot(y) end -- the ways are found at the first calls
        debug.sethook(function()
          local source = debug.getinfo(2, 'S').source
          if source:find('ops/') or source:find('formulas') then within = within + 1 end
          program = program + (source:find('%[th%]') and 0 or 1)
          x:resize(1) x:resize(100)
        end, '', 1)
        for i = 1, 20 do x:add(y):cmul(y) x:dot(y) end
        debug.sethook()
        print(program > 100, within)""",
        "true\t0\t\n",
    ),
    "the hook that was set": (
        """
        local f = function() end
        print(debug.gethook())
        debug.sethook(f, 'l', 100)
        local g, mask, count = debug.gethook()
        print(f == g, mask, count)
        debug.sethook(coroutine.create(f), f, 'c')
        print(debug.gethook() == f, select(2, debug.gethook()))
        debug.sethook()
        print(debug.gethook())
        print(pcall(debug.sethook, f))""",
        "nil\t\t0\t\ntrue\tl\t100\t\ntrue\tc\t0\t\nnil\t\t0\t\n"
        "false\tbad argument #2 to '?' (string expected, got no value)\t\n",
    ),
    "lines after an error": (
        """
        pcall(torch.add, torch.ones(3), torch.ones(4))
        local lines = 0
        debug.sethook(function() lines = lines + 1 end, 'l')
        local a = 1
        local b = 2
        debug.sethook()
        print(lines)""",
        "3\t\n",
    ),
}


@pytest.mark.parametrize("what", _PROGRAMS)
def test_hooks(lua: Lua, what: str) -> None:
    program, expected = _PROGRAMS[what]
    try:
        assert lua.run(f"jit.off() {program}") == expected
    finally:
        lua("jit.on()")
