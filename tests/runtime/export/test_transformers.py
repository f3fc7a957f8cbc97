"""Spatial transformers of stnbhwd."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.runtime.export.nets import bare, module
from th_shell.runtime import TorchObject
from th_shell.runtime.export import to_onnx, to_pytorch
from th_shell.runtime.t7.tensors import tensor_of

_generator = np.random.default_rng(0)


def _random(*sizes: int) -> np.ndarray[Any, Any]:
    return _generator.uniform(-1.2, 1.2, sizes).astype(np.float32)


def _computed(net: TorchObject, folder: Path, *inputs: np.ndarray[Any, Any]) -> Any:
    shapes = ",".join("x".join(map(str, x.shape)) for x in inputs)
    to_onnx(net, folder / "net.onnx", check=False, input=shapes)
    session = onnxruntime.InferenceSession(str(folder / "net.onnx"))
    names = [each.name for each in session.get_inputs()]
    return session.run(None, dict(zip(names, inputs, strict=True)))[0]


def test_a_grid(tmp_path: Path) -> None:
    y, x = np.meshgrid(np.linspace(-1, 1, 3), np.linspace(-1, 1, 4), indexing="ij")
    places = np.stack([y, x, np.ones_like(x)], 2).astype(np.float32)
    net = module("AffineGridGeneratorBHWD", height=3, width=4, baseGrid=tensor_of(places))
    matrices = _random(2, 2, 3)
    wanted = np.einsum("hwk,bck->bhwc", places, matrices)
    np.testing.assert_allclose(_computed(net, tmp_path, matrices), wanted, atol=1e-6)


def test_images_at_places(tmp_path: Path) -> None:
    images, grid = _random(2, 4, 5, 3), _random(2, 3, 2, 2)
    wanted = np.zeros((2, 3, 2, 3))
    for b, i, j in product(range(2), range(3), range(2)):
        y, x = (grid[b, i, j] + 1) * [3, 4] / 2
        for down, right in product((0, 1), (0, 1)):
            row, column = int(np.floor(y)) + down, int(np.floor(x)) + right
            if 0 <= row < 4 and 0 <= column < 5:
                part = (1 - abs(y - row)) * (1 - abs(x - column))
                wanted[b, i, j] += part * images[b, row, column]
    found = _computed(module("BilinearSamplerBHWD"), tmp_path, images, grid)
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("rotates", "scales", "shifts"), [(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)]
)
def test_matrices(rotates: int, scales: int, shifts: int, tmp_path: Path) -> None:
    net = module(
        "AffineTransformMatrixGenerator",
        fullMode=False,
        useRotation=bool(rotates),
        useScale=bool(scales),
        useTranslation=bool(shifts),
    )
    x = _random(3, rotates + scales + 2 * shifts)
    wanted = []
    for sample in x:
        values = list(sample)
        angle = values.pop(0) if rotates else 0
        matrix = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        matrix = matrix * (values.pop(0) if scales else 1)
        shift = values if shifts else [0, 0]
        wanted.append(np.column_stack([matrix, matrix @ shift]))
    np.testing.assert_allclose(_computed(net, tmp_path, x), wanted, atol=1e-6)


def test_a_matrix_as_it_is(tmp_path: Path) -> None:
    net, x = module("AffineTransformMatrixGenerator", fullMode=True), _random(3, 6)
    np.testing.assert_array_equal(_computed(net, tmp_path, x), x.reshape(3, 2, 3))


def test_the_source(tmp_path: Path) -> None:
    to_pytorch(
        module("BilinearSamplerBHWD"), tmp_path / "net.pt", check=False, input="1x4x5x3,1x3x2x2"
    )
    forward = bare((tmp_path / "net.py").read_text()).partition("    def forward")[2]
    assert forward == (
        "(self, input1: Tensor, input2: Tensor) -> Tensor:\n"
        "        x = input1.permute(0, 3, 1, 2)\n"
        "        x = F.grid_sample(x, input2.flip(3), align_corners=True)\n"
        "        return x.permute(0, 2, 3, 1)\n"
    )
