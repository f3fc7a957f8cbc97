"""Pickles and copies of what programs have: they name what makes it again by names that stay."""

import copy
import multiprocessing
import pickle
import pickletools
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch
from th_shell.runtime import (
    Engine,
    Function,
    LuaError,
    LuaTable,
    T7Error,
    Table,
    TorchObject,
    load,
    save,
)
from th_shell.runtime.shell import LuaSyntaxError

AGAIN = [
    copy.copy,
    copy.deepcopy,
    *(lambda x, p=p: pickle.loads(pickle.dumps(x, p)) for p in range(2, 6)),
]


def named(value: Any) -> set[str]:
    """The functions and classes that a pickle names."""
    strings: list[str] = []
    names = set()
    for code, argument, _ in pickletools.genops(pickle.dumps(value, 4)):
        if isinstance(argument, str):
            strings.append(argument)
        elif code.name == "STACK_GLOBAL":
            names.add(".".join(strings[-2:]))
    return names


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (torch.ones(2), "restored"),
        (torch.ones(2).untyped_storage(), "restored"),
        (torch.ones(2).size(), "restored"),
        (torch.ones(2).max(0), "restored"),
        (torch.ones(2).device, "restored"),
        (torch.float64, "restored"),
        (Table({1: 2}), "Table"),
        (TorchObject, "TorchObject"),
        (Function, "Function"),
        (LuaError("m"), "LuaError"),
        (T7Error("m"), "T7Error"),
        (Engine, "Engine"),
        (LuaTable, "LuaTable"),
        (load, "load"),
        (save, "save"),
    ],
)
def test_names_stay(value: Any, name: str) -> None:
    assert named(value) == {f"th_shell.{name}"}


def test_names_of_functions() -> None:
    assert named(torch.add) == {"th_shell.torch.add"}
    assert named(torch.einsum) == {"th_shell.torch.einsum"}
    assert pickle.loads(pickle.dumps(torch.Tensor.add)) is torch.Tensor.add
    assert pickle.loads(pickle.dumps(torch)) is torch
    assert repr(torch.Tensor) == repr(type(torch.ones(1))) == "<class 'torch.Tensor'>"


@pytest.mark.parametrize("again", AGAIN)
def test_tables(again: Callable[[Any], Any]) -> None:
    key = torch.ones(1)
    made = again(Table([(1, "one"), (True, "yes"), (key, [5])]))
    assert list(made.values()) == ["one", "yes", [5]] and made[True] == "yes"
    (tensor,) = (key for key in made if isinstance(key, torch.Tensor))
    assert made[tensor] == [5]


@pytest.mark.parametrize("again", AGAIN[1:])
def test_objects_that_hold_themselves(again: Callable[[Any], Any]) -> None:
    net = TorchObject("nn.Net", {"weight": torch.ones(2), "f": Function(b"x", Table([(1, 2)]))}, 2)
    net.self, net.table = net, Table()
    net.table["again"], net.grad = net.table, net.weight
    made = again(net)
    assert made.self is made and made.table["again"] is made.table and made.version == 2
    assert made.grad is made.weight is not net.weight and made.weight.tolist() == [1, 1]
    assert (made.f.bytecode, made.f.upvalues[1], made.f.kind) == (b"x", 2, 8)


@pytest.mark.parametrize("again", AGAIN)
def test_constants_stay_themselves(again: Callable[[Any], Any]) -> None:
    assert again(torch.float64) is torch.float64 and again(torch.strided) is torch.strided


@pytest.mark.parametrize("again", AGAIN)
def test_errors(again: Callable[[Any], Any]) -> None:
    error = again(LuaError("lua:1: no", "frames"))
    assert (error.message, error.traceback, str(error)) == ("lua:1: no", "frames", "lua:1: no")
    assert again(LuaSyntaxError("no", True)).incomplete is True


def test_elements_go_out_of_band() -> None:
    buffers: list[pickle.PickleBuffer] = []
    x = torch.arange(1e5)
    data = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert len(data) < 500 and np.shares_memory(buffers[0].raw(), x.numpy())
    made = pickle.loads(data, buffers=buffers)
    made[0] = 7  # is a copy
    assert x[0] == 0 and made[-1] == x[-1]


def test_an_engine_stays_in_its_process() -> None:
    with Engine() as engine, pytest.raises(TypeError) as raised:
        pickle.dumps(engine)
    assert str(raised.value) == "an engine stays in its process: make one in each"


def _doubled(net: TorchObject) -> TorchObject:
    with Engine() as lua:
        lua["x"] = net.weight
        net.weight = lua.eval("x * 2")
    return net


def _by(context: str) -> Callable[[TorchObject], TorchObject]:
    def run(net: TorchObject) -> TorchObject:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(context)) as pool:
            return pool.submit(_doubled, net).result()

    return run


def _by_joblib(net: TorchObject) -> Any:
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    try:
        return joblib.Parallel(2, backend="loky")([joblib.delayed(_doubled)(net)])[0]
    finally:
        joblib.externals.loky.get_reusable_executor().shutdown()


def _by_dask(net: TorchObject) -> Any:
    import dask.bag as bag

    return bag.from_sequence([net]).map(_doubled).compute(scheduler="processes", num_workers=1)[0]


def _by_a_cluster(net: TorchObject) -> Any:
    import distributed

    with (
        distributed.LocalCluster(1, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        return client.submit(_doubled, net).result()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "run",
    [
        _by("fork"),
        _by("spawn"),
        _by_joblib,
        pytest.param(_by_dask, marks=pytest.mark.needs("dask")),
        pytest.param(_by_a_cluster, marks=pytest.mark.needs("distributed")),
    ],
    ids=["fork", "spawn", "joblib", "dask", "cluster"],
)
def test_processes(run: Callable[[TorchObject], Any]) -> None:
    net = run(TorchObject("nn.Net", {"weight": torch.ones(2)}))
    assert net.torch_typename == "nn.Net" and net.weight.tolist() == [2, 2]
