"""Classes of imagine-nn."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from tests.runtime.export.nets import module, tensor
from th_shell.runtime import TorchObject
from th_shell.runtime.export import to_onnx


def _computed(net: TorchObject, x: np.ndarray[Any, Any], folder: Path) -> Any:
    to_onnx(net, folder / "net.onnx", check=False, input="x".join(map(str, x.shape)))
    session = onnxruntime.InferenceSession(str(folder / "net.onnx"))
    return session.run(None, {"input": x})[0]


def _random(*sizes: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(sizes).astype(np.float32)


def test_pooling_counts_windows_that_are_not_full(tmp_path: Path) -> None:
    net = TorchObject("inn.SpatialMaxPooling", {"kW": 3, "kH": 3, "dW": 2, "dH": 2})
    x = _random(2, 1, 4, 4)
    wanted = [[x[..., :3, :3].max((-1, -2)), x[..., :3, 2:].max((-1, -2))]]
    wanted += [[x[..., 2:, :3].max((-1, -2)), x[..., 2:, 2:].max((-1, -2))]]
    found = _computed(net, x, tmp_path)
    np.testing.assert_array_equal(found, np.moveaxis(np.array(wanted), (0, 1), (-2, -1)))


def test_a_mean_image(tmp_path: Path) -> None:
    x = _random(2, 3, 4, 4)
    for sizes in ((3, 4, 4), (5, 3, 4, 4)):
        mean = tensor(*sizes)
        found = _computed(TorchObject("inn.MeanSubtraction", {"mean": mean}), x, tmp_path)
        np.testing.assert_allclose(found, x - np.asarray(mean).reshape(-1, 3, 4, 4)[0], atol=1e-6)


def test_a_factor_and_a_shift_for_each_channel(tmp_path: Path) -> None:
    a, b, x = tensor(3), tensor(3), _random(2, 3, 4, 4)
    net = TorchObject("inn.ConstAffine", {"a": a, "b": b})
    wanted = x * np.asarray(a)[:, None, None] + np.asarray(b)[:, None, None]
    np.testing.assert_allclose(_computed(net, x, tmp_path), wanted, atol=1e-6)
    matrix = _random(2, 3)
    wanted = matrix * np.asarray(a) + np.asarray(b)
    np.testing.assert_allclose(_computed(net, matrix, tmp_path), wanted, atol=1e-6)


def test_a_pyramid(tmp_path: Path) -> None:
    def pool(size: int) -> TorchObject:
        view = module("View", size=[-1], numInputDims=3)
        return module("Sequential", module("SpatialAdaptiveMaxPooling", W=size, H=size), view)

    fields = module("Concat", pool(1), pool(2), dimension=2).fields
    net = TorchObject("inn.SpatialPyramidPooling", fields)
    x = _random(2, 3, 4, 4)
    whole = x.max((2, 3)), x.reshape(2, 3, 2, 2, 2, 2).max((3, 5)).reshape(2, -1)
    np.testing.assert_array_equal(_computed(net, x, tmp_path), np.concatenate(whole, 1))
