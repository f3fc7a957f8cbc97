"""Indexing and broadcasting give what numpy gives, for random shapes and indices.

The environment's TH_CASES raises the number of cases of all properties together.
"""

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import th_shell.torch as torch
from th_shell.runtime.core.dtypes import Array
from th_shell.torch.tensors.tensor import Tensor, wrap

CASES = int(os.environ.get("TH_CASES", "400"))
#: Each property's part of the cases.
property_test = settings(max_examples=max(CASES // 5, 1), deadline=None, database=None)

Shape = tuple[int, ...]
SHAPES = st.lists(st.integers(0, 4) | st.integers(1, 3), max_size=4).map(tuple)
#: Types whose numbers can be told apart from those of other positions.
KINDS = st.sampled_from(["f4", "f8", "i2", "i4", "i8"])


@st.composite
def arrays(draw: st.DrawFn, shapes: st.SearchStrategy[Shape] = SHAPES) -> Array:
    """Arrays with a different number in each position, whose dimensions lie in any order."""
    shape = draw(shapes)
    order = draw(st.permutations(range(len(shape))))
    sizes = [shape[dim] for dim in order]
    memory = np.arange(int(np.prod(sizes)), dtype=draw(KINDS)).reshape(sizes)
    return memory.transpose(np.argsort(order).tolist() if order else [])


@st.composite
def parts(draw: st.DrawFn, size: int) -> slice:
    ends = st.none() | st.integers(-size - 2, size + 2)
    return slice(draw(ends), draw(ends), draw(st.none() | st.integers(1, 3)))


@st.composite
def views(draw: st.DrawFn, shape: Shape) -> tuple[Any, ...]:
    """Indices that give a view: numbers, slices, None and an ellipsis."""
    index: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        number = st.integers(-size, size - 1) if size else st.nothing()
        index.append(draw(parts(size) | number))
    for _ in range(draw(st.integers(0, 2))):
        index.insert(draw(st.integers(0, len(index))), None)
    if draw(st.booleans()):
        index.append(...)
    return tuple(index)


@st.composite
def choices(draw: st.DrawFn, shape: Shape) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Indices with arrays and masks, for numpy and as tensors.

    No numbers: numpy takes these for arrays, which can put the dimensions into another order.
    """
    common = draw(st.lists(st.integers(0, 3), max_size=2))
    ours: list[Any] = []
    theirs: list[Any] = []
    masks, dim = 0, 0
    while dim < len(shape):
        kind = draw(st.sampled_from(["part", "array", "array", "mask", "end"]))
        if kind == "end":
            break
        if kind == "mask" and not masks:
            masks, width = 1, draw(st.integers(1, len(shape) - dim))
            chosen = _mask(draw, shape[dim : dim + width])
            common = [int(chosen.sum())]  # what the arrays behind it have to fit
            if any(isinstance(item, np.ndarray) for item in theirs):
                break
            dim += width
        elif kind == "array" and (shape[dim] or 0 in common):
            chosen = _indices(draw, shape[dim], common)
            dim += 1
        else:
            part = draw(parts(shape[dim]))
            ours.append(part)
            theirs.append(part)
            dim += 1
            continue
        theirs.append(chosen)
        ours.append(wrap(chosen))
    return tuple(theirs), tuple(ours)


def _mask(draw: st.DrawFn, shape: Shape) -> Array:
    count = int(np.prod(shape))
    chosen = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return np.array(chosen, bool).reshape(shape)


def _indices(draw: st.DrawFn, size: int, common: list[int]) -> Array:
    sizes = [draw(st.sampled_from([n, 1])) if size else n for n in common]
    count = int(np.prod(sizes))
    numbers = st.integers(-size, size - 1) if size else st.nothing()
    chosen = draw(st.lists(numbers, min_size=count, max_size=count)) if count else []
    return np.array(chosen, np.int64).reshape(sizes)


def same(tensor: Tensor, expected: Any) -> bool:
    expected = np.asarray(expected)
    found = tensor.array
    return (
        found.shape == expected.shape
        and found.dtype == expected.dtype
        and np.array_equal(found, expected)
    )


@pytest.mark.thorough
@property_test
@given(st.data())
def test_a_view_is_that_of_numpy(data: Any) -> None:
    array = data.draw(arrays())
    index = data.draw(views(array.shape))
    tensor = wrap(array)
    view = tensor[index]
    assert same(view, array[index])
    view.array[...] = -1
    assert np.all(array[index] == -1)  # both are the same memory


@pytest.mark.thorough
@property_test
@given(st.data())
def test_elements_are_those_that_numpy_chooses(data: Any) -> None:
    array = data.draw(arrays())
    theirs, ours = data.draw(choices(array.shape))
    assert same(wrap(array)[ours], array[theirs])


@pytest.mark.thorough
@property_test
@given(st.data())
def test_an_assignment_changes_what_it_changes_in_numpy(data: Any) -> None:
    array = data.draw(arrays())
    theirs, ours = data.draw(choices(array.shape))
    if data.draw(st.booleans()):
        theirs = ours = data.draw(views(array.shape))
    expected = array.copy()
    shape = expected[theirs].shape
    first = data.draw(st.integers(0, len(shape)))
    sizes = [data.draw(st.sampled_from([n, 1])) for n in shape[first:]]
    values = np.arange(-1, -1 - int(np.prod(sizes)), -1).astype(array.dtype).reshape(sizes)
    if data.draw(st.booleans()):
        expected[theirs] = values
        wrap(array)[ours] = wrap(values)
    else:
        expected[theirs] = 7
        wrap(array)[ours] = 7
    assert np.array_equal(array, expected)


@pytest.mark.thorough
@property_test
@given(st.data())
def test_operands_are_broadcast_as_in_numpy(data: Any) -> None:
    a, b = data.draw(arrays()), data.draw(arrays())
    x, y = wrap(a), wrap(b)
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        with pytest.raises(RuntimeError, match="^The size of tensor a "):
            torch.broadcast_tensors(x, y)
        with pytest.raises(RuntimeError, match="^The size of tensor a "):
            torch.where(x > 1, x, y)
        return
    assert torch.broadcast_shapes(a.shape, b.shape) == shape
    pairs = zip(torch.broadcast_tensors(x, y), np.broadcast_arrays(a, b), strict=True)
    assert all(same(found, expected) for found, expected in pairs)
    chosen = torch.where(x > 1, x.double(), y.double())
    assert same(chosen, np.where(a > 1, a.astype("f8"), b.astype("f8")))
    assert same(x.double() + y.double(), a.astype("f8") + b.astype("f8"))


@pytest.mark.thorough
@property_test
@given(st.data())
def test_a_view_is_expanded_as_in_numpy(data: Any) -> None:
    array = data.draw(arrays())
    front = data.draw(st.lists(st.integers(0, 3), max_size=2))
    sizes = tuple(data.draw(st.integers(0, 3)) if n == 1 else n for n in array.shape)
    full = (*front, *sizes)
    expected = np.broadcast_to(array, full)
    view = wrap(array).expand(full)
    assert same(view, expected)
    moved = {d: step for d, step in enumerate(expected.strides) if full[d] > 1}
    if expected.size:
        assert moved == {d: view.array.strides[d] for d in moved}
