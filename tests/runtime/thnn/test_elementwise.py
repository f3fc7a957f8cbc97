"""Layers that go element by element keep what the reference keeps: signs of zeros, and nans."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

_ELEMENTS = "-0.0, 0, -2, 7, 0 / 0, 1"


@pytest.mark.sample(9)
@pytest.mark.parametrize("count", [1, 30_000], ids=["few", "many"])
@pytest.mark.parametrize("kind", ["Float", "Double"])
@pytest.mark.parametrize(("bounds", "in_place", "result"), data(__file__, "test_hard_tanh"))
def test_hard_tanh(
    lua: Lua, bounds: str, in_place: bool, result: str, kind: str, count: int
) -> None:
    lua(f"""
    require 'nn.THNN'
    x, y = torch.{kind}Tensor{{{{{_ELEMENTS}}}}}:repeatTensor({count}, 1), torch.{kind}Tensor()
    for _ = 1, 3 do
      local z = x:clone()
      x.THNN.HardTanh_updateOutput(z:cdata(), y:cdata(), {bounds}, {str(in_place).lower()})
    end
    words = {{}}
    for _, row in ipairs{{ 1, {count} }} do
      for k = 1, 6 do
        local v = y[row][k]
        words[#words + 1] = v ~= v and 'nan' or tostring(v)
      end
    end""")
    assert lua("print(table.concat(words, ' '))") == f"{result} {result}\t\n"


@pytest.mark.parametrize("count", [1, 40_000], ids=["few", "many"])
@pytest.mark.parametrize("kind", ["Float", "Double"])
def test_pooling_keeps_the_first_of_zeros(lua: Lua, kind: str, count: int) -> None:
    lua(f"""
    require 'nn.THNN'
    x = torch.{kind}Tensor{{{{ 0, -0.0, -0.0, 0, -1, -0.0 }}, {{ -0.0, 0, 0, 0, -0.0, 0 }}}}
    x = x:repeatTensor({count}, 1, 1)
    y, i = torch.{kind}Tensor(), torch.LongTensor()
    for _ = 1, 3 do
      x.THNN.SpatialMaxPooling_updateOutput(
        x:cdata(), y:cdata(), i:cdata(), 2, 2, 2, 2, 0, 0, false)
    end
    words = {{}}
    for _, plane in ipairs{{ 1, {count} }} do
      for k = 1, 3 do
        words[#words + 1] = tostring(y[plane][1][k])
        words[#words + 1] = i[plane][1][k]
      end
    end""")
    assert lua("print(table.concat(words, ' '))") == "0 1 -0 3 -0 6 0 1 -0 3 -0 6\t\n"


_RUN = data(__file__, "_RUN")


@pytest.mark.parametrize("rows", [5, 5000])
@pytest.mark.parametrize(
    ("program", "most"),
    data(__file__, "test_what_is_computed_with_doubles"),
    ids=["LogSigmoid", "LogSoftMax", "SoftMax"],
)
def test_what_is_computed_with_doubles(lua: Lua, program: str, most: float, rows: int) -> None:
    """The part of the results that differs from the reference's, as double precision gives them."""
    lua(_RUN.replace("ROWS", str(rows)) + program)
    assert float(lua("print(part)")) <= most
