"""Functions of elements: many as few, warnings, errors, and what becomes of `out`."""

from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch
from tests.data_files import data
from th_shell.torch.tensors.tensor import Tensor, wrap


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
