"""Layers with a table of connections take input with planes that no connection names."""

from __future__ import annotations

import pytest

from tests.conftest import Lua

_HEAD = """
require 'nn.THNN'
local function filled(...)
  local x, i = torch.Tensor(...), 0
  return x:apply(function() i = i + 1 return (i * 37) % 19 / 7 - 1 end)
end
local function sums(...)
  local text = {}
  for i, x in ipairs{ ... } do
    text[i] = ('%.5f'):format(filled(x:size()):cmul(x):sum())
  end
  return table.concat(text, ' ')
end
local function trained(name, ...)
  local x, y, dx = filled(...), torch.Tensor(), torch.Tensor()
  local w, b, dw, db = filled(2, 2, 2), filled(2), torch.zeros(2, 2, 2), torch.zeros(2)
  local t, c = torch.Tensor{ { 1, 1 }, { 2, 2 } }, x.THNN
  local p = { w:cdata(), b:cdata(), t:cdata(), 2, 2, 1, 1 }
  c[name .. '_updateOutput'](x:cdata(), y:cdata(), unpack(p))
  c[name .. '_updateGradInput'](x:cdata(), y:cdata(), dx:cdata(), unpack(p))
  p[1], p[2] = dw:cdata(), db:cdata()
  p[#p + 1] = 1
  c[name .. '_accGradParameters'](x:cdata(), y:cdata(), unpack(p))
  print(sums(y, dx, dw, db))
end
"""


@pytest.mark.parametrize(
    ("name", "sizes", "printed"),
    [  # What the real Torch7 prints.
        ("SpatialConvolutionMap", "3, 4, 3", "47.63265 211.21949 211.21949 72.53061"),
        ("SpatialConvolutionMap", "2, 3, 4, 3", "69.10787 297.35943 297.35943 123.60350"),
        ("SpatialFullConvolutionMap", "3, 2, 2", "39.56560 197.80758 197.80758 101.01166"),
    ],
)
def test_planes_without_connections(lua: Lua, name: str, sizes: str, printed: str) -> None:
    assert lua.answer(f"{_HEAD} trained('{name}', {sizes})").strip() == printed
