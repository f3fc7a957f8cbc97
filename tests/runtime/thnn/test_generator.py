"""torch._gen is what nn's RReLU reads an address from, and a generator like others."""

from __future__ import annotations

import pytest

from tests.conftest import Lua
from tests.data_files import data

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


@pytest.mark.parametrize(("source", "printed"), data(__file__, "test_generator"))
def test_generator(lua: Lua, source: str, printed: str) -> None:
    assert lua.answer(_HEAD + source).split() == printed.split()
