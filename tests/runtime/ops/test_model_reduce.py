"""Reductions, running sums, extrema and order against plain Python."""

import math
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runtime.ops.model import (
    DESTINATIONS,
    Function,
    State,
    along,
    assert_close,
    call,
    check_call,
    destination,
    draw_tensor,
    elements,
    shapes,
)
from th_shell.runtime.calls.table import ALL, TABLE
from th_shell.runtime.core.dtypes import BYTE, LONG, Array, DType
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor

pytestmark = pytest.mark.usefixtures("engine")  # for what LuaJIT does
EXAMPLES = settings(deadline=None, max_examples=15)
P = st.sampled_from([0, 1, 2, 3, 0.5, 1.5])


def product(values: list[Any]) -> Any:
    return reduce(lambda a, b: a * b, values, 1)


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def variance(values: list[float], biased: bool = False) -> float:
    squares = math.fsum((v - mean(values)) ** 2 for v in values)
    count = len(values) - (0 if biased else 1)
    return squares / count if count else math.nan


def deviation(values: list[float], biased: bool = False) -> float:
    return math.sqrt(variance(values, biased))


def norm(values: list[float], p: float) -> float:
    if p == 0:
        return sum(v != 0 for v in values)
    return math.fsum(abs(v) ** p for v in values) ** (1 / p)


REDUCTIONS: dict[str, Function] = {"sum": sum, "prod": product, "mean": mean}
DEVIATIONS: dict[str, Function] = {"var": variance, "std": deviation}
RUNNING: dict[str, Function] = {
    "cumsum": lambda values: list(accumulate(values)),
    "cumprod": lambda values: list(accumulate(values, lambda a, b: a * b)),
}
OTHERS = {"norm", "dist", "renorm", "cross", "trace", "dot", "equal", "all", "any", "numel"}
EXTREMA = {"max", "min"}
ORDER = {"sort", "kthvalue", "median", "mode", "topk"}


def types_of(name: str) -> tuple[DType, ...]:
    return tuple(d for d in ALL if any(d in row.types and row.function for row in TABLE[name]))


@st.composite
def problems(draw: st.DrawFn, name: str) -> tuple[DType, Tensor, int, str]:
    """A tensor, one of its dimensions (from 0), and a kind of destination."""
    dtype = draw(st.sampled_from(types_of(name)))
    sizes = draw(shapes())
    x = draw_tensor(draw, dtype, sizes, special=not dtype.is_float)
    dim = draw(st.integers(0, len(sizes) - 1))
    return dtype, x, dim, draw(st.sampled_from(DESTINATIONS))


def check(
    name: str, kind: str, x: Tensor, args: list[Any], want: Array, sources: list[Tensor]
) -> None:
    expected = elements(want.reshape(-1).tolist(), x.dtype).reshape(want.shape)
    given = destination(kind, x.dtype, want.shape, sources[0])
    check_call(name, [given], args, [expected])


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", REDUCTIONS)
@EXAMPLES
@given(st.data())
def test_reduction(name: str, data: st.DataObject) -> None:
    dtype, x, dim, kind = data.draw(problems(name))
    model = REDUCTIONS[name]
    total = call(name, x)[0]
    want = model(x.array.reshape(-1).tolist())
    if dtype.is_float:
        assert total == pytest.approx(want, rel=1e-5, abs=1e-4)
    else:
        assert total == int(elements([want], LONG)[0])
    check(name, kind, x, [x, dim + 1], along(lambda row: [model(row)], x.array, dim), [x])


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", RUNNING)
@EXAMPLES
@given(st.data())
def test_running(name: str, data: st.DataObject) -> None:
    _, x, dim, kind = data.draw(problems(name))
    check(name, kind, x, [x, dim + 1], along(RUNNING[name], x.array, dim), [x])


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", DEVIATIONS)
@EXAMPLES
@given(st.data())
def test_deviation(name: str, data: st.DataObject) -> None:
    _, x, dim, kind = data.draw(problems(name))
    model, biased = DEVIATIONS[name], data.draw(st.booleans())
    want = model(x.array.reshape(-1).tolist(), biased)
    assert call(name, x, biased) == [pytest.approx(want, rel=1e-5, abs=1e-5, nan_ok=True)]
    want = along(lambda row: [model(row, biased)], x.array, dim)
    check(name, kind, x, [x, dim + 1, biased], want, [x])


@EXAMPLES
@given(st.data())
def test_norm(data: st.DataObject) -> None:
    _, x, dim, kind = data.draw(problems("norm"))
    p = data.draw(P)
    want = norm(x.array.reshape(-1).tolist(), p)
    assert call("norm", x, p) == [pytest.approx(want, rel=1e-5, abs=1e-5)]
    want = along(lambda row: [norm(row, p)], x.array, dim)
    check("norm", kind, x, [x, p, dim + 1], want, [x])


@EXAMPLES
@given(st.data())
def test_distance(data: st.DataObject) -> None:
    dtype, x, _, _ = data.draw(problems("dist"))
    y = draw_tensor(data.draw, dtype, x.sizes, special=False)
    p = data.draw(P.filter(bool))
    want = norm((x.array - y.array).reshape(-1).tolist(), p)
    assert call("dist", x, y, p) == [pytest.approx(want, rel=2e-5, abs=1e-4)]


@EXAMPLES
@given(st.data())
def test_renorm(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(types_of("renorm")))
    x = draw_tensor(data.draw, dtype, data.draw(shapes(2)), special=False)
    dim, p = data.draw(st.integers(0, x.ndim - 1)), data.draw(P.filter(bool))
    most, kind = (
        data.draw(st.sampled_from([0.5, 1.0, 20.0])),
        data.draw(st.sampled_from(DESTINATIONS)),
    )
    want = x.array.astype(np.float64)
    for part in np.moveaxis(want, dim, 0):
        length = norm(part.reshape(-1).tolist(), p)
        part *= most / (length + 1e-7) if length > most else 1
    check("renorm", kind, x, [x, p, dim + 1, most], want, [x])


@EXAMPLES
@given(st.data())
def test_products_of_vectors(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(ALL))
    sizes = list(data.draw(shapes()))
    dim, kind = data.draw(st.integers(0, len(sizes) - 1)), data.draw(st.sampled_from(DESTINATIONS))
    sizes[dim] = 3
    special = not dtype.is_float
    x, y = (draw_tensor(data.draw, dtype, tuple(sizes), special) for _ in range(2))

    def model(row: list[Any]) -> list[Any]:
        a, b = row[:3], row[3:]
        return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]

    both = np.concatenate([x.array, y.array], dim)
    check("cross", kind, x, [x, y, dim + 1], along(model, both, dim), [x])


@EXAMPLES
@given(st.data())
def test_to_a_number(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(ALL))
    special = not dtype.is_float
    x, y = (draw_tensor(data.draw, dtype, (3, 4), special) for _ in range(2))
    exact = [[int(v) if special else v for v in row] for row in x.array.tolist()]
    want = sum(exact[i][i] for i in range(3))
    want = int(elements([want], LONG)[0]) if special else want
    assert call("trace", x) == [pytest.approx(want, rel=1e-5)]
    assert call("numel", x) == [12]
    assert call("equal", x, y) == [bool((x.array == y.array).all())]
    assert call("equal", x, TENSOR_CLASSES[dtype.index].of(x.array.copy())) == [True]
    assert call("equal", x, x.narrow(0, 0, 2)) == [False]
    if dtype.is_float:
        want = math.fsum((x.array.astype(float) * y.array).reshape(-1).tolist())
        assert call("dot", x, y) == [pytest.approx(want, rel=1e-4, abs=1e-3)]


@EXAMPLES
@given(st.data())
def test_whole_dot_products_wrap(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([d for d in ALL if not d.is_float]))
    x, y = (draw_tensor(data.draw, dtype, (5,), layout="contiguous") for _ in range(2))
    want = sum(a * b for a, b in zip(x.array.tolist(), y.array.tolist(), strict=True))
    assert call("dot", x, y) == [int(elements([want], dtype)[0])]


@EXAMPLES
@given(st.data())
def test_all_and_any(data: st.DataObject) -> None:
    x = draw_tensor(data.draw, BYTE, data.draw(shapes()), of=st.integers(0, 2))
    assert call("all", x) == [bool(x.array.all())]
    assert call("any", x) == [bool(x.array.any())]


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", sorted(EXTREMA))
@EXAMPLES
@given(st.data())
def test_extremum(name: str, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(ALL))
    x = draw_tensor(data.draw, dtype, data.draw(shapes()))
    dim, kind = data.draw(st.integers(0, x.ndim - 1)), data.draw(st.sampled_from(DESTINATIONS))

    def place(row: list[Any]) -> int:
        nan = [i for i, v in enumerate(row) if v != v]
        return nan[0] if nan else row.index(max(row) if name == "max" else min(row))

    flat = x.array.reshape(-1).tolist()
    assert call(name, x) == [pytest.approx(flat[place(flat)], nan_ok=True)]
    values = along(lambda row: [row[place(row)]], x.array, dim)
    places = along(lambda row: [place(row) + 1], x.array, dim)
    expected = [elements(values.reshape(-1).tolist(), dtype).reshape(values.shape), places]
    check_call(name, destinations(kind, x, values.shape), [x, dim + 1], expected)


def destinations(kind: str, x: Tensor, sizes: tuple[int, ...]) -> list[Tensor | None]:
    """For values and places: both or none."""
    values = destination(kind, x.dtype, sizes, x)
    if values is None:
        return [None, None]
    other = kind if kind != "source" else "given"
    return [values, destination(other, LONG, sizes, TENSOR_CLASSES[LONG.index]())]


@st.composite
def order_problems(draw: st.DrawFn) -> tuple[Tensor, int, str]:
    """A tensor with many equal elements, perhaps long rows."""
    dtype = draw(st.sampled_from(ALL))
    sizes = draw(
        shapes() | st.tuples(st.integers(8, 30)) | st.tuples(st.just(2), st.integers(8, 30))
    )
    x = draw_tensor(draw, dtype, sizes, special=not dtype.is_float)
    dim = draw(st.integers(0, len(sizes) - 1))
    return x, dim, draw(st.sampled_from(DESTINATIONS))


def check_order(name: str, kind: str, x: Tensor, args: list[Any], want: Array, dim: int) -> Array:
    """Assert the values, and that the places are theirs; returns the places from 0."""
    source = x.array.copy()
    expected = elements(want.reshape(-1).tolist(), x.dtype).reshape(want.shape)
    given = destinations(kind, x, want.shape)
    before = State(x)
    values, places = call(name, *[r for r in given if r is not None], x, *args)
    before.check(*given)
    assert values.sizes == places.sizes == want.shape
    assert_close(values.array, expected, x.dtype)
    at = places.array - 1
    np.testing.assert_array_equal(np.take_along_axis(source, at, dim), values.array)
    return at


@pytest.mark.thorough
@EXAMPLES
@given(order_problems(), st.booleans())
def test_sort(problem: tuple[Tensor, int, str], descending: bool) -> None:
    x, dim, kind = problem
    want = along(lambda row: sorted(row, reverse=descending), x.array, dim)
    at = check_order("sort", kind, x, [dim + 1, descending], want, dim)
    assert (np.sort(at, dim) == along(lambda row: list(range(len(row))), at, dim)).all()


@pytest.mark.thorough
@EXAMPLES
@given(order_problems(), st.data())
def test_order_statistics(problem: tuple[Tensor, int, str], data: st.DataObject) -> None:
    x, dim, _ = problem
    n = x.sizes[dim]
    k = data.draw(st.integers(1, n))
    want = along(lambda row: [sorted(row)[k - 1]], x.array, dim)
    check_order("kthvalue", "fresh", x, [k, dim + 1], want, dim)
    want = along(lambda row: [sorted(row)[(n - 1) // 2]], x.array, dim)
    check_order("median", "given", x, [dim + 1], want, dim)


@EXAMPLES
@given(order_problems())
def test_mode(problem: tuple[Tensor, int, str]) -> None:
    x, dim, kind = problem
    want = along(lambda row: [min(row, key=lambda v: (-row.count(v), v))], x.array, dim)
    check_order("mode", kind, x, [dim + 1], want, dim)


@pytest.mark.thorough
@EXAMPLES
@given(order_problems(), st.booleans(), st.booleans(), st.data())
def test_topk(
    problem: tuple[Tensor, int, str], largest: bool, in_order: bool, data: st.DataObject
) -> None:
    x, dim, _ = problem
    k = data.draw(st.integers(1, x.sizes[dim]))
    want = along(lambda row: sorted(row, reverse=largest)[:k], x.array, dim)
    if in_order:
        check_order("topk", "fresh", x, [k, dim + 1, largest, True], want, dim)
        return
    values, places = call("topk", x, k, dim + 1, largest)
    found = along(lambda row: sorted(row, reverse=largest), values.array, dim)
    np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(np.take_along_axis(x.array, places.array - 1, dim), values.array)


@pytest.mark.parametrize("name", ["sort", "median", "kthvalue", "mode"])
def test_nan_is_one_of_the_elements(name: str) -> None:
    x = TENSOR_CLASSES[6].of(np.array([3, np.nan, 1, np.nan, 2, 5, 4.0]))
    values, places = call(name, x, *([3] if name == "kthvalue" else []))
    at = places.array - 1
    np.testing.assert_array_equal(x.array[at], values.array)
    assert len(set(at.tolist())) == len(at)


@pytest.mark.parametrize("largest", [2**53 + 1, 2**62 + 3, -(2**62) - 5])
def test_order_of_whole_numbers_that_doubles_confuse(largest: int) -> None:
    values = [largest, largest - 2, largest - 1, largest, largest - 3]
    x = TENSOR_CLASSES[LONG.index].of(np.array(values))
    assert call("sort", x)[0].array.tolist() == sorted(values)
    assert call("median", x)[0].array.tolist() == [sorted(values)[2]]
    assert call("mode", x)[0].array.tolist() == [largest]
    assert call("max", x, 1)[1].array.tolist() == [1]


def test_all_functions_have_a_model() -> None:
    modules = {f"th_shell.runtime.ops.{name}" for name in ("reduce", "order")}
    names = {n for n, rows in TABLE.items() if rows[0].implementation.__module__ in modules}
    assert names - {*REDUCTIONS, *DEVIATIONS, *RUNNING, *OTHERS, *EXTREMA, *ORDER} == set()
