"""Sums, averages and variances of many numbers, against numpy's in float64."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch
from th_shell.runtime.compute import thread_pool
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.torch.compute import reductions
from th_shell.torch.tensors.tensor import wrap

SHAPES = ((LARGE + 7,), (300, 301), (7, 20001), (20001, 7), (50, 40, 60), (2, 3, 20001))
AXES: tuple[Any, ...] = (None, 0, -1, (0, 1), (0, -1))


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(thread_pool, "free_threads", lambda count: count)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def _values(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).normal(3, size=shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
def test_is_what_numpy_has(shape: tuple[int, ...]) -> None:
    values = _values(*shape)
    wide = values.astype(np.float64)
    tensor: Any = wrap(values)
    axes = [dim for dim in AXES if len(shape) > 1 or not isinstance(dim, tuple)]
    for dim, keepdim, name in product(axes, (False, True), ("sum", "mean", "std", "var")):
        more = {"ddof": 1} if name in ("std", "var") else {}
        expected = getattr(np, name)(wide, axis=dim, keepdims=keepdim, **more)
        found = getattr(tensor, name)(dim, keepdim=keepdim).array
        case = f"{name}({dim}, keepdim={keepdim})"
        assert (found.shape, found.dtype) == (expected.shape, np.float32), case
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=case)


@pytest.mark.parametrize("array", [_values(300, 301).T, _values(70000, 2)[:, 1], _values(9)])
def test_leaves_others_to_numpy(array: Array) -> None:
    assert reductions.total(array, (0,), False) is None
    assert not reductions.sums_so_far(array, np.empty_like(array))
    tensor: Any = wrap(array)
    np.testing.assert_allclose(tensor.sum(0).array, array.sum(0, np.float64), rtol=1e-5)
    np.testing.assert_allclose(tensor.cumsum(0).array, array.cumsum(0, np.float64), rtol=1e-6)
    np.testing.assert_allclose(tensor.std(0).array, array.std(0, np.float64, ddof=1), rtol=1e-5)


# Some bits of a nan are other values for Lua.
@pytest.mark.parametrize("bits", [0xFFFFFFFF, 0x7FC00000, 0xFFC00001, 0x7F800000, 0xFF800000])
def test_nans_and_infinities_stay_in_python(bits: int) -> None:
    values = _values(2, LARGE)
    values.view(np.uint32)[0, 5] = bits
    tensor: Any = wrap(values)
    assert reductions.spread(values, (1,)) is None
    assert not reductions.sums_so_far(values, np.empty_like(values))
    for row in (tensor.sum(1), tensor.mean(1), tensor.cumsum(1)[:, -1]):
        np.testing.assert_array_equal(row.array[0], values[0, 5])
        assert np.isfinite(row.array[1])
    assert tensor.std(1).isnan().tolist() == [True, False]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(LARGE + 1,), (3, LARGE)])
def test_equal_numbers_have_no_variance(kind: Any, shape: tuple[int, ...]) -> None:
    tensor: Any = wrap(np.full(shape, 0.1, np.float32).astype(kind))
    assert not tensor.std(-1).array.any()


def test_a_small_variance_far_from_0_is_kept() -> None:
    values = 4096 + _values(LARGE).astype(np.float64)
    tensor: Any = wrap(values)
    np.testing.assert_allclose(tensor.var().array, values.var(ddof=1), rtol=1e-10)


def test_sums_so_far_are_rounded_from_float64() -> None:
    values = _values(3, LARGE)
    tensor: Any = wrap(values)
    expected = values.cumsum(1, np.float64).astype(np.float32)
    np.testing.assert_array_equal(tensor.cumsum(1).array, expected)


@pytest.mark.parametrize("count", [1, 3])
def test_has_the_same_bits_at_any_load(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tensor: Any = wrap(_values(5 * LARGE + 3))

    def bits() -> bytes:
        parts = (tensor.sum(), tensor.std(), tensor.mean(), tensor.cumsum(0))
        return b"".join(part.array.tobytes() for part in parts)

    before = bits()
    monkeypatch.setattr(thread_pool, "free_threads", lambda _: count)
    torch.set_num_threads(count)
    assert bits() == before
