"""Random nets that share parameters, in both targets, beside a model of nn in numpy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.runtime.export.nets import conv, linear, module, tensor
from th_shell.runtime import TorchObject
from th_shell.runtime.export import to_onnx, to_pytorch
from th_shell.runtime.t7.tensors import tensor_of

_PLANES = 3  # of images, and features of vectors
_ACTIVATIONS = ("Tanh", "Sigmoid", "LeakyReLU", "ELU")
Array = np.ndarray[Any, Any]


class Maker:
    """Makes a random net of vectors or images: branches of layers, which share parts."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.images = seed % 2 == 1
        self.kinds = ["norm", "slopes", "conv" if self.images else "linear"]
        self.layers: dict[str, list[TorchObject]] = {kind: [] for kind in self.kinds}

    def net(self, depth: int = 2) -> TorchObject:
        """Branches behind a module that none of them has: what it computed is read by all."""
        branches = [self.branch(depth) for _ in range(self.random.integers(2, 4))]
        return module("Sequential", self.activation(), module("ConcatTable", *branches))

    def branch(self, depth: int) -> TorchObject:
        """Layers, and what no other branch has at their end: an object has one result."""
        layers = [self.layer() for _ in range(self.random.integers(1, 4))]
        pairs = zip(layers, [None, *layers], strict=False)
        inner = [each for each, last in pairs if each is not last]
        if depth > 1 and self.random.random() < 0.4:
            return module("Sequential", *inner, self.net(depth - 1))
        return module("Sequential", *inner, self.activation())

    def activation(self) -> TorchObject:
        number = float(self.random.choice([0.1, 0.5]))
        return module(str(self.random.choice(_ACTIVATIONS)), negval=number, alpha=number)

    def layer(self) -> TorchObject:
        """An activation, a layer that is there already, or a new one, with parts of another."""
        kind = str(self.random.choice([*self.kinds, "activation"]))
        if kind == "activation":
            return self.activation()
        before, chance = self.layers[kind], self.random.random()
        if before and chance < 0.2:
            return before[0]
        made = self.new(kind)
        if before and chance < 0.9:
            shared = [
                name for name in made.fields if isinstance(made.fields[name], type(tensor(1)))
            ]
            for name in shared[: self.random.integers(1, len(shared) + 1)]:
                made.fields[name] = before[-1].fields[name]
        before.append(made)
        return made

    def new(self, kind: str) -> TorchObject:
        if kind == "linear":
            return linear(_PLANES, _PLANES)
        if kind == "slopes":
            return module("PReLU", weight=tensor(_PLANES))
        if kind == "conv":
            step, pad = (int(number) for number in self.random.integers(1, 3, 2))
            fields = {"dW": step, "dH": step, "padW": pad, "padH": pad}
            return conv(_PLANES, _PLANES, 3, **fields)
        variance = tensor_of(self.random.uniform(0.5, 2, _PLANES).astype(np.float32))
        names = {name: tensor(_PLANES) for name in ("weight", "bias", "running_mean")}
        eps = float(self.random.choice([1e-5, 0.1]))
        name = "SpatialBatchNormalization" if self.images else "BatchNormalization"
        return module(name, **names, running_var=variance, eps=eps)


def _planes(m: TorchObject, name: str, x: Array) -> Array:
    """A field with a number for each plane, beside an input."""
    return np.asarray(m.fields[name]).reshape(-1, *[1] * (x.ndim - 2))


def _convolved(m: TorchObject, x: Array) -> Array:
    pad, step = m.fields["padW"], m.fields["dW"]
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))[:, :, ::step, ::step]
    return np.einsum("nihwab,oiab->nohw", windows, np.asarray(m.weight)) + _planes(m, "bias", x)


def _normalised(m: TorchObject, x: Array) -> Array:
    deviation = np.sqrt(_planes(m, "running_var", x) + m.fields["eps"])
    flat = (x - _planes(m, "running_mean", x)) / deviation
    return flat * _planes(m, "weight", x) + _planes(m, "bias", x)


MODELS: dict[str, Callable[[TorchObject, Array], Array]] = {
    "Linear": lambda m, x: x @ np.asarray(m.weight).T + np.asarray(m.bias),
    "SpatialConvolution": _convolved,
    "BatchNormalization": _normalised,
    "SpatialBatchNormalization": _normalised,
    "PReLU": lambda m, x: np.where(x > 0, x, x * _planes(m, "weight", x)),
    "LeakyReLU": lambda m, x: np.where(x > 0, x, x * m.fields["negval"]),
    "ELU": lambda m, x: np.where(x > 0, x, np.expm1(x) * m.fields["alpha"]),
    "Tanh": lambda m, x: np.tanh(x),
    "Sigmoid": lambda m, x: 1 / (1 + np.exp(-x)),
}


def outputs(m: TorchObject, x: Array) -> list[Array]:
    """What nn computes, tables in one list."""
    kind, found = m.torch_typename.partition(".")[2], [x]
    if kind == "ConcatTable":
        return [each for child in m.modules.to_list() for each in outputs(child, x)]
    if kind != "Sequential":
        return [MODELS[kind](m, x)]
    for child in m.modules.to_list():
        found = outputs(child, found[0])
    return found


def given(seed: int) -> tuple[TorchObject, str, Array]:
    """A net, its input's sizes as an option, and an input."""
    sizes = (2, _PLANES, 9, 9) if seed % 2 else (2, _PLANES)
    x = np.random.default_rng(seed).standard_normal(sizes).astype(np.float32)
    return Maker(seed).net(), "x".join(map(str, sizes)), x


def _compare(net: TorchObject, x: Array, found: list[Array]) -> None:
    for wanted, one in zip(outputs(net, x), found, strict=True):
        np.testing.assert_allclose(one, wanted, rtol=0, atol=1e-4 * max(abs(wanted).max(), 1))


@pytest.mark.parametrize("seed", range(12))
def test_onnx(seed: int, tmp_path: Path) -> None:
    net, sizes, x = given(seed)
    to_onnx(net, tmp_path / "net.onnx", check=False, input=sizes)
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    _compare(net, x, session.run(None, {"input": x}))


@pytest.mark.needs("torch")
@pytest.mark.parametrize("seed", range(12))
def test_pytorch(seed: int, tmp_path: Path) -> None:
    """What is shared in the file is one parameter, and nothing else is."""
    import torch

    net, sizes, x = given(seed)
    to_pytorch(net, tmp_path / "net.pt", check=False, input=sizes)
    space: dict[str, Any] = {"__name__": "net"}
    exec(compile((tmp_path / "net.py").read_text(), "net.py", "exec"), space)
    made, state = space["Model"](), torch.load(tmp_path / "net.pt", weights_only=True)
    made.load_state_dict(state)
    made.eval()
    with torch.no_grad():
        found = made(torch.from_numpy(x))
    _compare(net, x, [each.numpy() for each in found])
    memory = {name: each.data_ptr() for name, each in state.items()}
    own = {name: each.data_ptr() for name, each in made.state_dict(keep_vars=True).items()}
    assert len(set(memory.values())) == len({own[name] for name in memory})


def test_one_array_computed_in_two_ways(tmp_path: Path) -> None:
    """From shared numbers: layers of an old file, whose variances have another eps within them."""
    inverse = tensor_of(np.array([1.0, 2.0], np.float32))
    norms = [
        module("BatchNormalization", eps=eps, running_mean=tensor(2), running_std=inverse)
        for eps in (0.0, 0.1)
    ]
    net = module("ConcatTable", *norms)
    to_pytorch(net, tmp_path / "net.pt", check=False)
    assert "running_var =" not in (tmp_path / "net.py").read_text()
    to_onnx(net, tmp_path / "net.onnx", check=False)
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    x = np.ones((1, 2), np.float32)
    for norm, found in zip(norms, session.run(None, {"input": x}), strict=True):
        wanted = (x - np.asarray(norm.running_mean)) * np.asarray(inverse)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_one_memory_in_other_sizes(tmp_path: Path) -> None:
    """Weights of layers, of which one has them as rows of an old file."""
    one = conv(1, 2, 3)
    fields = {**one.fields, "weight": one.weight.view(2, 9)}
    other = TorchObject("nn.SpatialConvolutionMM", fields)
    to_pytorch(module("ConcatTable", one, other), tmp_path / "net.pt", check=False)
    assert "self.conv2.weight = self.conv1.weight\n" in (tmp_path / "net.py").read_text()


def test_a_buffer_is_no_parameter(tmp_path: Path) -> None:
    """Nor does a layer's parameter become a buffer, which PyTorch refuses."""
    one = module("BatchNormalization", eps=0.1, running_mean=tensor(2), running_var=tensor(2))
    other = module("PReLU", weight=one.running_mean)
    to_pytorch(module("ConcatTable", one, other), tmp_path / "net.pt", check=False)
    text = (tmp_path / "net.py").read_text()
    assert "self.norm.running_mean" not in text and "self.prelu.weight" not in text


def test_weights_of_one_direction_and_length(tmp_path: Path) -> None:
    """Modules that compute their weight of these, of which files have no other."""
    shared = {"v": tensor(2, 3), "g": tensor(2), "weightSize": [2, 3]}
    norms = [module("WeightNorm", linear(3, 2), **shared) for _ in range(2)]
    report = to_pytorch(module("ConcatTable", *norms), tmp_path / "net.pt", check=False)
    text = (tmp_path / "net.py").read_text()
    assert "self.linear2.weight = self.linear1.weight\n" in text and not report.remarks
