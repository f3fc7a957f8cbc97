"""What torch.set_printoptions sets, and what it leaves."""

from collections.abc import Iterator
from math import inf
from typing import Any

import pytest

from th_shell.torch.tensors.printing import OPTIONS, set_printoptions

DEFAULT = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    yield
    set_printoptions(profile="default")


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ({"profile": "default"}, {}),
        ({"profile": "short"}, {"precision": 2, "edgeitems": 2}),
        ({"profile": "full"}, {"threshold": inf}),
        ({"profile": "short", "precision": 7}, {"precision": 7, "edgeitems": 2}),
        ({"profile": "none such"}, {}),
        ({"linewidth": 120, "sci_mode": False}, {"linewidth": 120, "sci_mode": False}),
        ({"edgeitems": 0, "threshold": 0}, {"edgeitems": 0, "threshold": 0}),
    ],
)
def test_options(options: dict[str, Any], changed: dict[str, Any]) -> None:
    set_printoptions(**options)
    assert vars(OPTIONS) == {**DEFAULT, **changed}


def test_sci_mode_alone_does_not_stay() -> None:
    set_printoptions(precision=2, sci_mode=True)
    set_printoptions(linewidth=70)
    assert vars(OPTIONS) == {**DEFAULT, "precision": 2, "linewidth": 70}
