"""Indexing by vectors, tensors and masks against plain Python; construction from tensors."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runtime.ops.model import (
    DESTINATIONS,
    LAYOUTS,
    State,
    assert_close,
    call,
    check_call,
    destination,
    draw_tensor,
    elements,
    numbers,
    shapes,
)
from th_shell.runtime.calls.table import ALL, TABLE
from th_shell.runtime.core.dtypes import BYTE, LONG, Array, DType
from th_shell.runtime.core.tensor import Tensor

EXAMPLES = settings(deadline=None, max_examples=25)
WRITABLE = tuple(layout for layout in LAYOUTS if layout != "expanded")


@st.composite
def problems(draw: st.DrawFn, writable: bool = False) -> tuple[Tensor, int, str]:
    """A tensor, one of its dimensions (from 0), and a kind of destination."""
    dtype = draw(st.sampled_from(ALL))
    sizes = draw(shapes())
    layout = draw(st.sampled_from(WRITABLE)) if writable else None
    x = draw_tensor(draw, dtype, sizes, special=not dtype.is_float, layout=layout)
    return x, draw(st.integers(0, len(sizes) - 1)), draw(st.sampled_from(DESTINATIONS))


def positions(draw: Any, sizes: tuple[int, ...], most: int) -> Tensor:
    """A LongTensor of positions from 1."""
    return draw_tensor(draw, LONG, sizes, of=st.integers(1, most))


def at(places: tuple[int, ...], dim: int, place: int) -> tuple[int, ...]:
    return places[:dim] + (place,) + places[dim + 1 :]


def every(sizes: tuple[int, ...]) -> product[tuple[int, ...]]:
    return product(*map(range, sizes))


def check_change(x: Tensor, name: str, args: list[Any], want: Array, last: bool) -> None:
    """A method that changes its self (and may return its last argument) and nothing else."""
    before, others = State(*args), memory_outside(x)
    results = call(name, x, *args, dtype=x.dtype)
    before.check()
    np.testing.assert_array_equal(memory_outside(x), others)
    assert_close(x.array, want, x.dtype)
    assert len(results) == 1
    expected = args[-1] if last else x
    assert results[0] is expected or results[0] == expected


def memory_outside(x: Tensor) -> Array:
    """The elements of the storage that a tensor does not reach."""
    assert x.storage is not None
    outside = np.ones(len(x.storage.data), bool)
    offsets = [
        x.offset + sum(i * s for i, s in zip(place, x.strides, strict=True))
        for place in every(x.sizes)
    ]
    outside[offsets] = False
    return x.storage.data[outside]  # type: ignore[no-any-return]


@EXAMPLES
@given(st.data())
def test_index(data: st.DataObject) -> None:
    x, dim, kind = data.draw(problems())
    index = positions(data.draw, (data.draw(st.integers(1, 5)),), x.sizes[dim])
    want = np.stack([x.array.take(i - 1, dim) for i in index.array.tolist()], dim)
    kind = kind if kind != "source" or want.shape == x.sizes else "given"
    r = destination(kind, x.dtype, want.shape, x)
    if r is x:  # slices are read that were written before
        want = x.array.copy()
        slices = np.moveaxis(want, dim, 0)
        for k, i in enumerate(index.array.tolist()):
            slices[k] = slices[i - 1]
    before = State(x, index)
    results = call("index", *([r] if r is not None else []), x, dim + 1, index, dtype=x.dtype)
    before.check(r)
    assert results[0] is index if r is not None else isinstance(results[0], type(x))
    result = results[0] if r is None else r
    assert result.sizes == want.shape
    assert_close(result.array, want, x.dtype)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["indexCopy", "indexAdd"])
@EXAMPLES
@given(st.data())
def test_index_write(name: str, data: st.DataObject) -> None:
    x, dim, _ = data.draw(problems(writable=True))
    count = data.draw(st.integers(1, 5))
    index = positions(data.draw, (count,), x.sizes[dim])
    sizes = at(x.sizes, dim, count)
    src = draw_tensor(data.draw, x.dtype, sizes, special=not x.dtype.is_float)
    want = x.array.tolist() if x.dtype.is_float else x.array.astype(object)
    want = np.array(want, object)
    for place in every(sizes):
        to = at(place, dim, int(index.array[place[dim]]) - 1)
        value = src.array[place].item()
        want[to] = value if name == "indexCopy" else want[to] + value
    expected = elements(want.reshape(-1).tolist(), x.dtype).reshape(x.sizes)
    check_change(x, name, [dim + 1, index, src], expected, last=True)


@pytest.mark.thorough
@EXAMPLES
@given(st.data())
def test_index_fill(data: st.DataObject) -> None:
    x, dim, _ = data.draw(problems(writable=True))
    index = positions(data.draw, (3,), x.sizes[dim])
    value = data.draw(numbers(x.dtype, special=False))
    want = x.array.copy()
    for place in every(x.sizes):
        if place[dim] + 1 in index.array:
            want[place] = value
    check_change(x, "indexFill", [dim + 1, index, value], want, last=True)


@pytest.mark.thorough
@EXAMPLES
@given(st.data())
def test_gather(data: st.DataObject) -> None:
    x, dim, kind = data.draw(problems())
    sizes = at(x.sizes, dim, data.draw(st.integers(1, 5)))
    index = positions(data.draw, sizes, x.sizes[dim])
    # A given destination has the right sizes already.
    kind = kind if kind in ("fresh", "given", "strided") or sizes == x.sizes else "given"
    kind = kind if kind not in ("empty", "of other sizes") else "given"
    given = destination(kind, x.dtype, sizes, x)
    source = x.array.copy()
    want = source if given is x else np.empty(sizes, x.dtype.numpy)
    for place in every(sizes):
        want[place] = source[at(place, dim, int(index.array[place]) - 1)]
    check_call("gather", [given], [x, dim + 1, index], [want])


@pytest.mark.thorough
@pytest.mark.parametrize("fill", [False, True])
@EXAMPLES
@given(st.data())
def test_scatter(fill: bool, data: st.DataObject) -> None:
    x, dim, _ = data.draw(problems(writable=True))
    sizes = at(x.sizes, dim, data.draw(st.integers(1, 5)))
    index = positions(data.draw, sizes, x.sizes[dim])
    src = draw_tensor(data.draw, x.dtype, sizes, special=not x.dtype.is_float)
    value = data.draw(numbers(x.dtype, special=False))
    want = x.array.copy()
    for place in every(sizes):
        to = at(place, dim, int(index.array[place]) - 1)
        want[to] = value if fill else src.array[place]
    check_change(x, "scatter", [dim + 1, index, value if fill else src], want, last=False)


def draw_mask(draw: Any, sizes: tuple[int, ...]) -> Tensor:
    return draw_tensor(draw, BYTE, sizes, of=st.integers(0, 1))


@pytest.mark.thorough
@EXAMPLES
@given(st.data())
def test_masked_select(data: st.DataObject) -> None:
    x, _, kind = data.draw(problems())
    mask = draw_mask(data.draw, x.sizes)
    want = x.array[mask.array == 1]
    kind = kind if kind != "source" else "given"
    r = destination(kind, x.dtype, want.shape, x) if want.size else None
    before = State(x, mask)
    results = call("maskedSelect", *([r] if r is not None else []), x, mask, dtype=x.dtype)
    before.check(r)
    result = results[0] if r is None else r
    assert result.sizes == (want.shape if want.size else ())
    assert_close(result.array, want, x.dtype)


@pytest.mark.thorough
@EXAMPLES
@given(st.data())
def test_masked_writes(data: st.DataObject) -> None:
    x, _, _ = data.draw(problems(writable=True))
    mask = draw_mask(data.draw, x.sizes)
    value = data.draw(numbers(x.dtype, special=False))
    src = draw_tensor(data.draw, x.dtype, (*x.sizes, 1), special=not x.dtype.is_float)
    want = x.array.copy()
    want[mask.array == 1] = src.array.reshape(-1)[: int(mask.array.sum())]
    check_change(x, "maskedCopy", [mask, src], want, last=False)
    want[mask.array == 1] = value
    check_change(x, "maskedFill", [mask, value], want, last=True)


@EXAMPLES
@given(st.data())
def test_nonzero(data: st.DataObject) -> None:
    x, _, kind = data.draw(problems())
    places = [place for place in every(x.sizes) if x.array[place] != 0]
    want = np.array(places, np.int64).reshape(len(places), x.ndim) + 1
    if len(places):
        kind = kind if kind != "source" else "given"
        given = destination(kind if kind != "source" else "given", LONG, want.shape, x)
        check_call("nonzero", [given], [x], [want], x.dtype)
    else:
        assert call("nonzero", x)[0].sizes == ()


# -- construction from tensors


@pytest.mark.thorough
@EXAMPLES
@given(st.data())
def test_triangles_and_diagonals(data: st.DataObject) -> None:
    dtype: DType = data.draw(st.sampled_from(ALL))
    x = draw_tensor(data.draw, dtype, data.draw(shapes(2, 2)), special=not dtype.is_float)
    kind, k = data.draw(st.sampled_from(DESTINATIONS)), data.draw(st.integers(-5, 5))
    rows, columns = np.indices(x.sizes)
    source = x.array.copy()
    diagonal = source[columns - rows == k]
    if diagonal.size:
        given = destination(kind if kind != "source" else "given", dtype, diagonal.shape, x)
        check_call("diag", [given], [x, k], [diagonal])
    check_call("tril", [None], [x, k], [np.where(columns - rows <= k, source, 0)])
    given = destination(kind, dtype, x.sizes, x)
    check_call("triu", [given], [x, k], [np.where(columns - rows >= k, source, 0)])


@pytest.mark.thorough
@EXAMPLES
@given(st.data())
def test_cat_and_reshape(data: st.DataObject) -> None:
    x, dim, kind = data.draw(problems())
    others = [
        draw_tensor(data.draw, x.dtype, at(x.sizes, dim, n), special=not x.dtype.is_float)
        for n in data.draw(st.lists(st.integers(1, 3), max_size=2))
    ]
    parts = [x, *others]
    want = np.concatenate([t.array for t in parts], dim)
    kind = kind if kind != "source" else "given"
    check_call("cat", [destination(kind, x.dtype, want.shape, x)], [parts, dim + 1], [want])
    flat = x.array.reshape(-1, 1)
    given = destination(kind, x.dtype, flat.shape, x)
    check_call("reshape", [given], [x, *flat.shape], [flat])


def test_all_functions_have_a_model() -> None:
    module = "th_shell.runtime.ops.indexing"
    names = {n for n, rows in TABLE.items() if rows[0].implementation.__module__ == module}
    assert names == {
        *("index", "indexCopy", "indexAdd", "indexFill", "gather", "scatter"),
        *("maskedSelect", "maskedCopy", "maskedFill", "nonzero"),
    }
