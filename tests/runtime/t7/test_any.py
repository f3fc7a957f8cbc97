"""Whatever is saved comes back; whatever the bytes of a file, loading ends soon."""

import io
import math
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.mutations import OBJECTS, mutate
from th_shell.runtime import Function, T7Error, Table, TorchObject, load, save
from th_shell.runtime.core.dtypes import DTYPES
from th_shell.runtime.shell import Engine
from th_shell.torch.ops.interchange import share_array
from th_shell.torch.tensors.storages import TypedStorage
from th_shell.torch.tensors.tensor import Tensor

FORMATS = ["binary", "b32", "ascii"]

numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False)
strings = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.binary(max_size=8)
keys = numbers | st.booleans() | strings
tensors = st.builds(
    lambda dtype, sizes, step: share_array(
        np.arange(math.prod(sizes) * step).astype(dtype.numpy)[::step].reshape(sizes)
    ),
    st.sampled_from(DTYPES),
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.integers(1, 2),
)
values = st.recursive(
    st.none() | st.booleans() | numbers | strings | tensors,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.builds(Table, st.lists(st.tuples(keys, inner), max_size=4))
        | st.builds(TorchObject, st.just("a.Class"), st.dictionaries(strings, inner, max_size=3))
        | st.builds(Function, st.binary(max_size=4), st.builds(Table.of, st.lists(inner)))
        | inner.map(lambda value: [value, value])
    ),
    max_leaves=12,
)


def saved(value: Any, format: Any) -> bytes:
    file = io.BytesIO()
    save(file, value, format)
    return file.getvalue()


def same(a: Any, b: Any) -> bool:
    """Whether b is what load gives for an a that was saved."""
    if isinstance(a, Tensor):
        return (
            isinstance(b, Tensor)
            and (a.dtype, a.sizes, a.strides, a.offset) == (b.dtype, b.sizes, b.strides, b.offset)
            and bool((a.storage_object.data == b.storage_object.data).all())
        )
    if isinstance(a, TorchObject):
        return a.torch_typename == b.torch_typename and same(a.fields, b.fields)
    if isinstance(a, Function):
        return a.bytecode == b.bytecode and same(a.upvalues, b.upvalues)
    if isinstance(a, list):
        return same(Table.of(a), b)
    if isinstance(a, Table):
        return len(a) == len(b) and all(
            same(k, key) and same(v, w)
            for (k, v), (key, w) in zip(a.items(), b.items(), strict=True)
        )
    if isinstance(a, bytes):
        return b == a if isinstance(b, bytes) else bool(b.encode() == a)
    return a is b or a == b and math.copysign(1, a) == math.copysign(1, b) if a == 0 else a == b


@pytest.mark.thorough
@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(value=values)
def test_what_is_saved_comes_back(format: str, value: Any) -> None:
    data = saved(value, format)
    again = load(io.BytesIO(data))
    assert same(value, again)
    assert saved(again, format) == data


@pytest.fixture(scope="module")
def originals(engine: Engine) -> list[tuple[str, bytes]]:
    """Good files: mode and bytes, written by the Lua engine."""
    found: list[tuple[str, bytes]] = []
    source = f"""local put = ...
        for _, object in ipairs((function() {OBJECTS} end)()) do
          for _, mode in ipairs{{'binary', 'ascii'}} do put(mode, torch.serialize(object, mode)) end
        end
        return {{}}"""
    engine.module(source.encode(), b"=test", lambda m, d: found.append((m.decode(), d)))
    return found


def test_what_lua_writes_comes_back_byte_for_byte(originals: list[tuple[str, bytes]]) -> None:
    for mode, data in originals:
        assert saved(load(io.BytesIO(data)), mode) == data
    assert len(originals) == 14


@pytest.mark.thorough
@pytest.mark.parametrize("examples", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_loading_ends_soon_with_little_memory(
    originals: list[tuple[str, bytes]], examples: int
) -> None:
    outcomes = set()

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def run(data: st.DataObject) -> None:
        mode, original = data.draw(st.sampled_from(originals))
        rng = data.draw(st.randoms(use_true_random=False))
        others = [other for kind, other in originals if kind == mode]
        content = mutate(rng, original, others, mode == "ascii")
        tracemalloc.start()
        start = time.process_time()
        try:
            value = load(io.BytesIO(content))
            repr(value)
            outcomes.add(isinstance(value, (Tensor, TypedStorage)) or type(value).__name__)
        except T7Error as error:
            outcomes.add(str(error).partition(" (file")[0])
        spent, used = time.process_time() - start, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert spent < 1 and used <= 60 * len(content) + (1 << 20)

    run()
    assert {"unknown object", "Table"} <= outcomes
