"""Convolutions of few elements: Lua, once the results have their sizes, gives Python's bits."""

from collections.abc import Iterator

import pytest

from tests.data_files import data
from th_shell.runtime.shell import Engine

# Each function runs with an input that has gaps, by Python, as it is the first such call, and with
# contiguous elements, from the third time on by Lua. Then it prints whether all bits of the results
# are the same.
PROGRAM = data(__file__, "PROGRAM")

CASES = data(__file__, "CASES")

# The same for functions that get no columns: kernels between planes that a table connects, and
# SpatialSubSampling, which has no table.
MAPS = data(__file__, "MAPS")

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
