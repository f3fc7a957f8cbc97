"""Where the reference's mathematics surprises: destinations, wrapping, nan, limits, errors."""

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.transcripts import Entry, cases, wrong


@pytest.mark.thorough
@pytest.mark.parametrize("programs", cases("math"))
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""


@pytest.mark.parametrize("step", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["Float", "Double"])
def test_elements_apart_are_negated(lua: Lua, dtype: str, step: int) -> None:
    """numpy's loop reads others than these where floats are 16 bytes apart."""
    lua(f"x = torch.{dtype}Tensor(6, {step}):fill(9) column = x:select(2, 1)")
    lua("for i = 1, 6 do column[i] = i end column:neg()")
    assert lua("print(table.concat(column:totable(), ' '))") == "-1 -2 -3 -4 -5 -6\t\n"
    lua("y = torch.sigmoid(column) - torch.sigmoid(column:clone())")
    assert lua("print(y:abs():max() < 1e-7, x:max())").split() == ["true", "9"]


@pytest.mark.parametrize("dtype", ["Float", "Double"])
@pytest.mark.parametrize("vector", ["b", "m:select(1, 2)", "torch.randn(80, 2):t()[1]"])
def test_many_elements_get_products_added(lua: Lua, dtype: str, vector: str) -> None:
    """Also where a factor is part of the matrix, or has gaps."""
    lua(f"torch.setdefaulttensortype('torch.{dtype}Tensor')")
    lua("m, a, b = torch.randn(60, 80), torch.randn(60), torch.randn(80)")
    lua(f"v = {vector} w, before = v:clone(), m:clone()")
    lua("m:addr(1, m, 0.5, a, v)")
    lua("e = before + torch.mm(a:view(60, 1), w:view(1, 80)) * 0.5")
    assert lua("print((m - e):abs():max() < 1e-5)") == "true\t\n"
    lua("n = torch.randn(60, 30) k = torch.randn(30, 80) m:addmm(0, m, 1, n, k)")
    assert lua("print((m - torch.mm(n, k)):abs():max() == 0)") == "true\t\n"
    lua("s = torch.randn(50, 50) q = s:clone() s:addmm(0, s, 1, s, s)")
    assert lua("print((s - torch.mm(q, q)):abs():max() == 0)") == "true\t\n"


@pytest.mark.parametrize(("call", "result"), data(__file__, "test_what_torch7_leaves_open"))
def test_what_torch7_leaves_open(lua: Lua, call: str, result: str) -> None:
    """runtime/differences.md tells these."""
    lua("m = torch.Tensor{{0 / 0, 1}, {2, 3}}")
    assert lua(f"print(table.concat(({call}):totable(), ' '))") == f"{result}\t\n"


@pytest.mark.parametrize("layout", ["x", "x:t()", "x:narrow(2, 2, 3)"])
@pytest.mark.parametrize("at", [2, 8, 12])
@pytest.mark.parametrize("rows", [3, 40_000])
def test_one_nan_is_the_maximum(lua: Lua, rows: int, at: int, layout: str) -> None:
    lua(f"x = torch.ones({rows}, 4) x:view(-1)[{at}] = 0 / 0 y = {layout} a, b = y:max(), y:min()")
    assert lua("print(a ~= a, b ~= b)") == "true\ttrue\t\n"
