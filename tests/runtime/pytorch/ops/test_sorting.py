"""Sorting and selecting, of few elements and of many, as numpy does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import th_shell.torch as torch
from th_shell.runtime.core.dtypes import Array

ROWS = arrays.arrays(
    np.float64,
    arrays.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=20),
    elements=st.sampled_from([-1.0, 0.0, -0.0, 1.0, 2.0, 1.5, np.inf, np.nan]),
)


@pytest.mark.thorough
@given(array=ROWS, data=st.data())
def test_floats(array: Array, data: st.DataObject) -> None:
    dim = data.draw(st.integers(-array.ndim, array.ndim - 1))
    x = torch.from_numpy(array)
    in_order = np.sort(array, dim)
    for descending in (False, True):
        values, at = x.sort(dim, descending)
        expected = np.flip(in_order, dim) if descending else in_order
        np.testing.assert_array_equal(values.numpy(), expected)
        np.testing.assert_array_equal(np.take_along_axis(array, at.numpy(), dim), expected)
        k = data.draw(st.integers(1, array.shape[dim]))
        top = x.topk(k, dim, largest=descending).values
        np.testing.assert_array_equal(top.numpy(), np.take(expected, range(k), dim))
    kth = x.kthvalue(k, dim).values.numpy()
    np.testing.assert_array_equal(kth, np.take(in_order, k - 1, dim))


@pytest.mark.thorough
@given(array=ROWS)
def test_equal_elements_stay_in_their_order(array: Array) -> None:
    x, n = torch.from_numpy(array), array.shape[-1]
    order = np.argsort(array, -1, kind="stable")
    np.testing.assert_array_equal(x.argsort(dim=-1).numpy(), order)
    for k in range(1, n + 1):
        at = x.topk(k, largest=False).indices.numpy()
        np.testing.assert_array_equal(at, order[..., :k])
        np.testing.assert_array_equal(x.kthvalue(k).indices.numpy(), order[..., k - 1])


@pytest.mark.parametrize(("different", "is_unknown"), [(7, False), (10**9, False), (10**9, True)])
@pytest.mark.parametrize("largest", [False, True])
def test_few_of_many_are_the_first_in_order(
    different: int, is_unknown: bool, largest: bool
) -> None:
    numbers = np.random.default_rng(0).integers(0, different, (2, 3000)).astype(np.float64)
    if is_unknown:  # one more that is like the fourth stands for the nan
        numbers[:, 17] = np.nan
        fourth = np.argsort(-numbers if largest else numbers, -1)[:, 3:4]
        numbers[:, 18:19] = np.take_along_axis(numbers, fourth, -1)
    order = np.argsort(-numbers if largest else numbers, -1, kind="stable")
    if is_unknown and largest:
        order = np.roll(order, 1, -1)  # numpy puts a nan last
    at = torch.from_numpy(numbers).topk(5, largest=largest).indices
    np.testing.assert_array_equal(at.numpy(), order[:, :5])


def test_few_of_many_where_the_least_number_is_among_them() -> None:
    numbers = np.full((2, 3000), -np.inf)
    numbers[:, 7] = 1
    values, at = torch.from_numpy(numbers).topk(3)
    assert values.tolist() == [[1, -np.inf, -np.inf]] * 2
    assert at.tolist() == [[7, 0, 1]] * 2
    assert torch.from_numpy(numbers).topk(0).indices.shape == (2, 0)


def test_of_equal_elements_the_last_is_a_mode_and_the_one_in_the_middle_a_median() -> None:
    x = torch.tensor([3.0, 1, 1, 3, 1, 3])
    assert x.mode().indices.item() == 4
    assert x.median(0).indices.item() == 4
    assert torch.full((3,), torch.nan).nanmedian(0).indices.item() == 0


@pytest.mark.parametrize("different", [5, 10**9])
def test_many_elements(different: int) -> None:
    numbers = np.random.default_rng(0).integers(0, different, 200_000)
    x = torch.from_numpy(numbers)
    in_order = np.sort(numbers)
    values, at = x.sort()
    assert (values.numpy() == in_order).all()
    assert (numbers[at.numpy()] == in_order).all()
    assert x.topk(7).values.tolist() == in_order[:-8:-1].tolist()
    assert x.kthvalue(1000).values.item() == in_order[999]
    assert x.median().item() == x.median(0).values.item() == in_order[99_999]


@pytest.mark.thorough
@given(
    array=arrays.arrays(
        np.int64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(0, 3)
    )
)
def test_unique_of_slices(array: Array) -> None:
    for dim in (0, 1):
        found = torch.from_numpy(array).unique(True, True, True, dim)
        expected = np.unique(array, True, True, True, axis=dim)
        assert [part.tolist() for part in found] == [
            expected[0].tolist(),
            expected[2].reshape(-1).tolist(),
            expected[3].tolist(),
        ]
