"""Which module of a file is meant."""

from typing import Any

import numpy as np
import pytest

from tests.runtime.export.nets import conv, module, tensor
from th_shell.runtime import Table, TorchObject
from th_shell.runtime.export import ExportError
from th_shell.runtime.export.graph import BATCH
from th_shell.runtime.export.lowering import find_module, graph_of
from th_shell.runtime.t7.tensors import tensor_of
from th_shell.runtime.t7.values import Function

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


SIZES = {"kW": 2, "kH": 2}
NORM = {"running_mean": tensor(3), "running_var": tensor(3)}
TABLE = {"nInputPlane": 2, "nOutputPlane": 2, "weight": tensor(2, 3, 3)}


@pytest.mark.parametrize(
    ("net", "message"),
    [
        (
            module("SpatialSubSampling", nInputPlane=32, weight=tensor(32, 2, 2), **SIZES),
            "its weight has 128 numbers for 32 planes",
        ),
        (
            module("TemporalSubSampling", inputFrameSize=3, weight=tensor(4), kW=2),
            "its weight has 4 numbers for 3 planes",
        ),
        (
            module("PReLU", nOutputPlane=3, weight=tensor(4)),
            "its weight has 4 numbers for 3 planes",
        ),
        (
            module("PReLU", nOutputPlane=0, weight=tensor(4)),
            "its weight has 4 numbers for 1 planes",
        ),
        (
            module("Linear", weight=tensor(4, 3), bias=tensor(3)),
            "its bias has 3 numbers for 4 planes",
        ),
        (
            module("BatchNormalization", **NORM | {"running_var": tensor(2)}),
            "its running_var has 2 numbers for 3 planes",
        ),
        (
            module("SpatialDepthWiseConvolution", kW=2, kH=2, **TABLE | {"weight": tensor(3)}),
            "its fields, or its input, are not as this class has them",
        ),
        *[
            (
                module("SpatialConvolutionMap", connTable=tensor_of(np.array(pairs)), **TABLE),
                "its table does not fit its weights and numbers of planes",
            )
            for pairs in ([[1, 1]], [[0, 1], [1, 2]], [[1, 1], [2, 3]])
        ],
    ],
)
def test_fields_that_do_not_agree(net: TorchObject, message: str) -> None:
    with pytest.raises(ExportError) as raised:
        graph_of(net, (BATCH, 2, 5, 5) if "connTable" in net.fields else None)
    assert str(raised.value) == f"{net.torch_typename}: {message}"


def test_a_function_in_the_place_of_a_class() -> None:
    net = module("Sequential", module("Tanh", updateOutput=Function(b"code", Table())))
    message = "^nn.Tanh at 1: computes by a function in the file, its field updateOutput$"
    with pytest.raises(ExportError, match=message):
        graph_of(net)
