"""Classes of imagine-nn (inn), which older nets of vision name."""

from __future__ import annotations

from th_shell.runtime.export.graph import BATCH, Data, Value
from th_shell.runtime.export.modules import Module, convert, data_row, no_counterpart, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.shaping import cat
from th_shell.runtime.export.parameters import Parameter


@row("inn.MeanSubtraction")
def _mean_subtraction(m: Module, x: Value) -> Value:
    """Without a mean image; the module may have it once for each sample of its last batch."""
    mean = m.parameter("mean", trained=False)
    if len(mean.shape) == 4:
        mean = Parameter.made(mean.array()[0], mean, trained=False)
    return ew.binary("Sub", x, ew.parameter(x, "mean", mean))


@row("inn.ConstAffine")
def _affine(m: Module, x: Value) -> Value:
    """A factor and a shift for each channel."""
    factor, shift = m.parameter("a"), m.parameter("b")
    x.assume((BATCH, factor.size, None, None))
    factor, shift = [each.view(each.size, *[1] * (x.rank - 2)) for each in (factor, shift)]
    return ew.binary(
        "Add", ew.binary("Mul", x, ew.parameter(x, "a", factor)), ew.parameter(x, "b", shift)
    )


@data_row("inn.SpatialPyramidPooling")
def _pyramid(m: Module, data: Data) -> Data:
    """Pools of several sizes, each as a vector, beside each other."""
    return cat([m.tensor(convert(child, data)) for child in m.modules], 1)


no_counterpart(
    "it draws what it pools at random in training, and takes weighted means in evaluation, which "
    "neither library has",
    "inn.SpatialStochasticPooling",
)
no_counterpart(
    "it pools regions that another tensor lists: torchvision.ops.roi_pool does so in PyTorch",
    "inn.ROIPooling",
)
