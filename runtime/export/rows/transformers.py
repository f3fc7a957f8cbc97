"""Spatial transformers of stnbhwd: images of samples, height, width and channels."""

from __future__ import annotations

from th_shell.runtime.export.graph import BATCH, Data, Value
from th_shell.runtime.export.modules import Module, data_row, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.areas import grid_sample
from th_shell.runtime.export.operators.reducing import matmul
from th_shell.runtime.export.operators.sequences import flip
from th_shell.runtime.export.operators.shaping import cat, narrow, permute, reshape, transpose


@row("nn.AffineGridGeneratorBHWD")
def _grid(m: Module, x: Value) -> Value:
    """Places, y before x, that matrices of 2x3 make of those of a grid."""
    x.assume((BATCH, 2, 3))
    height, width = m.whole("height"), m.whole("width")
    places = m.parameter("baseGrid", trained=False).view(height * width, 3)
    moved = matmul(ew.parameter(x, "places", places), transpose(x, 1, 2))
    return reshape(moved, [height, width, 2])


@data_row("nn.BilinearSamplerBHWD")
def _sampler(m: Module, data: Data) -> Data:
    """Images at the places of a grid; zeros outside of them."""
    images, grid = m.tensors(data, 2)
    for value, last in ((images, None), (grid, 2)):
        value.assume((BATCH, None, None, last))
    planes = permute(images, (0, 3, 1, 2))
    return permute(grid_sample(planes, flip(grid, 3)), (0, 2, 3, 1))


@row("nn.AffineTransformMatrixGenerator")
def _matrix(m: Module, x: Value) -> Value:
    """Matrices of 2x3 from an angle, a factor and a shift, of which some may be left out."""
    if m.get("fullMode"):
        return reshape(x, [2, 3])
    columns = (narrow(x, 1, n, n + 1) for n in range(4))
    one = ew.ones_like(narrow(x, 1, 0, 1))
    zero = ew.with_number("Mul", one, 0)
    entries = [one, zero, zero, one]
    if m.get("useRotation"):
        angle = next(columns)
        cos, sin = ew.function(angle, "cos"), ew.function(angle, "sin")
        entries = [cos, ew.function(sin, "neg"), sin, cos]
    if m.get("useScale"):
        factor = next(columns)
        entries = [ew.binary("Mul", entry, factor) for entry in entries]
    shift = [next(columns), next(columns)] if m.get("useTranslation") else [zero, zero]
    a, b, c, d = entries
    right = [
        ew.of_all("Add", [ew.binary("Mul", *pair) for pair in zip(two, shift, strict=True)])
        for two in ((a, b), (c, d))
    ]
    return reshape(cat([a, b, right[0], c, d, right[1]], 1), [2, 3])
