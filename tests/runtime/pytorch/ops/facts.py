"""Expressions on a few tensors, and their values as text, for tests of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch
from th_shell.torch.tensors.tensor import Tensor


def _names() -> dict[str, Any]:
    """The names that the expressions have."""
    x = torch.arange(12.0).view(3, 4)
    return {
        "torch": torch,
        "np": np,
        "L": lambda *elements: torch.tensor(elements),
        "F": torch.tensor,
        "x": x,
        "y": x.clone(),
        "w": x.to(torch.int32),
        "b": x > 5,
        "u": x.to(torch.uint8),
        "h": x.to(torch.float16),
        "l": x.to(torch.int64),
        "e": torch.zeros(0, 3),
        "z": torch.tensor(3.0),
        "v": torch.arange(4.0),
        "c": torch.arange(24).view(2, 3, 4),
    }


def _text(value: Any) -> str:
    if isinstance(value, Tensor):
        kind = "" if value.dtype is torch.float32 else f"{value.dtype.name} "
        return f"{kind}{value.tolist()} {value.stride()}"
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return f"({', '.join(map(_text, value))})"
    return repr(value)


def _error(error: Exception) -> str:
    """An error's class and text."""
    return f"{type(error).__name__}: {error}"


def described(expression: str) -> str:
    """The elements, strides and type of an expression's value, or its error."""
    try:
        return _text(eval(expression, _names()))
    except Exception as error:
        return _error(error)


def changed(statement: str, name: str) -> str:
    """What a tensor is after a statement, or the statement's error."""
    names = _names()
    try:
        exec(statement, names)
    except Exception as error:
        return _error(error)
    return _text(names[name])


def answering(facts: list[tuple[str, str]]) -> Callable[..., None]:
    """A test that each expression is as it is described."""

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test() -> None:
        found = [(expression, described(expression)) for expression, _ in facts]
        assert [fact for fact in found if fact not in facts] == []

    return test
