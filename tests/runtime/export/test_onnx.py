"""What ONNX files compute, by onnxruntime."""

from pathlib import Path

import numpy as np
import onnxruntime

from tests.runtime.export.nets import conv, linear, module
from th_shell.runtime import TorchObject
from th_shell.runtime.export import to_onnx


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


def crnn_layer(reverse: bool) -> TorchObject:
    """An LstmLayer of crnn, whose step is a simpler one: of x, c and h it makes x + c, x, x h."""
    first = module("Sequential", module("NarrowTable", offset=1, length=2), module("CAddTable"))
    ends = module("Sequential", module("ConcatTable", select(1), select(3)), module("CMulTable"))
    unit = module("ConcatTable", first, select(1), ends)
    return module("LstmLayer", nHidden=3, reverse=reverse, lstmUnit=unit)


def select(index: int) -> TorchObject:
    """An entry of a table."""
    return module("SelectTable", index=index)


def test_layers_of_crnn(tmp_path: Path) -> None:
    both = module("ConcatTable", crnn_layer(False), crnn_layer(True))
    split = module("SplitTable", dimension=1)
    join = module("BiRnnJoin", joinUnit=module("CSubTable"))
    each = module("SharedParallelTable", unit=module("Tanh"))
    net = module("Sequential", split, both, join, each, module("JoinTable", dimension=1))
    to_onnx(net, tmp_path / "net.onnx", check=False, input="timexbatchx3")
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    for length in (4, 6):
        x = np.arange(length * 2 * 3, dtype=np.float32).reshape(length, 2, 3) / 10
        h = np.zeros((1, 2, 3), np.float32)
        forward = x * np.concatenate([h, x[:-1]])
        backward = x * np.concatenate([x[1:], h])
        wanted = np.tanh(forward - backward).reshape(length * 2, 3)
        np.testing.assert_allclose(session.run(None, {"input": x})[0], wanted, rtol=1e-5)
