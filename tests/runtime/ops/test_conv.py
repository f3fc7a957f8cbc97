"""Convolutions: the reference's answers, and any sizes and layouts against plain sums."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import th_shell.runtime.ops  # noqa: F401 (adds the rows)
from tests.conftest import Lua
from tests.data_files import data
from tests.runtime.ops.model import tensor as made
from tests.transcripts import Entry, cases, wrong
from th_shell.runtime.calls.plans import Plans
from th_shell.runtime.calls.table import ALL
from th_shell.runtime.core.dtypes import DOUBLE, FLOAT, LONG, Array, DType
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.ops import conv

entry = Plans().entry

LAYOUTS = ("contiguous", "transposed", "narrowed", "expanded")


@pytest.mark.parametrize("programs", cases("conv"))
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""


def model(x: Array, k: Array, full: bool, flip: bool) -> Array:
    """The convolution of planes x with kernels k (output planes x input planes x ...)."""
    dims = x.ndim - 1
    if flip:
        k = np.flip(k, tuple(range(-dims, 0)))
    if full:
        x = np.pad(x, [(0, 0), *((n - 1, n - 1) for n in k.shape[2:])])
    shape = [size - n + 1 for size, n in zip(x.shape[1:], k.shape[2:], strict=True)]
    out = np.zeros((len(k), *shape), x.dtype)
    for at in product(*map(range, shape)):
        window = x[(slice(None), *(slice(i, i + n) for i, n in zip(at, k.shape[2:], strict=True)))]
        out[(slice(None), *at)] = (window * k).sum(axis=tuple(range(1, k.ndim)), dtype=x.dtype)
    return out


def tensor(values: Array, dtype: DType, layout: str = "contiguous") -> Tensor:
    """A tensor of these values, converted (expanded: of their first slice, repeated)."""
    return made(values.astype(dtype.numpy), dtype, layout)


@st.composite
def problems(draw: st.DrawFn) -> tuple[str, Tensor, Tensor, bool]:
    dims = draw(st.sampled_from((2, 3)))
    form = draw(st.sampled_from(("single", "paired", "summed")))
    dtype = draw(st.sampled_from(ALL))
    kernel = draw(st.tuples(*[st.integers(1, 3)] * (dims - 1), st.integers(1, 14)))
    size = tuple(n + draw(st.integers(0, 4)) for n in kernel)
    planes = draw(st.integers(1, 3))
    x_planes = () if form == "single" else (planes,)
    k_planes = {"single": (), "paired": (planes,), "summed": (draw(st.integers(1, 3)), planes)}
    random = np.random.default_rng(draw(st.integers(0, 99)))
    limit = draw(st.sampled_from((9, 2**30)))

    def some(sizes: tuple[int, ...]) -> Tensor:
        values = random.integers(-limit, limit, sizes)
        return tensor(values, dtype, draw(st.sampled_from(LAYOUTS)))

    name = draw(st.sampled_from(("conv", "xcorr"))) + str(dims)
    return name, some(x_planes + size), some(k_planes[form] + kernel), draw(st.booleans())


def expected(name: str, x: Tensor, k: Tensor, full: bool) -> Array:
    flip, dims = name.startswith("conv"), int(name[-1])
    if x.ndim == dims:
        return model(x.array[None], k.array[None, None], full, flip)[0]
    if k.ndim == x.ndim:
        pairs = zip(x.array[:, None], k.array[:, None, None], strict=True)
        return np.concatenate([model(one, kernel, full, flip) for one, kernel in pairs])
    return model(x.array, k.array, full, flip)


def call(name: str, *args: object) -> None:
    assert entry(name, None)(*args) is None  # the destination is the first argument


@pytest.mark.thorough
@settings(deadline=None, max_examples=150)
@given(problems(), st.booleans())
def test_any_sizes_types_and_layouts(
    problem: tuple[str, Tensor, Tensor, bool], without_blas: bool
) -> None:
    name, x, k, full = problem
    want = expected(name, x, k, full)
    r = type(x)()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conv, "_LARGE", 10**9 if without_blas else 0)
        patch.setattr(conv, "_BLOCK", 8)
        patch.setattr(conv, "_MATRICES", 1)
        call(name, r, x, k, b"F" if full else b"V")
    assert r.sizes == want.shape
    if x.dtype.is_float:
        scale = np.abs(x.array).max() * np.abs(k.array).max() + 1.0
        accuracy = 1e-4 if x.dtype is FLOAT else 1e-12
        np.testing.assert_allclose(r.array / scale, want / scale, rtol=0, atol=accuracy)
    else:
        np.testing.assert_array_equal(r.array, want)


@pytest.mark.parametrize("area", [b"V", b"F"])
@pytest.mark.parametrize("dtype", [DOUBLE, LONG], ids=str)
def test_destination_is_a_source(dtype: DType, area: bytes) -> None:
    values, weights = np.arange(36).reshape(6, 6), np.arange(4).reshape(2, 2)
    x, k = tensor(values, dtype), tensor(weights, dtype)
    want = expected("conv2", x, k, area == b"F")
    call("conv2", x, x, k, area)
    np.testing.assert_array_equal(x.array, want)


@pytest.mark.parametrize("area", [b"V", b"F"])
def test_destination_is_the_kernel(area: bytes) -> None:
    x, k = (tensor(np.arange(n * n).reshape(n, n), DOUBLE) for n in (5, 3))
    want = expected("xcorr2", x, k, area == b"F")
    call("xcorr2", k, x, k, area)
    np.testing.assert_array_equal(k.array, want)


def test_destination_is_a_view_of_a_source() -> None:
    x = tensor(np.arange(36).reshape(6, 6), DOUBLE)
    k = tensor(np.ones((3, 3)), DOUBLE)
    want = expected("conv2", x, k, False)
    r = x.narrow(0, 1, 4).narrow(1, 1, 4)
    call("conv2", r, x, k)
    np.testing.assert_array_equal(x.array[1:5, 1:5], want)
    np.testing.assert_array_equal(x.array[0], np.arange(6))


def test_a_result_that_is_not_contiguous_gets_its_elements_one_behind_the_other(lua: Lua) -> None:
    name = "test_a_result_that_is_not_contiguous_gets_its_elements_one_behind_the_other"
    answer = "9 4 4 13 13 0 0 9\n9 4 4 4 4 9 9 9\n8 8 17 8 8 17 8 8 9 0 0 9\n4 4 13 4 0 9\n"
    assert lua.run(data(__file__, name)) == answer


def test_sources_stay_and_a_wrong_call_changes_nothing() -> None:
    x, k = (tensor(np.arange(n * n).reshape(n, n), DOUBLE) for n in (3, 4))
    r = tensor(np.arange(5), DOUBLE)
    answer = entry("conv2", None)(r, x, k)
    assert answer == b"\2conv2Dmul : Input image is smaller than kernel"
    assert r.array.tolist() == [0, 1, 2, 3, 4]
    call("conv2", r, x, k, b"F")
    assert x.array.tolist() == np.arange(9).reshape(3, 3).tolist()
    assert k.array.tolist() == np.arange(16).reshape(4, 4).tolist()


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_inf_and_nan_reach_only_their_windows(value: float) -> None:
    values = np.ones((60, 70))
    values[30, 69] = value
    r, k = TENSOR_CLASSES[DOUBLE.index](), tensor(np.ones((3, 2)), DOUBLE)
    call("xcorr2", r, tensor(values, DOUBLE), k)
    odd = np.argwhere(r.array != 6).tolist()
    assert odd == [[28, 68], [29, 68], [30, 68]]


def test_planes_have_the_same_bits_alone_and_among_others(lua: Lua) -> None:
    # 61 x 52 with 10 x 15: two planes together are worth another way than one.
    answer = lua.run(data(__file__, "test_planes_have_the_same_bits_alone_and_among_others"))
    assert answer == "same same same same "


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["torch.FloatTensor", "torch.DoubleTensor", "torch.IntTensor"])
@pytest.mark.parametrize("width", [3, 14])  # of the kernel: numpy's correlate takes up to 11
def test_many_small_planes_have_the_bits_of_each_alone(lua: Lua, kind: str, width: int) -> None:
    answer = lua.run(f"""
        for _, mode in ipairs{{'V', 'F'}} do
          local x = torch.randn(200, 3, {width + 2}):mul(100):type('{kind}')
          local k = torch.randn(200, 2, {width}):mul(100):type('{kind}')
          local all = torch.xcorr2(x, k, mode)
          for i = 1, 200 do assert(all[i]:equal(torch.xcorr2(x[i], k[i], mode)), i) end
          io.write(table.concat(all[1]:size():totable(), 'x'), ' ')
        end""")
    assert answer == f"2x3 4x{2 * width + 1} "
