"""What modules of rnn become, beside what they have computed: two inputs of different lengths.

``tests/data/export/recurrent.t7.gz`` has the modules, their inputs and outputs. To make it anew,
with nn, nngraph, dpnn and rnn where Lua finds them: ``th tests/runtime/export/recurrent.lua
recurrent.t7``, and ``gzip -9n recurrent.t7``.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import runtime
from runtime import Table
from runtime.export import ExportError, to_onnx, to_pytorch
from tests.runtime.export.nets import linear, module

_FILE = Path(__file__).parents[2] / "data" / "export" / "recurrent.t7.gz"
with gzip.open(_FILE) as _file:
    _ENTRIES = {each["name"]: each for each in runtime.load(_file).to_list()}

each_entry = pytest.mark.parametrize("name", _ENTRIES)


def _arrays(value: Any) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(each) for each in (value.to_list() if isinstance(value, Table) else [value])]


def _cases(name: str, whole: bool) -> Iterator[tuple[list[Any], list[Any]]]:
    """Inputs and outputs; whole: whether the first input is one of whole numbers."""
    for case in _ENTRIES[name]["cases"].to_list():
        first, *others = _arrays(case["input"])
        yield [first.astype(np.int64 if whole else np.float32), *others], _arrays(case["output"])


def _compare(found: list[Any], wanted: list[Any]) -> None:
    assert [each.shape for each in found] == [each.shape for each in wanted]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)


@each_entry
def test_onnx(name: str, tmp_path: Path) -> None:
    entry = _ENTRIES[name]
    to_onnx(entry["module"], tmp_path / "net.onnx", check=False, input=entry["shape"])
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    first, *_ = taken = session.get_inputs()
    for inputs, outputs in _cases(name, first.type == "tensor(int64)"):
        given = {each.name: array for each, array in zip(taken, inputs, strict=True)}
        _compare(session.run(None, given), outputs)


def test_pytorch_sources(tmp_path: Path) -> None:
    """They are Python as its formatter and linter want it."""
    for number, entry in enumerate(_ENTRIES.values()):
        target = tmp_path / f"net{number}.pt"
        to_pytorch(entry["module"], target, check=False, input=entry["shape"])
    for words in (["check", "--isolated"], ["format", "--isolated", "--diff"]):
        command = [sys.executable, "-m", "ruff", *words, "-q", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@each_entry
def test_pytorch(name: str, tmp_path: Path) -> None:
    import torch

    entry = _ENTRIES[name]
    to_pytorch(entry["module"], tmp_path / "net.pt", check=False, input=entry["shape"])
    source = (tmp_path / "net.py").read_text()
    space: dict[str, Any] = {"__name__": "net"}
    exec(compile(source, "net.py", "exec"), space)
    net = space["Model"]()
    net.load_state_dict(torch.load(tmp_path / "net.pt", weights_only=True))
    for inputs, outputs in _cases(name, "Embedding" in source):
        assert len(signature(net.forward).parameters) == len(inputs)
        with torch.no_grad():
            found = net(*map(torch.from_numpy, inputs))
        _compare(
            [each.numpy() for each in (found if isinstance(found, tuple) else [found])], outputs
        )


def _source(net: Any, tmp_path: Path, shape: str) -> str:
    to_pytorch(net, tmp_path / "net.pt", check=False, input=shape)
    return (tmp_path / "net.py").read_text()


def test_an_lstm_as_people_write_it(tmp_path: Path) -> None:
    entry = _ENTRIES["Sequencer: stacked"]
    assert _source(entry["module"], tmp_path, entry["shape"]).partition("\n\n\n")[2] == (
        "class Model(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.lstm = nn.LSTM(3, 2)\n"
        "        self.layers = nn.Sequential(\n"
        "            nn.Linear(2, 4),\n"
        "            nn.LogSoftmax(dim=1),\n"
        "        )\n"
        "        self.eval()  # as it was converted; train() to go on\n"
        "\n"
        "    def forward(self, x):\n"
        "        x, _ = self.lstm(x)\n"
        "        return self.layers(x.flatten(0, 1)).unflatten(0, x.shape[:2])\n"
    )


def test_a_loop_as_people_write_it(tmp_path: Path) -> None:
    entry = _ENTRIES["SeqLSTMP"]
    assert _source(entry["module"], tmp_path, entry["shape"]).partition("forward")[2] == (
        "(self, x):\n"
        "        h = x.new_zeros(x.size(1), 2)\n"
        "        c = x.new_zeros(x.size(1), 4)\n"
        "        outputs = []\n"
        "        for x_t in x:\n"
        "            i, f, o, g = (self.linear1(x_t) + self.linear2(h)).chunk(4, 1)\n"
        "            product = torch.sigmoid(f) * c\n"
        "            c = product + (torch.sigmoid(i) * torch.tanh(g))\n"
        "            h = self.linear3(torch.sigmoid(o) * torch.tanh(c))\n"
        "            outputs.append(h)\n"
        "        return torch.stack(outputs)\n"
    )


def test_the_names_of_open_sizes(tmp_path: Path) -> None:
    entry = _ENTRIES["BiSequencer"]
    to_onnx(entry["module"], tmp_path / "net.onnx", check=False, input=entry["shape"])
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    assert [each.shape for each in session.get_inputs()] == [["time", "batch", 3]]
    assert [each.shape for each in session.get_outputs()] == [["time", "batch", 4]]


@pytest.mark.parametrize(
    ("net", "message"),
    [
        (
            module("Sequential", module("SplitTable", dimension=1), module("CAddTable")),
            "nn.CAddTable at 2: it takes a table whose length must be known: give --input",
        ),
        (
            module("Sequential", linear(3, 3), module("BiSequencer", module("Identity"))),
            "nn.BiSequencer at 2: its input is a tensor where it takes a table",
        ),
        (
            module("Sequencer", module("Sequencer", module("BiSequencer", module("Identity")))),
            "nn.BiSequencer at 1.1: its input is a tensor where it takes a table",
        ),
        (
            module(
                "Recurrent",
                startModule=linear(3, 3),
                mergeModule=module("CAddTable"),
            ),
            "nn.Recurrent: starts and merges by other modules than nn.Add and nn.CAddTable",
        ),
    ],
)
def test_errors(net: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError) as caught:
        to_onnx(net, tmp_path / "net.onnx", check=False, input="timexbatchx3")
    assert str(caught.value) == message
