"""Constructors of old programs, and of classes that programs derive from Tensor."""

from __future__ import annotations

from typing import Any

import pytest

import th_shell.torch as torch


class Named(torch.Tensor):  # type: ignore[misc]
    """A program's class."""

    def __init__(self, *_: Any) -> None:
        self.name = "a"


def test_instances_of_a_class_of_the_program() -> None:
    tensor = Named([1.0, 2.0])
    assert type(tensor) is Named
    assert tensor.name == "a"
    assert (tensor + 1).tolist() == [2, 3]
    tensor += 1
    assert type(tensor) is Named
    assert tensor.tolist() == [2, 3]


def test_same_memory_as_a_class_of_the_program() -> None:
    tensor = torch.zeros(2, 3)
    found = tensor.t().as_subclass(Named)
    found[2, 1] = 5
    assert type(found) is Named
    assert tensor.tolist() == [[0, 0, 0], [0, 0, 5]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (5, r"^cls must be a type \(got int\)$"),
        (int, "^Creating a Tensor subclass from a class that does not inherit from Tensor is not "),
    ],
)
def test_what_is_no_class_of_tensors(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        torch.ones(2).as_subclass(given)
