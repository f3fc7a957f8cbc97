"""What modules of nn and dpnn become, beside what they have computed.

``tests/data/export/modules.t7.gz`` has the modules, their inputs and outputs. To make it anew, with
nn, nngraph and dpnn where Lua finds them: ``th tests/runtime/export/modules.lua modules.t7``, and
``gzip -9n modules.t7``.
"""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from tests.data_files import data
from tests.processes import run_python
from th_shell import runtime
from th_shell.runtime import Table, TorchObject
from th_shell.runtime.export import ExportError, to_onnx, to_pytorch
from th_shell.runtime.export.data import tensors
from th_shell.runtime.export.lowering import graph_of, shapes_of

_FILE = Path(__file__).parents[2] / "data" / "export" / "modules.t7.gz"
with gzip.open(_FILE) as _file:
    ENTRIES = {each["name"]: each for each in runtime.load(_file).to_list()}
_RELATIVE = 1e-5  # of differences, as a part of the largest number

each_entry = pytest.mark.parametrize("name", ENTRIES)


def _arrays(value: Any, name: str) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """The tensors of a table and of the tables in it, by the names of a net's inputs."""
    if not isinstance(value, Table):
        yield name, np.asarray(value)
        return
    for number, item in enumerate(value.to_list(), 1):
        yield from _arrays(item, f"{name}{number}")


def _compare(name: str, found: list[Any]) -> None:
    wanted = [array for _, array in _arrays(ENTRIES[name]["output"], "")]
    assert [each.shape for each in found] == [each.shape for each in wanted]
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=_RELATIVE * max(abs(one).max(), 1))


def _shapes(name: str) -> Iterator[str | None]:
    """The sizes to convert with, and none, where a module takes them for what they are."""
    yield ENTRIES[name]["shape"]
    ranks = {place: array.ndim for place, array in _arrays(ENTRIES[name]["input"], "input")}
    try:
        graph = graph_of(ENTRIES[name]["module"])
    except ExportError as error:
        assert "give --input" in str(error)
        return
    # Of a table whose length is not known, the parts are written as one array.
    is_stacked = len(graph.outputs) < len(list(_arrays(ENTRIES[name]["output"], "")))
    is_fit = all(each.shape and ranks.get(each.name) == each.rank for each in graph.inputs)
    if is_fit and not is_stacked:
        yield None


def _inputs(name: str, shape: str | None) -> dict[str, np.ndarray[Any, Any]]:
    """The inputs that what is written takes, by their names."""
    arrays = dict(_arrays(ENTRIES[name]["input"], "input"))
    graph = graph_of(ENTRIES[name]["module"], shape and shapes_of(shape))
    kinds = {"int": np.int64, "float": np.float32}
    return {each.name: arrays[each.name].astype(kinds[each.kind]) for each in graph.inputs}


#: Those of nn and nngraph whose output lies in the memory of their input: their storages tell.
SHARING = data(__file__, "SHARING")


@pytest.mark.sample(68)
@each_entry
def test_memory(name: str) -> None:
    shape = ENTRIES[name]["shape"]
    graph = graph_of(ENTRIES[name]["module"], shape and shapes_of(shape))
    inputs = list(tensors(graph.arguments))
    shares = any(each.memory in inputs for each in tensors(graph.result, decide=True))
    assert shares == (name in SHARING.replace("\n", " ").strip().split(", "))


@pytest.mark.sample(28)
@each_entry
def test_onnx(name: str, tmp_path: Path) -> None:
    module = ENTRIES[name]["module"]
    for shape in _shapes(name):
        to_onnx(module, tmp_path / "net.onnx", check=False, input=shape)
        session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
        _compare(name, session.run(None, _inputs(name, shape)))


def test_the_one_hot_of_char_rnn(tmp_path: Path) -> None:
    net = TorchObject("OneHot", ENTRIES["OneHot"]["module"].fields)
    to_onnx(net, tmp_path / "net.onnx", check=False, input="n")
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    _compare("OneHot", session.run(None, _inputs("OneHot", "n")))


def test_what_onnx_wants_in_32_bits_stays_so(tmp_path: Path) -> None:
    net = ENTRIES["SpatialUpSamplingBilinear"]["module"]
    to_onnx(net, tmp_path / "net.onnx", check=False, type="double")
    (scales,) = onnx.load(tmp_path / "net.onnx").graph.initializer
    assert onnx.numpy_helper.to_array(scales).dtype == np.float32


@pytest.mark.thorough
def test_pytorch_sources(tmp_path: Path) -> None:
    """They are Python as its formatter and linter want it."""
    for number, (name, entry) in enumerate(ENTRIES.items()):
        for shape in _shapes(name):
            target = tmp_path / f"net{number}_{shape is None}.pt"
            to_pytorch(entry["module"], target, check=False, input=shape)
    for words in (["check", "--isolated"], ["format", "--isolated", "--diff"]):
        done = run_python("-m", "ruff", *words, "-q", str(tmp_path))
        assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.needs("torch")
@pytest.mark.sample(68)
@each_entry
def test_pytorch(name: str, tmp_path: Path) -> None:
    import torch

    for shape in _shapes(name):
        to_pytorch(ENTRIES[name]["module"], tmp_path / "net.pt", check=False, input=shape)
        space: dict[str, Any] = {"__name__": "net"}
        exec(compile((tmp_path / "net.py").read_text(), "net.py", "exec"), space)
        net = space["Model"]()
        net.load_state_dict(torch.load(tmp_path / "net.pt", weights_only=True))
        net.eval()
        with torch.no_grad():
            found = net(*map(torch.from_numpy, _inputs(name, shape).values()))
        _compare(name, [each.numpy() for each in (found if isinstance(found, tuple) else [found])])
