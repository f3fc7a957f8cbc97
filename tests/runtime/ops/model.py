"""What the model tests share: tensors of any layout, destinations, calls, and C's numbers.

A model is plain Python over lists of numbers; whole numbers are Python's and wrapped at the
end, as C's are.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import th_shell.runtime.ops  # noqa: F401 (adds the rows)
from th_shell.runtime.calls.plans import Plans
from th_shell.runtime.core.dtypes import FLOAT, Array, DType
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor

entry = Plans().entry

LAYOUTS = ("contiguous", "transposed", "narrowed", "expanded")
DESTINATIONS = ("fresh", "empty", "given", "of other sizes", "strided", "source")

Function = Callable[..., Any]


def shapes(least: int = 1, most: int = 3) -> st.SearchStrategy[tuple[int, ...]]:
    """Sizes of small tensors."""
    return st.lists(st.integers(1, 4), min_size=least, max_size=most).map(tuple)


def numbers(dtype: DType, special: bool = True) -> st.SearchStrategy[Any]:
    """Numbers of an element type: small ones, its limits, and what is not finite."""
    if dtype.is_float:
        plain = st.floats(-9, 9, width=32).map(lambda x: round(x, 2))
        if not special:
            return plain
        return plain | st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan])
    info = np.iinfo(dtype.numpy)
    small = st.integers(max(int(info.min), -9), 9)
    return small | st.integers(int(info.min), int(info.max)) if special else small


def wrap(value: int, dtype: DType) -> int:
    """A whole number as the element type holds it."""
    bits = 8 * dtype.size
    low = int(np.iinfo(dtype.numpy).min)
    return (int(value) - low) % (1 << bits) + low


def elements(values: Sequence[Any], dtype: DType) -> Array:
    """An array of an element type from a model's numbers."""
    if dtype.is_float:
        with np.errstate(all="ignore"):
            return np.array(values, np.float64).astype(dtype.numpy)
    return np.array([wrap(v, dtype) for v in values], dtype.numpy)


def tensor(values: Array, dtype: DType, layout: str = "contiguous") -> Tensor:
    """A tensor of these values (expanded: of their first slice, repeated)."""
    cls = TENSOR_CLASSES[dtype.index]
    if layout == "transposed":
        return cls.of(values.swapaxes(0, -1).copy()).transpose(0, values.ndim - 1)
    if layout == "narrowed":
        wide = cls.of(np.concatenate([values, values, values], -1))
        return wide.narrow(values.ndim - 1, values.shape[-1], values.shape[-1])
    if layout == "expanded":
        one = cls.of(values[:1].copy())
        return one.view(one.offset, values.shape, (0, *one.strides[1:]))
    return cls.of(values.copy())


def draw_tensor(
    draw: st.DrawFn,
    dtype: DType,
    sizes: tuple[int, ...],
    special: bool = True,
    of: st.SearchStrategy[Any] | None = None,
    layout: str | None = None,
) -> Tensor:
    """A tensor of a few drawn numbers, in drawn order, in a drawn layout."""
    kind = numbers(dtype, special) if of is None else of
    values = elements(draw(st.lists(kind, min_size=3, max_size=8)), dtype)
    array = np.random.default_rng(draw(st.integers(0, 999))).choice(values, sizes)
    return tensor(array, dtype, layout or draw(st.sampled_from(LAYOUTS)))


def destination(kind: str, dtype: DType, sizes: tuple[int, ...], source: Tensor) -> Tensor | None:
    """A destination for a result of these sizes; None: the call leaves it out."""
    cls = TENSOR_CLASSES[dtype.index]
    filler = np.full(sizes, 7, dtype.numpy)
    if kind == "fresh" or kind == "source" and (source.overlaps_itself or type(source) is not cls):
        return None
    if kind == "source":
        return source
    if kind == "empty":
        return cls()
    if kind == "of other sizes":
        return cls.of(np.full((2, 5), 7, dtype.numpy))
    return tensor(filler, dtype, "narrowed" if kind == "strided" else "contiguous")


class State:
    """How tensors are at some moment: geometry, and all of their storages' elements."""

    def __init__(self, *tensors: Any) -> None:
        self.tensors = [t for t in tensors if isinstance(t, Tensor)]
        self.then = [self.of(t) for t in self.tensors]

    @staticmethod
    def of(t: Tensor) -> tuple[Any, ...]:
        """Everything that can be seen of a tensor."""
        memory = t.storage.data.tobytes() if t.storage is not None else b""
        return t.sizes, t.strides, t.offset, memory

    def check(self, *but: Any) -> None:
        """Assert that nothing has changed since, but for some tensors."""
        storages = [t.storage for t in but if t is not None]
        for t, then in zip(self.tensors, self.then, strict=True):
            if t.storage is None or not any(t.storage is s for s in storages):
                assert self.of(t) == then


def call(name: str, *args: Any, dtype: DType | None = None) -> list[Any]:
    """The results of a call as Lua gets them; raises AssertionError for an error.

    dtype: of the class whose method is called; by default torch.name.
    """
    with np.errstate(all="ignore"):  # as the engine
        answer = entry(name, dtype)(*args)
    assert type(answer) is not bytes, answer
    if answer is None:
        return [args[0]]
    if not isinstance(answer, tuple):
        return [answer]
    if answer[0] is not None:
        return [answer[0]]
    pairs = zip(answer[2::2], answer[3::2], strict=True)
    return [args[-1 - kind] if kind < 0 else value for value, kind in pairs]


def check_call(
    name: str,
    given: Sequence[Tensor | None],
    args: Sequence[Any],
    want: Sequence[Array],
    dtype: DType | None = None,
) -> None:
    """Assert what a call stores, in new tensors or the given ones, and that sources stay."""
    before = State(*args)
    results = call(name, *[r for r in given if r is not None], *args, dtype=dtype)
    before.check(*given)
    assert len(results) == len(want)
    for result, r, values in zip(results, given, want, strict=True):
        assert r is None or result is r
        assert result.sizes == values.shape
        assert_close(result.array, values, result.dtype)


def assert_close(found: Array, want: Array, dtype: DType) -> None:
    """Assert that elements are equal; floats nearly so."""
    if not dtype.is_float:
        np.testing.assert_array_equal(found, want.astype(found.dtype))
        return
    accuracy = 2e-5 if dtype is FLOAT else 1e-11
    with np.errstate(all="ignore"):
        want = want.astype(found.dtype)
        np.testing.assert_allclose(found, want, rtol=accuracy, atol=accuracy)


def each(function: Function, *arrays: Any) -> list[Any]:
    """function(x, y, ...) for the elements of arrays, in order; numbers stay the same."""
    count = next(a.size for a in arrays if isinstance(a, np.ndarray))
    lists = [a.reshape(-1).tolist() if isinstance(a, np.ndarray) else [a] * count for a in arrays]
    with np.errstate(all="ignore"):
        return [function(*values) for values in zip(*lists, strict=True)]


def along(function: Callable[[list[Any]], list[Any]], array: Array, dim: int) -> Array:
    """function(list) -> list for each row along a dimension, as objects."""
    moved = np.moveaxis(array, dim, -1)
    rows = [function(row.tolist()) for row in moved.reshape(-1, moved.shape[-1])]
    full = np.empty((len(rows), len(rows[0])), object)
    for i, row in enumerate(rows):
        full[i] = row
    return np.moveaxis(full.reshape(*moved.shape[:-1], -1), -1, dim)
