"""What passes its input through, or changes it in training alone."""

from __future__ import annotations

from th_shell.runtime.export.data import table
from th_shell.runtime.export.graph import Data, Value
from th_shell.runtime.export.modules import Module, data_row, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.base import same
from th_shell.runtime.export.operators.shaping import contiguous

_DROPOUTS = {"nn.SpatialDropout": "Dropout2d", "nn.VolumetricDropout": "Dropout3d"}


@row("nn.Dropout", *_DROPOUTS)
def _dropout(m: Module, x: Value) -> Value:
    """Older ones, and those of planes, scale all in evaluation, not what they keep in training."""
    if m.get("stochastic_inference"):
        raise m.error("drops at random in evaluation, too: stochastic_inference is set")
    p = m.number("p", 0.5)
    if p == 0:
        return x if m.get("inplace") else x.copied()
    result = ew.dropout(x, p, _DROPOUTS.get(m.kind, "Dropout"))
    scales = m.kind in _DROPOUTS or not m.get("v2", False)
    return ew.with_number("Mul", result, 1 - p) if scales else result


@data_row(
    "nn.CategoricalEntropy",
    "nn.GradientReversal",
    "nn.Identity",
    "nn.L1Penalty",
    "nn.PrintSize",
    "nn.TVLoss",
    "nn.TotalVariation",
    "nn.ZeroGrad",
    "w2nn.GradWeight",
    "w2nn.Print",
    "w2nn.PrintTable",
)
def _identity(m: Module, data: Data) -> Data:
    """What looks at its input, or changes its memory, gradients or the loss."""
    return data


@row("nn.Contiguous")
def _contiguous(m: Module, x: Value) -> Value:
    return contiguous(x)


@row("nn.Copy")
def _copy(m: Module, x: Value) -> Value:
    """To another type: an input of bytes is computed with as numbers with fractions.

    One that is made for a single type has a function of its own, which passes its input on.
    """
    if m.get("updateOutput") is not None:
        return x
    is_input = x in m.graph.inputs and x.kind == "float"
    is_wanted = str(m.get("_type")) in ("torch.FloatTensor", "torch.CudaTensor")
    return same(x, "Identity", "{0}.float()") if is_input and is_wanted else x.copied()


@row("nn.WhiteNoise")
def _white_noise(m: Module, x: Value) -> Value:
    _only_in_evaluation(m)
    mean = m.number("mean", 0)
    return ew.with_number("Add", x, mean) if mean else x.copied()


@row(
    "nn.PCAColorTransform",
    "nn.ReinforceBernoulli",
    "nn.ReinforceCategorical",
    "nn.SimpleColorTransform",
    "nn.SpatialRegionDropout",
    "nn.TotalDropout",
)
def _random(m: Module, x: Value) -> Value:
    """What is random in training, and nothing in evaluation."""
    _only_in_evaluation(m)
    return x.copied()


@data_row("nn.ReinforceNormal", "nn.ReinforceGamma")
def _reinforce(m: Module, data: Data) -> Data:
    """The mean of the distribution whose parameters are the input."""
    _only_in_evaluation(m)
    if m.kind == "nn.ReinforceNormal":
        return m.tensor(table(data, m.graph, 2)[0] if m.get("stdev") is None else data).copied()
    if m.get("scale") is None:
        return ew.binary("Mul", *m.tensors(data, 2))
    return ew.with_number("Mul", m.tensor(data), m.number("scale"))


def _only_in_evaluation(m: Module) -> None:
    if m.graph.training or m.get("stochastic"):
        raise m.error("is random in training: convert it in evaluation mode")
