"""Where the reference's mathematics surprises: destinations, wrapping, nan, limits, errors."""

import pytest

from tests.conftest import Lua
from tests.transcripts import cases, normal


@pytest.mark.parametrize(("source", "printed"), cases("math"))
def test_as_the_reference(lua: Lua, source: str, printed: str) -> None:
    assert normal(lua.answer(source)) == printed


@pytest.mark.parametrize("step", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["Float", "Double"])
def test_elements_apart_are_negated(lua: Lua, dtype: str, step: int) -> None:
    """numpy's loop reads others than these where floats are 16 bytes apart."""
    lua(f"x = torch.{dtype}Tensor(6, {step}):fill(9) column = x:select(2, 1)")
    lua("for i = 1, 6 do column[i] = i end column:neg()")
    assert lua("print(table.concat(column:totable(), ' '))") == "-1 -2 -3 -4 -5 -6\t\n"
    lua("y = torch.sigmoid(column) - torch.sigmoid(column:clone())")
    assert lua("print(y:abs():max() < 1e-7, x:max())").split() == ["true", "9"]
