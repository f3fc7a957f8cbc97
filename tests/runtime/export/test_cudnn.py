"""Classes of cudnn: those of nn, but for some defaults, names of fields and layouts."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.runtime.export.nets import conv, module, tensor
from th_shell.runtime import TorchObject
from th_shell.runtime.export import ExportError, to_onnx
from th_shell.runtime.t7.tensors import tensor_of

_generator = np.random.default_rng(0)


def _random(*sizes: int) -> np.ndarray[Any, Any]:
    return _generator.standard_normal(sizes).astype(np.float32)


def _of_cudnn(net: TorchObject, **fields: Any) -> TorchObject:
    """A module of nn under cudnn's name, with some fields changed; None: left out."""
    kept = {name: value for name, value in {**net.fields, **fields}.items() if value is not None}
    return TorchObject(f"cudnn.{net.torch_typename[3:]}", kept)


def _computed(net: TorchObject, x: np.ndarray[Any, Any], folder: Path, shape: str = "") -> Any:
    to_onnx(net, folder / "net.onnx", check=False, input=shape or "x".join(map(str, x.shape)))
    session = onnxruntime.InferenceSession(str(folder / "net.onnx"))
    return session.run(None, {"input": x})[0]


def _softmax(x: np.ndarray[Any, Any], axis: int) -> Any:
    powers = np.exp(x)
    return powers / powers.sum(axis, keepdims=True)


def test_groups(tmp_path: Path) -> None:
    parts = [conv(2, 3, 3), conv(2, 3, 3)]
    weight, bias = tensor(6, 2, 3, 3), tensor(6)
    for number, name in enumerate(("weight", "bias")):
        whole = np.concatenate([np.asarray(part[name]) for part in parts])
        np.asarray((weight, bias)[number])[:] = whole
    net = _of_cudnn(conv(4, 6, 3), groups=2, weight=weight, bias=bias)
    x = _random(2, 4, 5, 5)
    halves = [_computed(part, x[:, 2 * n : 2 * n + 2], tmp_path) for n, part in enumerate(parts)]
    np.testing.assert_allclose(_computed(net, x, tmp_path), np.concatenate(halves, 1), atol=1e-5)


def test_temporal_convolutions_have_other_names_and_zeros_at_the_ends(tmp_path: Path) -> None:
    fields = {"inputFrameSize": 3, "outputFrameSize": 4, "weight": tensor(4, 6), "bias": tensor(4)}
    net = module("TemporalConvolution", kW=2, dW=2, **fields)
    other = _of_cudnn(module("TemporalConvolution", kW=3, dW=1, kH=2, dH=2, padH=1, **fields))
    x = _random(2, 4, 3)
    wanted = _computed(net, np.pad(x, ((0, 0), (1, 1), (0, 0))), tmp_path)
    np.testing.assert_allclose(_computed(other, x, tmp_path), wanted, atol=1e-5)


def test_a_relu_with_a_ceiling(tmp_path: Path) -> None:
    x = _random(2, 3)
    found = _computed(TorchObject("cudnn.ClippedReLU", {"ceiling": 0.5}), x, tmp_path)
    np.testing.assert_array_equal(found, x.clip(0, 0.5))


@pytest.mark.parametrize(
    ("name", "sizes", "axis"),
    [
        ("SoftMax", (2, 3), 1),
        ("SpatialSoftMax", (2, 3, 4, 4), 1),
        ("SpatialSoftMax", (3, 4, 4), 0),
        ("VolumetricSoftMax", (2, 3, 2, 2, 2), 1),
        ("VolumetricSoftMax", (3, 2, 2, 2), 0),
    ],
)
def test_softmax(name: str, sizes: tuple[int, ...], axis: int, tmp_path: Path) -> None:
    x = _random(*sizes)
    found = _computed(TorchObject(f"cudnn.{name}", {}), x, tmp_path)
    np.testing.assert_allclose(found, _softmax(x, axis), atol=1e-6)
    if name == "VolumetricSoftMax":
        log = _computed(TorchObject("cudnn.VolumetricLogSoftMax", {}), x, tmp_path)
        np.testing.assert_allclose(log, np.log(_softmax(x, axis)), atol=1e-5)


def test_a_softmax_over_channels_and_places(tmp_path: Path) -> None:
    message = (
        r"^cudnn\.LogSoftMax: normalises over channels and places together: "
        "give --input of a matrix$"
    )
    with pytest.raises(ExportError, match=message):
        _computed(TorchObject("cudnn.LogSoftMax", {}), _random(2, 3, 4, 4), tmp_path)


def test_the_old_name_of_a_number(tmp_path: Path) -> None:
    net = module("SpatialCrossMapLRN", size=3, alpha=0.5, beta=0.75, k=2)
    x = _random(2, 5, 2, 2)
    found = _computed(_of_cudnn(net, k=None, K=2), x, tmp_path)
    np.testing.assert_array_equal(found, _computed(net, x, tmp_path))


def test_means_are_means_without_a_field_that_says_so(tmp_path: Path) -> None:
    net = module("SpatialAveragePooling", kW=2, kH=2, dW=2, dH=2, divide=True)
    x = _random(2, 3, 4, 4)
    found = _computed(_of_cudnn(net, divide=None), x, tmp_path)
    np.testing.assert_array_equal(found, _computed(net, x, tmp_path))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _step(mode: str, given: Any, before: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """One step by the sums of inputs and of the step before, gate by gate."""
    if mode == "CUDNN_LSTM":
        i, f, g, o = np.split(given + before, 4, 1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        return _sigmoid(o) * np.tanh(c), c
    if mode == "CUDNN_GRU":
        (r1, z1, n1), (r2, z2, n2) = (np.split(each, 3, 1) for each in (given, before))
        new = np.tanh(n1 + _sigmoid(r1 + r2) * n2)
        update = _sigmoid(z1 + z2)
        return (1 - update) * new + update * h, c
    total = given + before
    return (np.tanh(total) if mode == "CUDNN_RNN_TANH" else total.clip(0)), c


def _run(mode: str, x: Any, size: int, layers: int, directions: int) -> tuple[Any, Any]:
    """A vector of weights as cudnn has them, and what its layers make of a sequence."""
    gates = {"CUDNN_LSTM": 4, "CUDNN_GRU": 3}.get(mode, 1)
    matrices, biases = [], []
    for _ in range(layers):
        results = []
        for direction in range(directions):
            w, r = _random(gates * size, x.shape[2]), _random(gates * size, size)
            bw, br = _random(gates * size), _random(gates * size)
            matrices += [w, r]
            biases += [bw, br]
            h = c = np.zeros((x.shape[1], size))
            steps = []
            for step in x[::-1] if direction else x:
                h, c = _step(mode, step @ w.T + bw, h @ r.T + br, h, c)
                steps.append(h)
            results.append(np.array(steps[::-1] if direction else steps))
        x = np.concatenate(results, 2)
    return np.concatenate([each.reshape(-1) for each in (*matrices, *biases)]), x


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("mode", ["CUDNN_LSTM", "CUDNN_GRU", "CUDNN_RNN_RELU", "CUDNN_RNN_TANH"])
def test_recurrent_layers(mode: str, directions: int, tmp_path: Path) -> None:
    x = _random(5, 2, 3)
    weight, wanted = _run(mode, x, 4, 2, directions)
    fields = {
        "mode": mode,
        "inputSize": 3,
        "hiddenSize": 4,
        "numLayers": 2,
        "bidirectional": "CUDNN_BIDIRECTIONAL" if directions == 2 else "CUDNN_UNIDIRECTIONAL",
        "weight": tensor_of(weight),
    }
    net = TorchObject("cudnn.RNN", fields)
    found = _computed(net, x, tmp_path, "timexbatchx3")
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    net = TorchObject("cudnn.RNN", {**fields, "batchFirst": True})
    found = _computed(net, x.swapaxes(0, 1), tmp_path)
    np.testing.assert_allclose(found, wanted.swapaxes(0, 1), rtol=1e-5, atol=1e-5)


def test_weights_that_are_packed_otherwise(tmp_path: Path) -> None:
    fields = {"mode": "CUDNN_LSTM", "inputSize": 3, "hiddenSize": 4, "numLayers": 1}
    net = TorchObject("cudnn.LSTM", {**fields, "weight": tensor(150)})
    message = r"^cudnn\.LSTM: its weights are not packed as they are known to be: there are 150$"
    with pytest.raises(ExportError, match=message):
        _computed(net, _random(5, 2, 3), tmp_path)


def test_what_has_no_counterpart(tmp_path: Path) -> None:
    net = module("Sequential", TorchObject("cudnn.SpatialDivisiveNormalization", {}))
    with pytest.raises(ExportError) as caught:
        _computed(net, _random(2, 3), tmp_path)
    assert str(caught.value) == (
        "cudnn.SpatialDivisiveNormalization at 1: not converted: it computes what only cudnn "
        "does; train the net with nn's class instead"
    )
