"""The source and the state_dict that are written for PyTorch, which the tests need not have."""

import collections
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data_files import data
from tests.runtime.export.nets import bare, conv, linear, module, tensor
from th_shell.runtime import Table, TorchObject
from th_shell.runtime.export import ExportError, to_pytorch
from th_shell.runtime.t7.tensors import tensor_of


def source(net: TorchObject, folder: Path, **options: Any) -> str:
    """The source of a net, without its heading, its end and comments."""
    report = to_pytorch(net, folder / "net.pt", check=False, **options)
    assert report.files == [str(folder / "net.pt"), str(folder / "net.py")]
    text = (folder / "net.py").read_text()
    assert text.startswith(f'"""{net.torch_typename} of Torch7; its parameters are in net.pt."""\n')
    return bare(text.partition("\n\n\n")[2])


class _Reader(pickle.Unpickler):
    """Reads the pickle of a state_dict as PyTorch does, which allows few names."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        super().__init__(archive.open("archive/data.pkl"))
        self._archive = archive
        self.keys: list[str] = []

    def find_class(self, package: str, name: str) -> Any:
        allowed = {
            ("collections", "OrderedDict"): collections.OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _array,
            ("torch", "FloatStorage"): "f4",
            ("torch", "DoubleStorage"): "f8",
        }
        return allowed[package, name]

    def persistent_load(self, name: Any) -> Any:
        kind, dtype, key, device, count = name
        assert (kind, device) == ("storage", "cpu")
        self.keys.append(key)
        member = self._archive.getinfo(f"archive/data/{key}")
        self._archive.fp.seek(member.header_offset + 26)  # type: ignore[union-attr]
        lengths = np.frombuffer(self._archive.fp.read(4), "<u2")  # type: ignore[union-attr]
        assert (member.header_offset + 30 + int(lengths.sum())) % 64 == 0
        storage = np.frombuffer(self._archive.read(member), dtype)
        assert storage.size == count
        return storage


def _array(storage: Any, offset: int, sizes: Any, strides: Any, gradient: bool, hooks: Any) -> Any:
    assert (offset, gradient, hooks) == (0, False, collections.OrderedDict())
    steps = [stride * storage.itemsize for stride in strides]
    return np.ndarray(sizes, storage.dtype, storage, 0, steps)


def state_dict(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The arrays of a file by their names, and the storages that these are in."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.read("archive/version") == b"3\n"
        reader = _Reader(archive)
        return dict(reader.load()), reader.keys


CHAIN = data(__file__, "CHAIN")


def test_a_chain(tmp_path: Path) -> None:
    layers = [conv(1, 2, 3), module("ReLU"), conv(2, 2, 3, padW=1, padH=1)]
    view = module("View", size=Table.of([8]), numElements=8)
    net = module("Sequential", *layers, view, linear(8, 4), module("Tanh"), linear(4, 2))
    assert source(net, tmp_path) == CHAIN
    found, keys = state_dict(tmp_path / "net.pt")
    assert list(found)[:2] == ["features.0.weight", "features.0.bias"]
    assert list(found)[-1] == "classifier.2.bias"
    assert len(set(keys)) == 8
    np.testing.assert_array_equal(found["features.0.weight"], np.asarray(layers[0].weight))


def residual(channels: int) -> TorchObject:
    """A block with a shortcut."""
    branch = module("Sequential", conv(channels, channels, 1), module("Tanh"))
    both = module("ConcatTable", branch, module("Identity"))
    return module("Sequential", both, module("CAddTable"), module("ReLU"))


BLOCKS = data(__file__, "BLOCKS")


def test_blocks_that_are_repeated_are_classes(tmp_path: Path) -> None:
    net = module("Sequential", residual(2), conv(2, 4, 1), residual(4))
    assert source(net, tmp_path) == BLOCKS
    found, _ = state_dict(tmp_path / "net.pt")
    third = net.modules[3].modules[1].modules[1].modules[1]
    np.testing.assert_array_equal(found["layers.2.branch.0.weight"], np.asarray(third.weight))


TWO = data(__file__, "TWO")


def test_two_inputs_and_what_is_shared(tmp_path: Path) -> None:
    one, other = linear(3, 2), linear(4, 2)
    other.bias = one.bias
    total = module("Sequential", module("ParallelTable", one, other), module("CAddTable"))
    again = module("Sequential", module("SelectTable", index=1), one)
    ends = module("ConcatTable", module("Identity"), module("ReLU"))
    net = module("ConcatTable", module("Sequential", total, ends), again)
    assert source(net, tmp_path, input="1x3,1x4") == TWO
    found, keys = state_dict(tmp_path / "net.pt")
    assert list(found) == ["linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"]
    assert keys == ["0", "1", "2", "1"]


def test_doubles(tmp_path: Path) -> None:
    net = module("Sequential", linear(3, 2), module("ReLU"))
    text = source(net, tmp_path, type="double")
    assert text.count("self.double()") == 1
    found, _ = state_dict(tmp_path / "net.pt")
    assert found["layers.0.weight"].dtype == np.float64


@pytest.mark.needs("torch")
def test_pytorch_reads_it(tmp_path: Path) -> None:
    net = module("Sequential", residual(2), conv(2, 4, 1), residual(4), residual(4))
    source(net, tmp_path)
    program = (
        "import torch, net; m = net.Model();"
        "m.load_state_dict(torch.load('net.pt', weights_only=True));"
        "print(m(torch.zeros(1, 2, 3, 3)).shape)"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True)
    assert run.stdout == b"torch.Size([1, 4, 3, 3])\n"


def test_old_batch_norms(tmp_path: Path) -> None:
    net = module("BatchNormalization", eps=0.0, running_mean=tensor(2), running_std=tensor(2))
    source(net, tmp_path)
    found, _ = state_dict(tmp_path / "net.pt")
    inverse = np.asarray(net.running_std).astype(np.float64)
    np.testing.assert_allclose(found["norm.running_var"], 1 / inverse**2, rtol=1e-6)


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    net = module("Sequential", residual(2), residual(2))
    first, second = tmp_path / "a.pt", tmp_path / "b.pt"
    for path in (first, second):
        to_pytorch(net, path, check=False)
    assert first.read_bytes() == second.read_bytes()


def test_a_module_that_is_used_twice_has_one_result(tmp_path: Path) -> None:
    twice = linear(3, 2)
    net = module("Sequential", module("ParallelTable", twice, twice), module("CAddTable"))
    assert source(net, tmp_path, input="1x3,1x3").endswith(
        "    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:\n"
        "        x = self.linear(input2)\n"
        "        return x + x\n"
    )


def test_inputs_have_the_order_of_the_table(tmp_path: Path) -> None:
    second = module("Sequential", module("SelectTable", index=2), module("Tanh"))
    first = module("Sequential", module("SelectTable", index=1), module("Tanh"))
    net = module("ConcatTable", second, first)
    assert source(net, tmp_path, input="1x3,1x3").endswith(
        "    def forward(self, input1: Tensor, input2: Tensor) -> tuple[Tensor, Tensor]:\n"
        "        return torch.tanh(input2), torch.tanh(input1)\n"
    )


def test_layers_that_share_parameters_stay_two(tmp_path: Path) -> None:
    one = module("Sequential", linear(3, 2), module("Tanh"))
    other = module("Sequential", module("Linear", **one.modules[1].fields), module("Sigmoid"))
    net = module("Sequential", module("ConcatTable", one, other), module("CAddTable"))
    text = source(net, tmp_path, type="double")
    assert text.partition("        self.branch2 = ")[2] == (
        "nn.Sequential(\n            nn.Linear(3, 2),\n            nn.Sigmoid(),\n        )\n"
        "        self.double()\n"
        "        self.branch2[0].weight = self.branch1[0].weight\n"
        "        self.branch2[0].bias = self.branch1[0].bias\n"
        "\n"
        "    def forward(self, x: Tensor) -> Tensor:\n"
        "        return self.branch1(x) + self.branch2(x)\n"
    )


@pytest.mark.parametrize(
    ("layers", "last"),
    data(__file__, "test_what_is_computed_in_place"),
)
def test_what_is_computed_in_place(tmp_path: Path, layers: list[str], last: list[str]) -> None:
    branches = [module(name, inplace=name == "ReLU") for name in layers]
    net = module("Sequential", linear(3, 2), module("ConcatTable", *branches))
    lines = source(net, tmp_path).splitlines()
    assert [line.strip() for line in lines[-2:]] == last


def test_what_is_computed_in_place_in_a_view(tmp_path: Path) -> None:
    view = module("View", size=Table.of([2, 2]), numElements=4)
    branch = module("Sequential", view, module("ReLU", inplace=True))
    both = module("ConcatTable", branch, module("Tanh"))
    text = source(module("Sequential", linear(3, 4), both), tmp_path)
    assert text.endswith("        return y, torch.tanh(y.reshape_as(x))\n")


def test_a_layer_of_two_inputs_begins_no_chain(tmp_path: Path) -> None:
    bilinear = module("Bilinear", weight=tensor(4, 2, 3), bias=tensor(4))
    net = module("Sequential", bilinear, module("Tanh"), linear(4, 2))
    assert source(net, tmp_path).endswith("return self.classifier(self.bilinear(input1, input2))\n")


def test_a_layer_that_is_used_twice_has_no_number(tmp_path: Path) -> None:
    text = source(module("MapTable", linear(3, 2)), tmp_path, input="1x3,1x3")
    assert text == (
        "class Model(nn.Module):\n"
        "    def __init__(self) -> None:\n"
        "        super().__init__()\n"
        "        self.linear = nn.Linear(3, 2)\n"
        "\n"
        "    def forward(self, input1: Tensor, input2: Tensor) -> tuple[Tensor, Tensor]:\n"
        "        return self.linear(input1), self.linear(input2)\n"
    )


@pytest.mark.thorough
def test_a_criterion_is_no_net(tmp_path: Path) -> None:
    with pytest.raises(ExportError) as raised:
        to_pytorch(module("MSECriterion"), tmp_path / "net.pt")
    assert str(raised.value) == (
        "nn.MSECriterion: not converted: it is a criterion, and no part of a net; torch.nn has "
        "PyTorch's losses"
    )


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [({}, "x.sum(1)"), ({"sizeAverage": True}, "x.mean(1)")],
)
def test_means(fields: dict[str, Any], wanted: str, tmp_path: Path) -> None:
    """Of a Mean whose field says otherwise, too; those of old files have none."""
    for kind in ("Sum", "Mean"):
        net = module(kind, dimension=2, **fields or {"sizeAverage": False})
        assert source(net, tmp_path, input="1x3").endswith(f"return {wanted}\n")
    assert source(module("Mean", dimension=2), tmp_path, input="1x3").endswith("x.mean(1)\n")


@pytest.mark.parametrize(
    ("entries", "wanted"),
    data(__file__, "test_a_sum_in_place_of_one_tensor"),
)
def test_a_sum_in_place_of_one_tensor(entries: list[int], wanted: str, tmp_path: Path) -> None:
    """Three times one input is four times it: the sum so far is what is added last."""
    kinds = {1: "Identity", 2: "Tanh"}
    table = module("ConcatTable", *[module(kinds[entry]) for entry in entries])
    net = module("Sequential", table, module("CAddTable", inplace=True))
    assert source(net, tmp_path).endswith(f"        {wanted}\n")


def test_an_input_in_tables(tmp_path: Path) -> None:
    """Also where only another module has told that it is a tensor."""
    branches = module("ConcatTable", module("Tanh"), module("Identity"))
    net = module("Sequential", branches, module("FlattenTable"), module("CAddTable"))
    assert source(net, tmp_path).endswith("        return torch.tanh(x) + x\n")
    pairs = module("ConcatTable", branches, module("Identity"))
    net = module("Sequential", pairs, module("ParallelTable", module("CAddTable"), branches))
    assert source(net, tmp_path)
    net = module("Sequential", pairs, module("SelectTable", index=2), module("CAddTable"))
    message = "nn.CAddTable at 3: its input is a tensor where it takes a table"
    with pytest.raises(ExportError, match=f"^{message}$"):
        source(net, tmp_path)


def test_parameters_of_other_sizes_are_no_repetition(tmp_path: Path) -> None:
    """Those without a layer are attributes, whose sizes no constructor takes."""

    def distances(inputs: int, outputs: int) -> TorchObject:
        one = module("Euclidean", weight=tensor(inputs, outputs))
        return module("Sequential", one, module("CMul", weight=tensor(outputs)), module("Tanh"))

    net = module("Sequential", distances(3, 4), distances(4, 5))
    assert "class Model(nn.Module)" in source(net, tmp_path).partition("def")[0]


@pytest.mark.parametrize(
    ("sizes", "layer"),
    data(__file__, "test_slopes_of_the_second_dimension"),
)
def test_slopes_of_the_second_dimension(sizes: str, layer: str, tmp_path: Path) -> None:
    """Of a vector they are those of its elements."""
    net = module("PReLU", nOutputPlane=4, weight=tensor(4))
    assert source(net, tmp_path, input=sizes).endswith(f"return {layer}\n")


def test_what_cancels_is_left_out(tmp_path: Path) -> None:
    """Frames are the last dimension of nn's temporal modules, and the first of PyTorch's."""
    fields = {"inputFrameSize": 2, "outputFrameSize": 2, "kW": 3, "dW": 1}
    convs = [
        module("TemporalConvolution", weight=tensor(2, 6), bias=tensor(2), **fields)
        for _ in range(2)
    ]
    text = source(module("Sequential", convs[0], module("ReLU"), convs[1]), tmp_path)
    assert text.endswith("        return self.features(x.transpose(1, 2)).transpose(1, 2)\n")


def test_a_chain_that_is_used_twice(tmp_path: Path) -> None:
    """All of its parameters are shared, as in a Siamese net."""
    one = module("Sequential", linear(3, 2), module("Tanh"))
    twin = module("Sequential", module("Linear", **one.modules[1].fields), module("Tanh"))
    text = source(module("ParallelTable", one, twin), tmp_path, input="1x3,1x3")
    assert text.endswith("        return self.layers(input1), self.layers(input2)\n")


def test_kernels_that_are_not_trained_are_buffers(tmp_path: Path) -> None:
    kernel = conv(2, 1, 3)
    kernel.bias = tensor_of(np.zeros(1, np.float32))
    pad = module("SpatialZeroPadding", pad_l=1, pad_r=1, pad_t=1, pad_b=1)
    estimator = module("Sequential", pad, kernel, module("Replicate", nfeatures=2, dim=1, ndim=3))
    net = module("SpatialSubtractiveNormalization", nInputPlane=2, meanestimator=estimator)
    text = source(net, tmp_path)
    assert 'self.register_buffer("kernel", torch.empty(1, 2, 3, 3))' in text
    assert "Parameter" not in text and "F.conv2d(" in text


def test_sizes_stand_beside_values(tmp_path: Path) -> None:
    net = module("Sequential", conv(3, 2, 3), module("Tanh"), module("Mean", dimension=2))
    to_pytorch(net, tmp_path / "net.pt", check=False, input="1x3x8x8", source="digits.t7")
    text = (tmp_path / "net.py").read_text()
    start = '"""nn.Sequential of Torch7, converted from digits.t7; its parameters are in net.pt."""'
    assert text.startswith(start)
    assert "nn.Conv2d(3, 2, 3),  # batch x 2 x 6 x 6\n" in text
    assert (
        "# x: batch x 3 x 8 x 8\n        return self.features(x).mean(1)  # batch x 6 x 6" in text
    )


def test_names_of_files_are_no_code(tmp_path: Path) -> None:
    name = 'a"""+exit()+"""\\'
    to_pytorch(linear(2, 3), tmp_path / f"{name}.pt", check=False, source=name)
    compile((tmp_path / f"{name}.py").read_text(), "net.py", "exec")
    assert "+exit()+" in (tmp_path / f"{name}.py").read_text().partition("\n")[0]


@pytest.mark.needs("torch")
def test_it_runs_as_a_program(tmp_path: Path) -> None:
    to_pytorch(linear(2, 3), tmp_path / "net.pt", check=False)
    run = subprocess.run([sys.executable, tmp_path / "net.py"], capture_output=True, check=True)
    assert run.stdout.startswith(b"tensor([[")
