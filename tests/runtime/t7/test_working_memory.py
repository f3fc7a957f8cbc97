"""What of a file goes out."""

from typing import Any

import numpy as np
import pytest

from tests.data_files import data
from th_shell.runtime import Function, Table, TorchObject
from th_shell.runtime.t7.tensors import lua_tensor, storage_over, tensor_of
from th_shell.runtime.t7.working_memory import is_module, portable_fields, portable_tensors


def tensor(*sizes: int) -> Any:
    return tensor_of(np.ones(sizes))


def names(value: Any, everything: bool = False) -> list[str]:
    return [name for name, _ in portable_tensors(value, everything)[0]]


def net(**fields: Any) -> TorchObject:
    return TorchObject("nn.Linear", {"weight": tensor(2, 2), **fields})


@pytest.mark.parametrize(("kind", "name"), data(__file__, "test_working_memory"))
def test_working_memory(kind: str, name: str) -> None:
    def module(value: Any) -> TorchObject:
        return TorchObject(kind, {"weight": tensor(2, 2), "gradInput": 0, name: value})

    assert names(module(tensor(3))) == ["weight"]
    assert names(module(Table.of([tensor(3)]))) == ["weight"]
    assert portable_fields(module(3))[name] == 3


@pytest.mark.parametrize("kind", ["my.Layer", "nn.Mine", "nn.Linear"])
def test_fields_that_a_class_does_not_make_go_out(kind: str) -> None:
    own = dict.fromkeys(["coef", "temp", "indices", "norm", "scale", "_x", "gradClip"], tensor(3))
    module = TorchObject(kind, {"_type": "torch.DoubleTensor", "clip": 1, **own})
    assert names(module) == list(own)
    module.fields["inner"] = Table({"output": tensor(1)})
    module.fields["gradScale"] = tensor(3)
    assert names(module) == [*own, "inner.output"]


def test_all_gradients_of_parameters_are_left_out() -> None:
    more = {"gradWeight": tensor(4), "diagHessianWeight": tensor(2, 2), "diagHessian": tensor(1)}
    assert names(net(**more)) == ["weight", "diagHessian"]
    assert names(net(gradWeight=tensor_of(np.empty(0)))) == ["weight"]
    assert names(net(gradWeight=tensor(3))) == ["weight", "gradWeight"]


def test_the_number_of_those_left_out() -> None:
    module = net(output=tensor(3), gradInput=tensor_of(np.empty(0)), gradWeight=tensor(2, 2))
    value = Table({"net": module, "again": module, "optimizer": Table({"m": tensor(2)})})
    assert portable_tensors(value)[1] == 3
    assert portable_tensors(value, everything=True)[1] == 0


def test_storages_but_those_of_sizes_go_out() -> None:
    tensors = {kind: tensor_of(np.ones(3, kind)) for kind in ("int32", "int64")}
    storages = {kind: storage_over(lua_tensor(each).storage) for kind, each in tensors.items()}
    assert names(TorchObject("my.Layer", {"_type": "", **storages})) == ["int32"]


@pytest.mark.parametrize(("name", "keys", "count"), data(__file__, "test_what_is_an_optimizers"))
def test_what_is_an_optimizers(name: str, keys: list[str], count: int) -> None:
    table = Table({"model": net(), name: Table(dict.fromkeys(keys, tensor(3)))})
    assert len(names(table)) == 1 + count


def test_parameters_and_buffers() -> None:
    kept = dict.fromkeys(["bias", "running_mean", "kernel", "anything"], tensor(2))
    assert names(net(**kept)) == ["weight", *kept]
    assert names(net(empty=tensor_of(np.empty(0)), kW=3, name="x")) == ["weight", "empty"]
    assert list(portable_fields(net(kW=3))) == ["weight", "kW"]


def test_modules_come_first() -> None:
    inner = net()
    node = TorchObject("nngraph.Node", {"data": Table({"module": inner, "input": tensor(2)})})
    graph = TorchObject("graph.Graph", {"nodes": Table.of([node])})
    whole = TorchObject("nn.gModule", {"fg": graph, "modules": Table.of([inner])})
    assert names(whole) == ["modules.1.weight"]
    assert names(TorchObject("nn.Any", {"output": inner})) == ["output.weight"]


def test_what_stands_beside_a_module() -> None:
    more = Table({"m": tensor(9)})
    state = Table({"learningRate": 0.1, "evalCounter": 3, "dfdx": tensor(9), "more": more})
    table = Table({"model": net(), "mean": tensor(3)})
    table["optimState"] = Table({"t": 3, "m": tensor(9)})
    table["state"] = state
    assert names(table) == ["model.weight", "mean"]
    del table["model"]
    assert "state.dfdx" in names(table)


def test_functions_and_what_holds_itself() -> None:
    module = net()
    module.fields["f"] = Function(b"x", Table({"gradient": tensor(3)}))
    module.fields["self"] = module
    assert names(module) == ["weight"]


def test_what_is_a_module() -> None:
    assert is_module(net()) and is_module(TorchObject("my.Layer", {"gradInput": tensor(1)}))
    assert not is_module(TorchObject("my.Data", {"indices": tensor(1)}))
    assert not is_module(Table())
