"""Functions of elements: nothing is written before an error."""

from __future__ import annotations

import pytest

import runtime.pytorch as torch
from runtime.compute.thread_pool import LARGE


@pytest.mark.parametrize("count", [3, 2 * LARGE])
@pytest.mark.parametrize("name", ["remainder_", "floor_divide_", "fmod_"])
def test_division_by_zero_changes_nothing(name: str, count: int) -> None:
    tensor = torch.full((count,), 6)
    divisor = torch.full((count,), 4)
    divisor[-1] = 0
    with pytest.raises(RuntimeError, match="^ZeroDivisionError$"):
        getattr(tensor, name)(divisor)
    assert bool((tensor == 6).all())
