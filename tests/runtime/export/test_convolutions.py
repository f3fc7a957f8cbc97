"""Convolutions that connect some planes: as groups, where all of each are connected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from tests.runtime.export.nets import module, tensor
from th_shell.runtime.export import ExportError, to_onnx, to_pytorch
from th_shell.runtime.export.graph import BATCH
from th_shell.runtime.export.lowering import graph_of
from th_shell.runtime.t7.faces import tensor_of

ONE_TO_ONE = [(1, 1), (2, 2), (3, 3), (4, 4)]
TWO_OF_EACH = [(1, 2), (1, 1), (2, 3), (2, 4)]
HALVES = [(1, 1), (3, 2), (2, 1), (4, 2)]
CROSSED = [(1, 2), (2, 2), (3, 1), (4, 1)]
FULL = [(1, 1), (1, 2), (2, 1), (2, 2)]
SOME = [(1, 1), (2, 2), (2, 1), (3, 2)]
REMARK = "has zeros where it connects no planes, which training would change"


@pytest.mark.parametrize(
    ("pairs", "layer"),
    [
        (ONE_TO_ONE, "(4, 4, 2, groups=4)"),
        (TWO_OF_EACH, "(2, 4, 2, groups=2)"),
        (HALVES, "(4, 2, 2, groups=2)"),
        (CROSSED, "(4, 2, 2)"),
        (FULL, "(2, 2, 2)"),
        (SOME, "(3, 2, 2)"),
    ],
)
@pytest.mark.parametrize("kind", ["SpatialConvolutionMap", "SpatialFullConvolutionMap"])
def test_pairs(kind: str, pairs: list[tuple[int, int]], layer: str, tmp_path: Path) -> None:
    inputs, outputs = np.max(pairs, 0)
    fields = {"nInputPlane": int(inputs), "nOutputPlane": int(outputs), "dW": 1, "dH": 1}
    table, weight = tensor_of(np.array(pairs, np.float32)), tensor(len(pairs), 2, 2)
    net = module(kind, connTable=table, weight=weight, bias=tensor(int(outputs)), **fields)
    report = to_pytorch(net, tmp_path / "net.pt", check=False)
    text = (tmp_path / "net.py").read_text()
    assert f"2d{layer}" in text
    assert report.remarks == ([] if pairs not in (CROSSED, SOME) else [f"nn.{kind}: {REMARK}"])
    assert (f'\n\nnn.{kind}: {REMARK}."""' in text) == bool(report.remarks)
    to_onnx(net, tmp_path / "net.onnx", check=False, input=f"1x{inputs}x3x3")
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    x = np.random.default_rng(1).standard_normal((2, inputs, 3, 3)).astype(np.float32)
    (found,) = session.run(None, {"input": x})
    full = "Full" in kind
    wanted = np.zeros((2, outputs, *([4, 4] if full else [2, 2])))
    wanted += np.asarray(net.bias).reshape(-1, 1, 1)
    for (one, other), kernel in zip(pairs, np.asarray(weight), strict=True):
        for (row, column), factor in np.ndenumerate(kernel):
            plane = x[:, one - 1]
            if full:
                wanted[:, other - 1, row : row + 3, column : column + 3] += factor * plane
            else:
                wanted[:, other - 1] += factor * plane[:, row : row + 2, column : column + 2]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5)


def test_planes_that_nn_mixes_up() -> None:
    """Its depth-wise convolutions take rows for columns, which only square planes survive."""
    sizes = {"nInputPlane": 2, "nOutputPlane": 1, "kW": 2, "kH": 2}
    net = module("SpatialDepthWiseConvolution", weight=tensor(1, 8), **sizes)
    assert graph_of(net, (BATCH, 2, 5, 5)).outputs[0].shape == (BATCH, 2, 4, 4)
    message = "takes rows for columns in nn: its planes must be square"
    with pytest.raises(ExportError, match=f"^nn.SpatialDepthWiseConvolution: {message}$"):
        graph_of(net, (BATCH, 2, 5, 6))
