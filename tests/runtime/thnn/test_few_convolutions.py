"""Convolutions of few elements: Lua, once the results have their sizes, gives Python's bits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.data_files import data
from th_shell.runtime.shell import Engine

# Each function runs with an input that has gaps, by Python, as it is the first such call, and with
# contiguous elements, from the third time on by Lua. Then it prints whether all bits of the results
# are the same.
PROGRAM = """
require 'nn.THNN'
local name, full, given, weights, numbers = %s
torch.manualSeed(5)
local function random(sizes) return torch.rand(torch.LongStorage(sizes)):TYPE() end
local functions = torch.getmetatable('torch.TYPETensor').THNN
local function gaps(t)
  local sizes = t:size():totable()
  sizes[#sizes + 1] = 2
  return t.new(torch.LongStorage(sizes)):select(#sizes, 1):copy(t)
end
local input, weight = random(given), random(weights)
local bias = random{ weights[full and 2 or 1] }
local volumetric_mm = name == 'VolumetricConvolutionMM'
local volumetric_full = full and #weights == 5
local function call(what, ...)
  local list = { ... }
  for _, number in ipairs(numbers) do list[#list + 1] = number end
  if what == 'accGradParameters' then list[#list + 1] = 0.3 end
  for i, value in ipairs(list) do
    if type(value) == 'userdata' then list[i] = value:cdata() end
  end
  functions[name .. '_' .. what](unpack(list))
end
local function all(wanted, x)
  local out, gradient = input.new(), input.new()
  local kept, more = input.new(), input.new()
  local to_weight, to_bias
  for _ = 1, wanted do
    if volumetric_mm then call('updateOutput', x, out, weight, bias, kept)
    else call('updateOutput', x, out, weight, bias, kept, more) end
    local g = out:clone():mul(0.7)
    to_weight, to_bias = weight:clone(), bias:clone()
    if volumetric_mm then call('accGradParameters', x, g, to_weight, to_bias, kept)
    else call('accGradParameters', x, g, to_weight, to_bias, kept, more) end
    if name:find('MM') or volumetric_full then
      call('updateGradInput', x, g, gradient, weight, kept, more)
    else
      call('updateGradInput', x, g, gradient, weight, kept)
    end
  end
  return { out, gradient, to_weight, to_bias, kept }
end
local python, lua = all(1, gaps(input)), all(4, input)
for i = 1, 5 do
  local same = lua[i]:isSameSizeAs(python[i]) and lua[i]:eq(python[i]):all()
  io.write(tostring(same), ' ')
end
"""

CASES = data(__file__, "CASES")

# The same for functions that get no columns: kernels between planes that a table connects, and
# SpatialSubSampling, which has no table.
MAPS = """
require 'nn.THNN'
local name, given, weights, maps, rows, numbers = %s
torch.manualSeed(5)
local functions = torch.getmetatable('torch.TYPETensor').THNN
local connections = rows and torch.Tensor(rows):TYPE()
local weight = torch.rand(unpack(weights)):TYPE()
local bias, input = torch.rand(maps):TYPE(), torch.rand(unpack(given)):TYPE()
local function call(what, ...)
  local list = { ... }
  if rows then list[#list + 1] = connections end
  for _, number in ipairs(numbers) do list[#list + 1] = number end
  if what == 'accGradParameters' then list[#list + 1] = 0.3 end
  for i, value in ipairs(list) do
    if type(value) == 'userdata' then list[i] = value:cdata() end
  end
  functions[name .. '_' .. what](unpack(list))
end
local function all(wanted, x)
  local out, gradient, to_weight, to_bias = input.new(), input.new(), nil, nil
  for _ = 1, wanted do
    call('updateOutput', x, out, weight, bias)
    local g = out:clone():mul(0.7)
    if rows then call('updateGradInput', x, g, gradient, weight, bias)
    else call('updateGradInput', x, g, gradient, weight) end
    to_weight, to_bias = weight:clone(), bias:clone()
    call('accGradParameters', x, g, to_weight, to_bias)
  end
  return { out, gradient, to_weight, to_bias }
end
given[#given + 1] = 2
local apart = torch.Tensor(unpack(given)):TYPE():select(#given, 1):copy(input)
local lua, python = all(4, input), all(1, apart)
for i = 1, 4 do
  local same = lua[i]:isSameSizeAs(python[i]) and lua[i]:eq(python[i]):all()
  io.write(tostring(same), ' ')
end
"""

TABLE = "{{1,1},{3,2},{1,3},{3,1},{1,2},{2,4},{2,4}}"
MAP_CASES = [
    f"'SpatialConvolutionMap', {{2,3,7,6}}, {{7,3,2}}, 4, {TABLE}, {{3,4,2,1}}",
    "'SpatialConvolutionMap', {5,1,4,5}, {1,2,2}, 1, {{1,1}}, {1,1,1,1}",
    f"'SpatialFullConvolutionMap', {{3,4,5}}, {{7,3,2}}, 4, {TABLE}, {{3,4,1,2}}",
    "'SpatialSubSampling', {3,4,8,7}, {4}, 4, false, {3,2,2,1}",
]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["Double", "Float"])
def test_lua_gives_the_bits_of_python(
    engine: Engine, capfd: pytest.CaptureFixture[str], case: str, name: str
) -> None:
    assert answers(engine, capfd, PROGRAM % case, name) == ["true"] * 5


@pytest.mark.parametrize("case", MAP_CASES)
@pytest.mark.parametrize("name", ["Double", "Float"])
def test_lua_gives_the_bits_of_python_without_columns(
    engine: Engine, capfd: pytest.CaptureFixture[str], case: str, name: str
) -> None:
    assert answers(engine, capfd, MAPS % case, name) == ["true"] * 4


def answers(engine: Engine, capfd: pytest.CaptureFixture[str], source: str, name: str) -> list[str]:
    """What a program prints for an element type."""
    program = source.replace(":TYPE()", f":{name.lower()}()").replace("TYPE", name)
    engine.run(engine.compile(program.encode()))
    engine.flush()
    return capfd.readouterr().out.split()
