"""What of a file goes out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runtime import Function, Table, TorchObject
from runtime.t7.essence import chosen, essence, is_module
from runtime.t7.faces import tensor_of


def tensor(*sizes: int) -> Any:
    return tensor_of(np.ones(sizes))


def names(value: Any, everything: bool = False) -> list[str]:
    return [name for name, _ in chosen(value, everything)[1]]


def net(**fields: Any) -> TorchObject:
    return TorchObject("nn.Linear", {"weight": tensor(2, 2), **fields})


@pytest.mark.parametrize(
    "name",
    "output gradInput gradWeight _input finput fgradInput fGradInput addBuffer buffer1 noise "
    "indices save_mean save_std gradOutputs outputs sharedClones".split(),
)
def test_scratch(name: str) -> None:
    assert names(net(**{name: tensor(3)})) == ["weight"]
    assert names(net(**{name: Table.of([tensor(3)])})) == ["weight"]
    assert essence(net(**{name: 3})).fields[name] == 3


def test_parameters_and_buffers() -> None:
    kept = dict.fromkeys(["bias", "running_mean", "kernel", "anything"], tensor(2))
    assert names(net(**kept)) == ["weight", *kept]
    assert names(net(scale=tensor(2), noise=tensor(2), gradNoise=tensor(2))) == [
        "weight",
        "scale",
        "noise",
    ]
    assert names(net(empty=tensor_of(np.empty(0)), kW=3, name="x")) == ["weight"]
    assert names(net(kW=3), everything=True) == ["weight", "kW"]


def test_modules_come_first() -> None:
    inner = net()
    graph = TorchObject("graph.Graph", {"nodes": Table.of([inner]), "input": tensor(2)})
    whole = TorchObject("nn.gModule", {"fg": graph, "modules": Table.of([inner])})
    assert names(whole) == ["modules.1.weight"]
    assert list(essence(whole).fields) == ["modules", "fg"]
    found = essence(whole)
    assert found.fg.nodes[1] is found.modules[1]
    assert names(TorchObject("nn.Any", {"output": inner})) == ["output.weight"]


def test_what_stands_beside_a_module() -> None:
    more = Table({"m": tensor(9)})
    state = Table({"learningRate": 0.1, "evalCounter": 3, "dfdx": tensor(9), "more": more})
    table = Table({"model": net(), "mean": tensor(3)})
    table["optimState"] = Table({"t": 3, "m": tensor(9)})
    table["state"] = state
    assert names(table) == ["model.weight", "mean"]
    assert essence(table)["state"].to_python() == {
        "learningRate": 0.1,
        "evalCounter": 3,
        "more": {},
    }
    del table["model"]
    assert essence(table) is table
    assert "state.dfdx" in names(table)


def test_functions_and_what_holds_itself() -> None:
    module = net()
    module.fields["f"] = Function(b"x", Table({"gradient": tensor(3)}))
    module.fields["self"] = module
    found = essence(module)
    assert found.fields["self"] is found and found.f.upvalues.to_python() == {}
    assert names(module) == ["weight"]


def test_what_is_a_module() -> None:
    assert is_module(net()) and is_module(TorchObject("my.Layer", {"gradInput": tensor(1)}))
    assert not is_module(TorchObject("my.Data", {"indices": tensor(1)}))
    assert not is_module(Table())
