"""Classes of tensors that a program derives; what PyTorch does with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch


class Named(torch.Tensor):
    """A class of the program's."""


class Other(Named):
    """One that is derived from it."""


X: Any = torch.arange(3.0)
NAMED: Any = X.as_subclass(Named)


@pytest.mark.parametrize(
    "result",
    [
        NAMED + 1,
        1 - NAMED,
        X * NAMED,
        -NAMED,
        NAMED[0],
        NAMED == 1,
        NAMED.view(1, 3).T,
        torch.sin(NAMED),
        NAMED.sum(),
        NAMED.split(1)[0],
        torch.max(NAMED, 0).values,
        torch.add(X, NAMED),
    ],
)
def test_results_have_the_class(result: Any) -> None:
    assert type(result) is Named


def test_results_of_two_classes_have_the_derived_one() -> None:
    assert type(NAMED + X.as_subclass(Other)) is Other
    assert type(torch.add(NAMED, X.as_subclass(Other))) is Other


def test_class_is_printed_and_shares_its_memory() -> None:
    assert repr(NAMED.view(1, 3)) == "Named([[0., 1., 2.]])"
    base = torch.zeros(2)
    (base.as_subclass(Named) + 0).fill_(1)
    base.as_subclass(Named)[0].fill_(5)
    assert base.tolist() == [5, 0]


def test_class_that_computes_functions_itself_is_refused() -> None:
    with pytest.raises(NotImplementedError) as raised:
        type("Own", (torch.Tensor,), {"__torch_function__": classmethod(lambda *_: None)})
    assert str(raised.value) == "__torch_function__ is not called here: override methods instead"


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
