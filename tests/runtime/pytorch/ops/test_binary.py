"""Functions of two tensors against numpy's, for any shapes and layouts; writing through views."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import th_shell.torch as torch
from th_shell.torch.tensors.tensor import wrap

#: Functions that numpy computes as PyTorch does where operands have one type.
BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": np.maximum,
    "fmin": np.fmin,
    "eq": np.equal,
    "lt": np.less,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "logical_xor": np.logical_xor,
}
OPERATORS = [operator.add, operator.mul, operator.truediv, operator.ge, operator.ne]
NUMBERS = st.floats(-100, 100, width=32)


@st.composite
def _operands(draw: st.DrawFn) -> tuple[Any, Any]:
    shapes = draw(arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3))
    pair = [draw(arrays.arrays(np.float64, shape, elements=NUMBERS)) for shape in shapes[0]]
    return tuple(_arranged(draw, array) for array in pair)  # type: ignore[return-value]


def _arranged(draw: st.DrawFn, array: Any) -> Any:
    """The same elements in another order of the dimensions in memory, and perhaps apart."""
    if not array.ndim:
        return array
    order = draw(st.permutations(range(array.ndim)))
    moved = np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))
    if not draw(st.booleans()):
        return moved
    spread = np.zeros((*array.shape[:-1], 2 * array.shape[-1]))
    spread[..., ::2] = moved
    return spread[..., ::2]


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(BINARY))
@settings(max_examples=10, deadline=None)
@given(pair=_operands())
def test_functions_broadcast_as_numpy_does(name: str, pair: tuple[Any, Any]) -> None:
    a, b = pair
    found = getattr(torch, name)(wrap(a), wrap(b))
    expected = np.asarray(BINARY[name](a, b))
    assert found.array.shape == expected.shape
    assert found.array.dtype == expected.dtype
    np.testing.assert_array_equal(found.array, expected)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(_operands(), st.sampled_from(OPERATORS))
def test_operators_broadcast_as_numpy_does(
    pair: tuple[Any, Any], function: Callable[..., Any]
) -> None:
    a, b = pair
    with np.errstate(all="ignore"):
        expected = function(a, b)
    np.testing.assert_array_equal(function(wrap(a), wrap(b)).array, expected)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(_operands(), st.sampled_from(["add_", "mul_", "copy_", "sub_"]))
def test_in_place_writes_through_views_or_changes_nothing(pair: tuple[Any, Any], name: str) -> None:
    a, b = pair
    whole = wrap(np.array(a))
    view, before = whole.view(whole.shape), whole.array.copy()  # type: ignore[attr-defined]
    compute = {"add_": np.add, "mul_": np.multiply, "sub_": np.subtract}.get(name)
    expected = np.broadcast_arrays(a, b)[1] if compute is None else compute(a, b)
    if expected.shape == a.shape:
        assert getattr(view, name)(wrap(b)) is view
        np.testing.assert_array_equal(whole.array, expected)
        return
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        getattr(view, name)(wrap(b))
    np.testing.assert_array_equal(whole.array, before)
