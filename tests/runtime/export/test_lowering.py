"""Which module of a file is meant."""

from __future__ import annotations

from typing import Any

import pytest

from runtime import Table
from runtime.export import ExportError
from runtime.export.lowering import find_module, graph_of
from tests.runtime.export.nets import conv, module, tensor

NET, LOSS = module("Sequential", module("Tanh")), module("MSECriterion")


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        (NET, None, NET),
        (NET, "1", NET.modules[1]),
        (Table({"a": Table.of([NET]), "x": 3}), None, NET),
        (Table({"net": NET, "loss": LOSS}), None, NET),
        (Table({"net": NET, "loss": LOSS}), "loss", LOSS),
        (Table({"net": NET, "loss": LOSS}), "net.1", NET.modules[1]),
        (Table({"net": NET, "loss": LOSS}), "net.modules.1", NET.modules[1]),
        (Table({"loss": LOSS}), None, LOSS),
    ],
)
def test_found(value: Any, path: str | None, found: Any) -> None:
    assert find_module(value, path, {}) is found


@pytest.mark.parametrize(
    ("value", "path", "message"),
    [
        (
            tensor(3),
            None,
            "the file holds no module: `describe` and th --convert FILE tell what it holds",
        ),
        (Table({"x": 3}), "x", "x is no module"),
        (Table({"x": 3}), "x.y", "there is no 'y' of 'x.y'; there are no keys"),
        (
            Table({"a": NET, "b": module("Tanh")}),
            None,
            "the file holds several modules; --select one of a (nn.Sequential), b (nn.Tanh)",
        ),
    ],
)
def test_not_found(value: Any, path: str | None, message: str) -> None:
    with pytest.raises(ExportError) as raised:
        find_module(value, path, {})
    assert str(raised.value) == message


@pytest.mark.parametrize("size", [2.5, float("inf"), float("nan"), 1e300, "3"])
def test_sizes_that_are_none(size: Any) -> None:
    kind = "number" if size == "3" else "whole number"
    with pytest.raises(ExportError) as raised:
        graph_of(conv(3, 4, 3, dW=size))
    assert str(raised.value) == f"nn.SpatialConvolution: its field dW is no {kind}"
