"""Parts in brackets: the strides of new dimensions, as PyTorch has them."""

from __future__ import annotations

from typing import Any

import pytest

import th_shell.torch as torch

_PARTS: list[tuple[Any, tuple[int, ...]]] = [
    (None, (25, 5, 1)),
    ((slice(None), None), (5, 5, 1)),
    ((..., None), (5, 1, 1)),
    ((0, None), (5, 1)),
    ((None, slice(1, 3)), (25, 5, 1)),
    ((None, 0, None, slice(1, 3)), (25, 5, 1)),
]


@pytest.mark.parametrize(("index", "strides"), _PARTS)
def test_strides_of_new_dimensions(index: Any, strides: tuple[int, ...]) -> None:
    tensor = torch.zeros(5, 5)
    part = tensor[index]
    assert part.stride() == strides
    part.fill_(1)
    assert tensor.sum().item() == part.numel()


def test_a_new_dimension_of_an_expanded_tensor() -> None:
    assert torch.tensor(2.0).expand(1)[None].stride() == (0, 0)


def test_many_steps_are_those_of_few() -> None:
    steps = torch.linspace(-3, 12, 100_001, dtype=torch.float64)
    step = 15 / 100_000
    assert steps[:3].tolist() == [-3 + step * n for n in range(3)]
    assert steps[-3:].tolist() == [12 - step * n for n in (2, 1, 0)]
    numbers = torch.arange(0, 50_000, 0.5, dtype=torch.float64)
    assert numbers.tolist() == [0.5 * n for n in range(100_000)]
