"""Pooling of many planes: the loops that are written for finite numbers, blocks, and threads.

A model of a few lines goes element by element; results must have its bits. Small calls are compared
with the real Torch7 by test_recorded.py.
"""

from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_th

MODEL = data(__file__, "MODEL")


def model(kind: str, kernel: int, stride: int, pad: int, numbers: str = "normal") -> str:
    text = MODEL.replace("KIND", repr(kind)).replace("K,", f"{kernel},", 1)
    return (
        text.replace("D,", f"{stride},", 1)
        .replace("PAD,", f"{pad},", 1)
        .replace("NUMBERS", repr(numbers))
    )


LARGEST = data(__file__, "LARGEST")

WINDOWS = [(2, 2, 0), (3, 2, 1), (9, 7, 2)]


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["Float", "Double"])
@pytest.mark.parametrize("window", WINDOWS)
def test_largest_elements_of_many_planes(lua: Lua, kind: str, window: tuple[int, int, int]) -> None:
    assert lua.run(model(kind, *window) + LARGEST) == "0 0 0 0 0 0 "


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["Float", "Double"])
@pytest.mark.parametrize("numbers", ["special", "tiny"])
def test_largest_of_numbers_that_differ_little_or_are_not_finite(
    lua: Lua, kind: str, numbers: str
) -> None:
    assert lua.run(model(kind, 2, 1, 1, numbers) + LARGEST) == "0 0 0 0 0 0 "


AVERAGES = data(__file__, "AVERAGES")


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["Float", "Double"])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("numbers", ["normal", "special"])
def test_averages_of_many_planes(
    lua: Lua, kind: str, window: tuple[int, int, int], numbers: str
) -> None:
    assert lua.run(model(kind, *window, numbers) + AVERAGES) == "0 near 0 near "


@pytest.mark.parametrize("place", ["17", "-1", "2^32 + 1", "-2^32"])
def test_places_outside_of_a_plane_are_errors(lua: Lua, place: str) -> None:
    message = lua.error(f"""
        require 'nn.THNN'
        local x, g, places = torch.zeros(3, 4, 4), torch.ones(3, 2, 2), torch.LongTensor(3, 2, 2)
        places:fill(5)[2][2][1] = {place}
        x.THNN.SpatialMaxPooling_updateGradInput(x:cdata(), g:cdata(), x:clone():cdata(),
          places:cdata(), 2, 2, 2, 2, 0, 0, false)""")
    assert message == "indices must be places in the input's planes"


def test_results_keep_the_layout_that_they_have(lua: Lua) -> None:
    # Torch7 writes as if the result were contiguous.
    answer = lua.run(data(__file__, "test_results_keep_the_layout_that_they_have"))
    assert answer == "true\ttrue\t5\t1\t\n"


@pytest.mark.thorough
def test_finalizers_that_pool_within_pooling(tmp_path: Path) -> None:
    # A finalizer may run in the middle of a job, and do the same job.
    script = tmp_path / "script.lua"
    script.write_text(data(__file__, "test_finalizers_that_pool_within_pooling"))
    run = run_th(script, timeout=120)
    assert (run.stdout, run.stderr) == ("0 of many", "")
