"""Classes of well-known repositories, which their saved nets name."""

from functools import partial

from th_shell.runtime.export.graph import BATCH, Data, Value
from th_shell.runtime.export.modules import Module, convert, data_row, function_rows, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.layers import instance_norm, matmul
from th_shell.runtime.export.operators.sequences import flip
from th_shell.runtime.export.operators.shaping import cat, narrow, permute, reshape, transpose
from th_shell.runtime.export.operators.windows import grid_sample
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.export.rows.containers import chain
from th_shell.runtime.export.rows.linear import channel_norm

function_rows(
    {
        "nn.Rectifier": (ew.relu, {}),
        "w2nn.InplaceClip01": (partial(ew.clamp, low=0, high=1), {}),
        "w2nn.LeakyReLU": (ew.leaky_relu, {"negative_scale": None}),
    }
)


@row("nn.InstanceNormalization")
def _instance_normalization(m: Module, x: Value) -> Value:
    """Normalise each plane by its own statistics.

    fast-neural-style, texture_nets and CycleGAN run nn's layer on a batch of one as in training.
    From August 2017 on nn takes the learned statistics for such batches, by which their nets no
    longer compute what they were trained for.
    """
    return instance_norm(x, m.optional("weight"), m.optional("bias"), m.number("eps", 1e-5))


@row("nn.ShaveImage")
def _shave(m: Module, x: Value) -> Value:
    size = m.whole("size")
    if size:
        x = narrow(narrow(x, x.rank - 2, size, -size), x.rank - 1, size, -size)
    return x.copied()


@data_row("w2nn.AuxiliaryLossTable")
def _auxiliary_loss(m: Module, data: Data) -> Data:
    """Return one of a table's entries, as in evaluation."""
    return m.tensors(data)[m.whole("i", 1) - 1]


data_row("inn.SpatialSameResponseNormalization")(chain)
row("inn.SpatialCrossResponseNormalization")(channel_norm)


@row("inn.MeanSubtraction")
def _mean_subtraction(m: Module, x: Value) -> Value:
    """Subtract a mean image, which may be there once for each sample of the last batch."""
    mean = m.parameter("mean", trained=False)
    if len(mean.shape) == 4:
        mean = Parameter.made(mean.array()[0], mean, trained=False)
    return ew.binary("Sub", x, ew.parameter(x, "mean", mean))


@row("inn.ConstAffine")
def _affine(m: Module, x: Value) -> Value:
    """Multiply each channel by a factor, and add a shift."""
    factor, shift = m.parameter("a"), m.parameter("b")
    x.assume((BATCH, factor.size, None, None))
    factor, shift = [each.view(each.size, *[1] * (x.rank - 2)) for each in (factor, shift)]
    return ew.binary(
        "Add", ew.binary("Mul", x, ew.parameter(x, "a", factor)), ew.parameter(x, "b", shift)
    )


@data_row("inn.SpatialPyramidPooling")
def _pyramid(m: Module, data: Data) -> Data:
    """Join pools of several sizes, each of which is a vector."""
    return cat([m.tensor(convert(child, data)) for child in m.modules], 1)


@row("nn.AffineGridGeneratorBHWD")
def _grid(m: Module, x: Value) -> Value:
    """Return the places, y before x, that matrices of 2x3 make of those of a grid."""
    x.assume((BATCH, 2, 3))
    height, width = m.whole("height"), m.whole("width")
    places = m.parameter("baseGrid", trained=False).view(height * width, 3)
    moved = matmul(ew.parameter(x, "places", places), transpose(x, 1, 2))
    return reshape(moved, [height, width, 2])


@data_row("nn.BilinearSamplerBHWD")
def _sampler(m: Module, data: Data) -> Data:
    """Return images at the places of a grid, and zeros outside of them."""
    images, grid = m.tensors(data, 2)
    for value, last in ((images, None), (grid, 2)):
        value.assume((BATCH, None, None, last))
    planes = permute(images, (0, 3, 1, 2))
    return permute(grid_sample(planes, flip(grid, 3)), (0, 2, 3, 1))


@row("nn.AffineTransformMatrixGenerator")
def _matrix(m: Module, x: Value) -> Value:
    """Return matrices of 2x3 by an angle, a factor and a shift, of which some may be left out."""
    if m.get("fullMode"):
        return reshape(x, [2, 3])
    columns = (narrow(x, 1, n, n + 1) for n in range(4))
    ones = ew.ones_like(narrow(x, 1, 0, 1))
    zeros = ew.with_number("Mul", ones, 0)
    entries = [ones, zeros, zeros, ones]
    if m.get("useRotation"):
        angle = next(columns)
        cos, sin = ew.function(angle, "cos"), ew.function(angle, "sin")
        entries = [cos, ew.function(sin, "neg"), sin, cos]
    if m.get("useScale"):
        factor = next(columns)
        entries = [ew.binary("Mul", entry, factor) for entry in entries]
    shift = [next(columns), next(columns)] if m.get("useTranslation") else [zeros, zeros]
    a, b, c, d = entries
    right = [
        ew.fold("Add", [ew.binary("Mul", *pair) for pair in zip(two, shift, strict=True)])
        for two in ((a, b), (c, d))
    ]
    return reshape(cat([a, b, right[0], c, d, right[1]], 1), [2, 3])
