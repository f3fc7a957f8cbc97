"""Tensors that threads write: equal steps, one number, and large tensors joined."""

import numpy as np
import pytest

import th_shell.torch as torch


@pytest.mark.parametrize("count", [100_000, 250_001])
def test_equal_steps_have_the_bits_of_their_formula(count: int) -> None:
    at = np.arange(count, dtype=np.float64)
    steps = torch.arange(0, count * 0.25 - 0.1, 0.25, dtype=torch.float64).numpy()
    assert (steps == at * 0.25).all()
    line = torch.linspace(-3, 5, count, dtype=torch.float64).numpy()
    step = 8 / (count - 1)
    half = count // 2
    assert (line[:half] == at[:half] * step - 3).all()
    assert (line[half:] == (at[half:] - (count - 1)) * step + 5).all()


def test_one_number_fills_all_elements() -> None:
    assert (torch.full((3, 50_001), 1.5).numpy() == np.float32(1.5)).all()


def test_large_tensors_are_joined_in_order() -> None:
    a, b = torch.rand(300, 1000), torch.rand(250, 1000)
    joined = torch.cat([a, b]).numpy()
    assert (joined == np.concatenate([a.numpy(), b.numpy()])).all()
    assert (torch.stack([a, a + 1]).numpy() == np.stack([a.numpy(), a.numpy() + 1])).all()
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        torch.cat([a, torch.rand(300, 1001)])
