"""Sums and other reductions as numpy's, and sums of many numbers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import th_shell.torch as torch
from th_shell.runtime.core.dtypes import Array

SHAPES = arrays.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=9)
WHOLE = arrays.arrays(np.int64, SHAPES, elements=st.integers(-9, 9))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sum", np.sum),
        ("prod", np.prod),
        ("amax", np.max),
        ("amin", np.min),
        ("argmax", np.argmax),
        ("argmin", np.argmin),
        ("all", np.all),
        ("any", np.any),
        ("cumsum", np.cumsum),
        ("cumprod", np.cumprod),
        ("count_nonzero", np.count_nonzero),
    ],
)
@settings(max_examples=30)
@given(array=WHOLE, data=st.data())
def test_whole_numbers(name: str, expected: Any, array: Array, data: st.DataObject) -> None:
    dim = data.draw(st.integers(-array.ndim, array.ndim - 1))
    x = torch.tensor(array.tolist())
    turned = x.transpose(0, -1)
    for tensor, numbers in ((x, array), (turned, np.swapaxes(array, 0, -1))):
        found = getattr(tensor, name)(dim=dim)
        assert found.tolist() == expected(numbers, axis=dim).tolist()
        assert found.is_contiguous()


@pytest.mark.thorough
@given(array=arrays.arrays(np.float32, SHAPES, elements=st.floats(-99, 99, width=32)))
def test_sums_are_as_exact_as_floats_are(array: Array) -> None:
    x = torch.tensor(array.tolist())
    wide = array.astype(np.float64)
    for dim in range(array.ndim):
        limit = 1e-6 * np.abs(wide).sum(dim) + 1e-30
        assert (np.abs(x.sum(dim).numpy() - wide.sum(dim)) <= limit).all()
        assert (np.abs(x.mean(dim).numpy() - wide.mean(dim)) <= limit).all()


@pytest.mark.parametrize("shape", [(100_000,), (100_000, 3), (3, 100_000), (2, 50_000, 2)])
def test_sums_of_many_numbers_keep_their_digits(shape: tuple[int, ...]) -> None:
    x = torch.full(shape, 0.1)
    exact = np.float32(0.1).astype(np.float64)
    for dim, size in enumerate(shape):
        assert np.allclose(x.sum(dim).numpy(), exact * size, rtol=1e-6, atol=0)
    assert x.sum().item() == pytest.approx(exact * np.prod(shape), rel=1e-6)


def test_float16_is_added_in_float32() -> None:
    assert torch.ones(4096, dtype=torch.float16).sum().item() == 4096
    assert torch.full((2, 4096), 0.5, dtype=torch.float16).sum(1).tolist() == [2048, 2048]
