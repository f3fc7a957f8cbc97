"""Convolutions that connect some planes, and depth-wise ones."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from tests.runtime.export.nets import module, tensor
from th_shell.runtime.export import ExportError, to_onnx, to_pytorch
from th_shell.runtime.export.graph import BATCH
from th_shell.runtime.export.lowering import graph_of
from th_shell.runtime.t7.tensors import tensor_of

REMARK = "has zeros where it connects no planes, which training would change"


@pytest.mark.parametrize(
    ("pairs", "remarks"),
    [
        ([(1, 1), (1, 2), (2, 1), (2, 2)], []),
        ([(1, 1), (2, 2), (2, 1), (3, 2)], [f"nn.SpatialConvolutionMap: {REMARK}"]),
    ],
)
def test_pairs(pairs: list[tuple[int, int]], remarks: list[str], tmp_path: Path) -> None:
    inputs, outputs = np.max(pairs, 0)
    fields = {"nInputPlane": int(inputs), "nOutputPlane": int(outputs), "dW": 1, "dH": 1}
    table, weight = tensor_of(np.array(pairs, np.float32)), tensor(len(pairs), 2, 2)
    bias = tensor(int(outputs))
    net = module("SpatialConvolutionMap", connTable=table, weight=weight, bias=bias, **fields)
    report = to_pytorch(net, tmp_path / "net.pt", check=False)
    text = (tmp_path / "net.py").read_text()
    assert f"2d({inputs}, 2, 2)" in text
    assert report.remarks == remarks
    remark = f"\n\nnn.SpatialConvolutionMap: {REMARK}.\n"
    assert (remark in text.replace("would\n", "would ")) == bool(remarks)
    to_onnx(net, tmp_path / "net.onnx", check=False, input=f"1x{inputs}x3x3")
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    x = np.random.default_rng(1).standard_normal((2, inputs, 3, 3)).astype(np.float32)
    (output,) = session.run(None, {"input": x})
    expected = np.zeros((2, outputs, 2, 2)) + np.asarray(bias).reshape(-1, 1, 1)
    for (source, target), kernel in zip(pairs, np.asarray(weight), strict=True):
        for (row, column), factor in np.ndenumerate(kernel):
            plane = x[:, source - 1, row : row + 2, column : column + 2]
            expected[:, target - 1] += factor * plane
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-5)


def test_planes_that_nn_mixes_up() -> None:
    """Its depth-wise convolutions take rows for columns, which only square planes survive."""
    sizes = {"nInputPlane": 2, "nOutputPlane": 1, "kW": 2, "kH": 2}
    net = module("SpatialDepthWiseConvolution", weight=tensor(1, 8), **sizes)
    assert graph_of(net, (BATCH, 2, 5, 5)).outputs[0].shape == (BATCH, 2, 4, 4)
    message = "takes rows for columns in nn: its planes must be square"
    with pytest.raises(ExportError, match=f"^nn.SpatialDepthWiseConvolution: {message}$"):
        graph_of(net, (BATCH, 2, 5, 6))
