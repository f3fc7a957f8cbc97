"""torch.return_types: tuples whose parts have names."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from th_shell.torch.return_types import RESULTS

MAX, SVD = RESULTS["max"], RESULTS["svd"]


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (MAX((1, "a")), "torch.return_types.max(\nvalues=1,\nindices='a')"),
        (MAX([1, (2, 3)]), "torch.return_types.max(\nvalues=1,\nindices=(2, 3))"),
        (SVD(range(3)), "torch.return_types.svd(\nU=0,\nS=1,\nV=2)"),
        (
            RESULTS["linalg_eigh"]((1, 2)),
            "torch.return_types.linalg_eigh(\neigenvalues=1,\neigenvectors=2)",
        ),
        (MAX((1, 2))[:1], "(1,)"),
        (MAX((1, 2)) + (3,), "(1, 2, 3)"),
        (MAX, "<class 'torch.return_types.max'>"),
        (MAX.__name__, "'max'"),
    ],
)
def test_text(made: object, text: str) -> None:
    assert repr(made) == text


def test_parts() -> None:
    values, indices = made = MAX((1, 2))
    assert (values, indices) == (made.values, made.indices) == (made[0], made[1]) == (1, 2)
    assert made == (1, 2)
    assert MAX.__match_args__ == ("values", "indices")
    assert (MAX.n_fields, MAX.n_sequence_fields, MAX.n_unnamed_fields) == (2, 2, 0)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
@pytest.mark.parametrize("name", ["max", "svd", "linalg_lstsq"])
def test_copies_have_the_class(way: Callable[[Any], Any], name: str) -> None:
    made = RESULTS[name]([i] for i in range(RESULTS[name].n_fields))
    copied = way(made)
    assert copied == made
    assert type(copied) is RESULTS[name]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MAX(1), TypeError, "constructor requires a sequence"),
        (
            lambda: MAX((1, 2, 3)),
            TypeError,
            "torch.return_types.max() takes a 2-sequence (3-sequence given)",
        ),
        (
            lambda: MAX((1, 2)).foo,
            AttributeError,
            "'torch.return_types.max' object has no attribute 'foo'",
        ),
        (lambda: setattr(MAX((1, 2)), "values", 3), AttributeError, "readonly attribute"),
        (lambda: delattr(MAX((1, 2)), "values"), AttributeError, "readonly attribute"),
        (
            lambda: type("X", (MAX,), {}),
            TypeError,
            "type 'torch.return_types.max' is not an acceptable base type",
        ),
    ],
)
def test_errors(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
