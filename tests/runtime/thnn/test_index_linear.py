"""nn.IndexLinear: what is computed for an output does not depend on how many others there are."""

from __future__ import annotations

import pytest

from tests.conftest import Lua

# Loops over few outputs are written out; those over 17 are loops.
PROGRAM = """
require 'nn.THNN'
torch.manualSeed(3)
local functions = torch.getmetatable('torch.TYPETensor').THNN
local keys, ends = torch.LongTensor{ 2, 1, 2, 4, 3, 1, 2 }, torch.LongTensor{ 4, 7 }
local sizes = torch.LongTensor{ 4, 3 }
local values, weight = torch.randn(7):TYPE(), torch.randn(4, EXTRA + 17):TYPE()
local bias, gradients = torch.randn(17):TYPE(), torch.randn(2, 17):TYPE()
local function call(name, ...)
  local list = { ... }
  for i, x in ipairs(list) do list[i] = type(x) == 'userdata' and x:cdata() or x end
  functions['IndexLinear_' .. name](unpack(list))
end
local function compute(first, count)
  local function part(x, more)
    if more then
      return EXTRA == 0 and x:narrow(2, first, count):clone()
        or torch.cat(x:narrow(2, 1, more), x:narrow(2, more + first, count), 2)
    end
    return x:narrow(x:dim(), first, count):clone()
  end
  local w, b, g = part(weight, EXTRA), part(bias), part(gradients)
  local out, kept, rows, sums = values.new(), values.new(), values.new(), b:clone():zero()
  call('updateOutput', keys, -1, values, sizes, ends, out, w, b, kept, 1)
  call('accGradParameters', keys, -1, values, sizes, ends, g, rows, sums, w, b, kept, 0, 0.3)
  call('accUpdateGradParameters', keys, -1, values, sizes, ends, g, w, b, 0.1, 0.7)
  if EXTRA == 0 then call('updateParameters', rows, sums, w, b, keys, ends, -1, 0.1, 0.2) end
  return { out, rows:narrow(2, rows:size(2) - count + 1, count), sums, b,
    EXTRA == 0 and w or w:narrow(2, 1, 3) }
end
local all = compute(1, 17)
for first, count in pairs{ [1] = 16, [4] = 5, [16] = 2 } do
  for i, x in ipairs(compute(first, count)) do
    local y = all[i]
    if x:dim() == 1 or x:size(2) == count then y = y:narrow(y:dim(), first, count) end
    io.write(tostring(x:equal(y:contiguous())), ' ')
  end
end
"""


@pytest.mark.parametrize(("kind", "extra"), [("Double", 0), ("Float", 0), ("Double", 4)])
def test_outputs_are_computed_alike(lua: Lua, kind: str, extra: int) -> None:
    program = PROGRAM.replace(":TYPE()", f":{kind.lower()}()").replace("TYPE", kind)
    assert lua.run(program.replace("EXTRA", str(extra))) == "true " * 15
