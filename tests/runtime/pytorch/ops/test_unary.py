"""Functions of elements against numpy's, for any shapes and layouts; and writing through views."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import th_shell.torch as torch
from tests.data_files import data
from th_shell.torch.tensors.tensor import Tensor, wrap

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
@settings(max_examples=60, deadline=None)
@given(_operands(), st.sampled_from(sorted(BINARY)))
def test_functions_broadcast_as_numpy_does(pair: tuple[Any, Any], name: str) -> None:
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


@pytest.mark.parametrize("name", ["sigmoid", "lerp", "remainder", "fmod", "add", "clamp"])
@pytest.mark.parametrize("count", [7, 70_000])
def test_many_elements_are_computed_as_few(name: str, count: int) -> None:
    values = wrap(np.linspace(-5, 5, count, dtype=np.float32))
    arguments: dict[str, tuple[Any, ...]] = {
        "sigmoid": (),
        "lerp": (values.exp(), 0.25),  # type: ignore[attr-defined]
        "remainder": (1.5,),
        "fmod": (1.5,),
        "add": (values,),
        "clamp": (-1, 2),
    }
    found = getattr(values, name)(*arguments[name]).array
    for at in range(0, count, max(count // 7, 1)):
        single = [_at(x, at) for x in arguments[name]]
        assert getattr(_at(values, at), name)(*single).item() == pytest.approx(found[at], rel=1e-6)


def _at(value: Any, at: int) -> Any:
    return wrap(value.array[at : at + 1].copy()) if isinstance(value, Tensor) else value


WARNINGS = data(__file__, "WARNINGS")


@pytest.mark.parametrize("expression, message", WARNINGS)
def test_warnings_of_the_program(expression: str, message: str) -> None:
    with pytest.warns(UserWarning) as given_warnings:
        eval(expression, {"torch": torch})
    assert [str(w.message) for w in given_warnings] == [message]
    assert given_warnings[0].filename == "<string>"


def test_empty_out_is_resized_without_a_warning() -> None:
    out = torch.empty(0)
    assert torch.add(torch.ones(2, 3), 1, out=out) is out
    assert out.tolist() == [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]


def test_errors_leave_the_target_as_it_was() -> None:
    target = torch.tensor([7, -7, 8])
    for wrong in ("target //= 0", "target += 1.5", "target += torch.ones(2, 3)", "target **= -1"):
        with pytest.raises(RuntimeError):
            exec(wrong, {"torch": torch, "target": target})
        assert target.tolist() == [7, -7, 8]


def test_broadcast_warning_is_given_where_it_is_enabled() -> None:
    torch.utils.backcompat.broadcast_warning.enabled = True
    try:
        with pytest.warns(UserWarning, match="^self and other do not have the same shape, but"):
            torch.add(torch.ones(4, 1), torch.ones(4))
    finally:
        torch.utils.backcompat.broadcast_warning.enabled = False
