"""The class of tensors: its names, and classes derived from it."""

from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch

X: Any = torch.arange(3.0)


def test_classes_derived_from_tensors_are_refused() -> None:
    with pytest.raises(NotImplementedError) as raised:
        type("Own", (torch.Tensor,), {})
    assert str(raised.value) == "classes derived from torch.Tensor are not provided here"


def test_arrays_are_divided_by_tensors() -> None:
    found: Any = np.ones(3) / torch.tensor([1.0, 2.0, 4.0])
    assert repr(found) == "tensor([1.0000, 0.5000, 0.2500], dtype=torch.float64)"


def test_names_are_those_of_pytorch() -> None:
    names = set(dir(X))
    assert {"sum", "view", "dtype", "__add__"} <= names
    assert not {"array", "become", "set_view", "storage_object", "_array"} & names


def test_missing_name_tells_where_to_look_for_a_similar_one() -> None:
    with pytest.raises(AttributeError, match="no attribute 'zeroes'") as raised:
        torch.zeroes  # type: ignore[attr-defined]  # noqa: B018
    assert (raised.value.name, raised.value.obj) == ("zeroes", torch)
