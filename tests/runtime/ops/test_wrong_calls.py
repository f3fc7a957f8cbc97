"""A call that fails changes nothing: neither its destinations nor its sources."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runtime.ops  # noqa: F401 (adds the rows)
from runtime.calls.forms import Foreign
from runtime.calls.plans import Plans
from runtime.calls.table import TABLE
from runtime.core.dtypes import BYTE, DOUBLE, HALF, LONG, REALS, DType
from runtime.core.storage import STORAGE_CLASSES
from runtime.core.tensor import TENSOR_CLASSES, Tensor
from tests.runtime.ops.model import State

entry = Plans().entry

pytestmark = pytest.mark.usefixtures("engine")

# What changes the geometry of its self step by step, and what only concerns Python.
_APART = {"set", "resize", "resizeAs", "new", "apply", "retain", "free"}
_NAMES = sorted(name for name in TABLE if "." not in name and name not in _APART)
_SIZES: tuple[tuple[int, ...], ...] = ((), (3,), (6,), (2, 3), (3, 2), (3, 3), (2, 2, 2))


def tensor(dtype: DType, sizes: tuple[int, ...]) -> Tensor:
    count = int(np.prod(sizes)) if sizes else 0
    values = (np.arange(count) % 3 + (0 if dtype is BYTE else 1)).astype(dtype.numpy)
    return TENSOR_CLASSES[dtype.index].of(values.reshape(sizes) if sizes else values)


def arguments(dtype: DType) -> st.SearchStrategy[Any]:
    """Tensors of the type mostly, and everything else that Lua may pass."""
    own = st.sampled_from(_SIZES).map(lambda sizes: tensor(dtype, sizes))
    other = st.sampled_from([*REALS, HALF]).map(lambda d: tensor(d, (2, 3)))
    indices = st.sampled_from(_SIZES).map(lambda sizes: tensor(LONG, sizes))
    plain = st.sampled_from([0, 1, 2, 3, -1, 2.5, 100, float("nan"), True, False, None])
    odd = st.sampled_from([b"2", b"x", b"V", b"N", Foreign("function"), Foreign("table")])
    storage = st.just(None).map(lambda _: STORAGE_CLASSES[LONG.index].new(1))
    lists = st.lists(own, min_size=1, max_size=2)
    return st.one_of(own, own, own, plain, plain, indices, other, odd, storage, lists)


@pytest.mark.parametrize("name", _NAMES)
@settings(deadline=None, max_examples=6)
@given(st.data())
def test_wrong_call_changes_nothing(name: str, data: st.DataObject) -> None:
    types = sorted({d.index for row in TABLE[name] for d in row.types if d in REALS})
    dtype = REALS[data.draw(st.sampled_from(types or [DOUBLE.index]))]
    spaces = [s for s in ("method", "function") if any(row.form(s) for row in TABLE[name])]
    space = data.draw(st.sampled_from(spaces))
    args = data.draw(st.lists(arguments(dtype), max_size=5))
    if space == "method":
        args.insert(0, tensor(dtype, data.draw(st.sampled_from(_SIZES))))
    parts = [t for a in args for t in (a if isinstance(a, list) else [a])]
    before = State(*parts)
    with np.errstate(all="ignore"):
        answer = entry(name, dtype if space == "method" else None)(*args)
    if type(answer) is bytes:
        assert b"internal error" not in answer, answer.decode()
        before.check()
