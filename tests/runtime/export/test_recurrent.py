"""What modules of rnn become, beside what they have computed: two inputs of different lengths.

``tests/data/export/recurrent.t7.gz`` has the modules, their inputs and outputs. To make it anew,
with nn, nngraph, dpnn and rnn where Lua finds them: ``th tests/runtime/export/recurrent.lua
recurrent.t7``, and ``gzip -9n recurrent.t7``.
"""

import gzip
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.data_files import data
from tests.processes import run_python
from tests.runtime.export.nets import bare, linear, module, tensor
from th_shell import runtime
from th_shell.runtime import Table, TorchObject
from th_shell.runtime.export import ExportError, to_onnx, to_pytorch
from th_shell.runtime.export.modules import REASONS, row_of

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


@pytest.mark.sample(11)
@each_entry
def test_onnx(name: str, tmp_path: Path) -> None:
    entry = _ENTRIES[name]
    to_onnx(entry["module"], tmp_path / "net.onnx", check=False, input=entry["shape"])
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    first, *_ = taken = session.get_inputs()
    for inputs, outputs in _cases(name, first.type == "tensor(int64)"):
        given = {each.name: array for each, array in zip(taken, inputs, strict=True)}
        _compare(session.run(None, given), outputs)


@pytest.mark.thorough
def test_pytorch_sources(tmp_path: Path) -> None:
    """They are Python as its formatter and linter want it."""
    for number, entry in enumerate(_ENTRIES.values()):
        target = tmp_path / f"net{number}.pt"
        to_pytorch(entry["module"], target, check=False, input=entry["shape"])
    for words in (["check", "--isolated"], ["format", "--isolated", "--diff"]):
        done = run_python("-m", "ruff", *words, "-q", str(tmp_path))
        assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.needs("torch")
@pytest.mark.sample(12)
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
    net.eval()
    for inputs, outputs in _cases(name, "Embedding" in source):
        assert len(signature(net.forward).parameters) == len(inputs)
        with torch.no_grad():
            found = net(*map(torch.from_numpy, inputs))
        _compare(
            [each.numpy() for each in (found if isinstance(found, tuple) else [found])], outputs
        )


def _source(net: Any, tmp_path: Path, shape: str | None) -> str:
    to_pytorch(net, tmp_path / "net.pt", check=False, input=shape)
    return bare((tmp_path / "net.py").read_text())


def test_an_lstm_as_people_write_it(tmp_path: Path) -> None:
    entry = _ENTRIES["Sequencer: stacked"]
    assert _source(entry["module"], tmp_path, entry["shape"]).partition("\n\n\n")[2] == (
        data(__file__, "test_an_lstm_as_people_write_it")
    )


def test_a_loop_as_people_write_it(tmp_path: Path) -> None:
    entry = _ENTRIES["SeqLSTMP"]
    assert _source(entry["module"], tmp_path, entry["shape"]).partition("forward")[2] == (
        "(self, x: Tensor) -> Tensor:\n"
        "        h = x.new_zeros(x.size(1), 2)\n"
        "        c = x.new_zeros(x.size(1), 4)\n"
        "        outputs = []\n"
        "        for x_t in x:\n"
        "            h, c = self.step(x_t, h, c)\n"
        "            outputs.append(h)\n"
        "        return torch.stack(outputs)\n\n"
        "    def step(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:\n"
        "        i, f, o, g = (self.x_to_gates(x) + self.h_to_gates(h)).chunk(4, 1)\n"
        "        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)\n"
        "        return self.h_to_h(torch.sigmoid(o) * torch.tanh(c)), c\n\n\n"
        "class Model(nn.Module):\n"
        "    def __init__(self) -> None:\n"
        "        super().__init__()\n"
        "        self.seq_lstmp = SeqLSTMP()\n\n"
        "    def forward(self, x: Tensor) -> Tensor:\n"
        "        return self.seq_lstmp(x)\n"
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


def _onnx(net: Any, tmp_path: Path, shape: str | None, x: Any) -> Any:
    to_onnx(net, tmp_path / "net.onnx", check=False, input=shape)
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    return session.run(None, {"input": x})[0]


def test_layers_of_torch_rnn(tmp_path: Path) -> None:
    """Its nn.LSTM has the weights of rnn's SeqLSTM, where samples come first."""
    weights = {"weight": tensor(5, 8), "bias": tensor(8)}
    x = np.random.default_rng(1).standard_normal((4, 6, 3)).astype(np.float32)
    lstm = module("LSTM", input_dim=3, hidden_dim=2, **weights)
    same = module("SeqLSTM", inputsize=3, outputsize=2, batchfirst=True, **weights)
    found = _onnx(lstm, tmp_path, None, x)
    np.testing.assert_allclose(found, _onnx(same, tmp_path, None, x), atol=1e-6)


def test_a_plain_rnn_of_torch_rnn(tmp_path: Path) -> None:
    weight, bias = tensor(5, 2), tensor(2)
    net = module("VanillaRNN", input_dim=3, hidden_dim=2, weight=weight, bias=bias)
    x = np.random.default_rng(1).standard_normal((4, 6, 3)).astype(np.float32)
    h = np.zeros((4, 2))
    for n, found in enumerate(_onnx(net, tmp_path, None, x).swapaxes(0, 1)):
        h = np.tanh(np.concatenate([x[:, n], h], 1) @ np.asarray(weight) + np.asarray(bias))
        np.testing.assert_allclose(found, h, atol=1e-6)
    assert "self.rnn = nn.RNN(3, 2, batch_first=True)\n" in _source(net, tmp_path, None)


def test_a_language_model_of_torch_rnn(tmp_path: Path) -> None:
    """What its views are set to when it runs is not what they are in the file."""
    lstm = module("LSTM", input_dim=3, hidden_dim=2, weight=tensor(5, 8), bias=tensor(8))
    views = [module("View", size=Table.of(sizes)) for sizes in ([1, 1, -1], [1, -1])]
    table = module("LookupTable", weight=tensor(9, 3))
    chain = module("Sequential", table, lstm, views[0], linear(2, 9), views[1])
    source = _source(module("LanguageModel", net=chain), tmp_path, None)
    assert source.partition("forward")[2] == (
        "(self, x: Tensor) -> Tensor:\n"
        "        x, _ = self.lstm(self.embedding(x - 1))\n"
        "        return self.linear(x)\n"
    )


def test_indices_without_input(tmp_path: Path) -> None:
    """What follows a table of indices tells how many dimensions its input has."""
    table = module("LookupTable", weight=tensor(9, 3))
    lstm = module("SeqLSTM", inputsize=3, outputsize=2, weight=tensor(5, 8), bias=tensor(8))
    x = np.ones((4, 2), np.int64)
    assert _onnx(module("Sequential", table, lstm), tmp_path, None, x).shape == (4, 2, 2)


def test_a_cell_alone(tmp_path: Path) -> None:
    """It takes the first step."""
    net = _ENTRIES["GRU"]["module"]["modules"][1]
    inputs, outputs = next(_cases("GRU", False))
    found = _onnx(net, tmp_path, None, inputs[0][0])
    np.testing.assert_allclose(found, outputs[0][0], atol=1e-6)


def test_networks_of_opennmt(tmp_path: Path) -> None:
    net = TorchObject("onmt.LSTM", {"modules": Table.of([linear(3, 2)])})
    assert _onnx(net, tmp_path, None, np.ones((4, 3), np.float32)).shape == (4, 2)


#: The classes of rnn, without criterions and what other classes are made from.
_CLASSES = """
BiSequencer BiSequencerLM CopyGrad Dropout ExpandAs FastLSTM GRU LSTM LinearNoBias
LookupTableMaskZero MaskZero MuFuRu NormStabilizer Padding Recurrence Recurrent RecurrentAttention
Recursor Repeater SAdd SeqBRNN SeqGRU SeqLSTM SeqLSTMP SeqReverseSequence Sequencer TrimZero
ZeroGrad
""".split()


def test_all_classes_are_known() -> None:
    names = [f"nn.{name}" for name in _CLASSES]
    assert [name for name in names if row_of(name) is None and name not in REASONS] == []


def test_a_cell_is_one_class_wherever_it_is(tmp_path: Path) -> None:
    with gzip.open(_FILE) as file:
        twin = next(each for each in runtime.load(file).to_list() if each["name"] == "LSTM")
    both = module("ConcatTable", _ENTRIES["LSTM"]["module"], twin["module"])
    text = _source(both, tmp_path, twin["shape"])
    assert text.count("class PeepholeLSTM(nn.Module)") == text.count("class ") - 1 == 1
    assert text.count(" = PeepholeLSTM(3, ") == 2
    assert "self.x_to_i = nn.Linear(input_size, hidden_size)" in text
