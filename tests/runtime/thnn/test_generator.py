"""torch._gen is what nn's RReLU reads an address from, and a generator like others."""

from __future__ import annotations

import pytest

from tests.conftest import Lua

# The address is taken as nn takes it; garbage is collected in between.
_HEAD = """
require 'nn.THNN'
local address = require('ffi').typeof('THGenerator**')(torch._gen)[0]
for i = 1, 5 do
  collectgarbage()
  for k = 1, 100 do torch.Generator() end
end
local function draw(generator)
  local x, output, noise = torch.Tensor{ -1, 2, -3, -4 }, torch.Tensor(), torch.Tensor()
  x.THNN.RReLU_updateOutput(x:cdata(), output:cdata(), noise:cdata(), 0, 1, true, false, generator)
  return table.concat(noise:totable(), ' ')
end
"""


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        # What the real Torch7 draws.
        (
            "torch.manualSeed(3) print(draw(address))",
            "0.55079790437594 1 0.070724880322814 0.70814782218076",
        ),
        (
            "local g = torch.Generator() torch.manualSeed(g, 3) torch.manualSeed(4) print(draw(g))",
            "0.55079790437594 1 0.070724880322814 0.70814782218076",
        ),
        ("torch.manualSeed(torch._gen, 3) print(torch.uniform())", "0.55079790437594"),
        ("print(type(torch._gen), torch.type(torch._gen))", "userdata torch.Generator"),
        ("print(torch.type(torch.deserialize(torch.serialize(torch._gen))))", "torch.Generator"),
        (
            "print(torch._gen, torch.isTypeOf(torch._gen, 'torch.Generator'))",
            "torch.Generator true",
        ),
        (
            "require('string.buffer').new().put(torch._gen, ('x'):rep(10000)) "
            "torch.manualSeed(3) print(draw(address))",
            "0.55079790437594 1 0.070724880322814 0.70814782218076",
        ),
        (
            "draw(address + 1)",
            "error: lua:10: bad argument #9 to 'v' (no generator lives at this address)",
        ),
        (
            "draw(nil)",
            "error: lua:10: bad argument #9 to 'v' (cannot convert 'nil' to 'THGenerator *')",
        ),
    ],
)
def test_generator(lua: Lua, source: str, printed: str) -> None:
    assert lua.answer(_HEAD + source).split() == printed.split()
