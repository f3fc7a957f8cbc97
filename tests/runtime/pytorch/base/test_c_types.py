"""Classes that stand for ones in C: their names in errors, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from th_shell.torch.base.c_types import CType, type_name


class Point(CType):
    __module__ = "torch"
    __slots__ = ("x",)

    def length(self) -> int:
        return 0


class Tensor:
    """Not in C."""

    __module__ = "torch"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Point(), "torch.Point"),
        (Tensor(), "Tensor"),
        (3, "int"),
        (None, "NoneType"),
        (np.float32(1), "numpy.float32"),
    ],
)
def test_name_of_a_type(value: object, name: str) -> None:
    assert type_name(value) == name


def test_names_of_a_class() -> None:
    names = (Point.__name__, Point.__qualname__, Point.__module__, repr(Point))
    assert names == ("Point", "Point", "torch", "<class 'torch.Point'>")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: type("X", (Point,), {}),
            TypeError,
            "type 'torch.Point' is not an acceptable base type",
        ),
        (
            lambda: setattr(Point(), "x", 1),
            AttributeError,
            "attribute 'x' of 'torch.Point' objects is not writable",
        ),
        (
            lambda: delattr(Point(), "x"),
            AttributeError,
            "attribute 'x' of 'torch.Point' objects is not writable",
        ),
        (
            lambda: setattr(Point(), "length", 1),
            AttributeError,
            "'torch.Point' object attribute 'length' is read-only",
        ),
        (lambda: Point().foo, AttributeError, "'torch.Point' object has no attribute 'foo'"),
        (
            lambda: Point() + 1,
            TypeError,
            "unsupported operand type(s) for +: 'torch.Point' and 'int'",
        ),
    ],
)
def test_errors(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
