# pyright: strict
"""Test Lua code by pytest."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest

from th_shell import Engine, LuaError, LuaTable

GEOMETRY = """
function area(a, b)
  if a < 0 or b < 0 then error('no side is negative') end
  return a * b
end
function unit(x) return x / x:norm() end
function each(x, f) for i = 1, x:nElement() do f(i, x[i]) end end
"""
Vector = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(arrays=True) as engine:
        engine.run(GEOMETRY, name="geometry.lua")
        yield engine


@pytest.fixture
def lua(engine: Engine) -> Iterator[LuaTable]:
    with engine.timeout(10):
        yield engine.globals


@pytest.mark.parametrize(("sides", "area"), [((3, 4), 12), ((0.5, 1), 0.5)])
def test_areas(lua: LuaTable, sides: tuple[float, float], area: float) -> None:
    assert lua.area(*sides) == area


def test_negative_sides(lua: LuaTable) -> None:
    with pytest.raises(LuaError, match="^geometry.lua:3: no side is negative"):
        lua.area(-1, 1)


def test_unit(lua: LuaTable) -> None:
    unit: Callable[[Vector], Vector] = lua.unit
    np.testing.assert_allclose(unit(np.array([3.0, 4.0])), [0.6, 0.8])


def test_each(lua: LuaTable) -> None:
    seen: list[tuple[int, float]] = []

    def note(i: int, x: float) -> None:
        seen.append((i, x))

    lua.each(np.array([5.0, 7.0]), note)
    assert seen == [(1, 5.0), (2, 7.0)]
