"""What ONNX files compute, by onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime

from runtime.export import to_onnx
from tests.runtime.export.nets import conv, linear, module


def test_a_chain(tmp_path: Path) -> None:
    net = module("Sequential", linear(3, 4), module("Tanh"), linear(4, 2))
    report = to_onnx(net, tmp_path / "net.onnx", check=False)
    assert (report.outcome, report.unchecked) == (None, "as was asked for")
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    x = np.ones((5, 3), np.float32)
    first, _, last = net.modules.values()
    hidden = np.tanh(x @ np.asarray(first.weight).T + np.asarray(first.bias))
    wanted = hidden @ np.asarray(last.weight).T + np.asarray(last.bias)
    np.testing.assert_allclose(session.run(None, {"input": x})[0], wanted, rtol=1e-5)


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    net = module("Sequential", conv(3, 4, 3), module("ReLU"))
    for name in ("a.onnx", "b.onnx"):
        to_onnx(net, tmp_path / name, check=False)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
