"""Criterions, as modules of a table of an input and a target."""

from __future__ import annotations

from typing import Any

from th_shell.runtime.export.data import Unknown, table
from th_shell.runtime.export.graph import Data, Value
from th_shell.runtime.export.modules import Module, convert, data_row, no_counterpart
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators.base import as_indices, number
from th_shell.runtime.export.operators.layers import shifted
from th_shell.runtime.export.operators.losses import loss


def _two(m: Module, data: Data) -> tuple[Data, Data]:
    """The input and the target, which may be tables."""
    items = table(data, m.graph, 2)
    for item, name in zip(items, ("input", "target"), strict=False):
        if isinstance(data, Unknown) and isinstance(item, Unknown) and item.tensor is None:
            item.name = name
    return items[0], items[1]


def _tensors(m: Module, data: Data) -> list[Value]:
    return [m.tensor(item) for item in _two(m, data)]


#: Without the field, which old files do not have, these take the sum.
_SUMS = (
    "nn.CosineEmbeddingCriterion",
    "nn.DistanceRatioCriterion",
    "nn.MarginRankingCriterion",
    "nn.MultiLabelSoftMarginCriterion",
)


def _reduction(m: Module) -> str:
    """A CrossEntropyCriterion passes its field on to the module within it when it has changed."""
    if m.kind == "nn.CrossEntropyCriterion" and m.get("sizeAverage") == m.get("oldSizeAverage"):
        m = m.child("nll")
    return "mean" if m.get("sizeAverage", m.kind not in _SUMS) else "sum"


#: PyTorch's layers, and the fields that are arguments of theirs, with defaults: an int where the
#: number must be whole.
_LAYERS: dict[str, tuple[str, dict[str, float | None]]] = {
    "nn.AbsCriterion": ("nn.L1Loss", {}),
    "nn.BCECriterion": ("nn.BCELoss", {}),
    "nn.BinaryLogisticRegression": ("nn.SoftMarginLoss", {}),
    "nn.CosineEmbeddingCriterion": ("nn.CosineEmbeddingLoss", {"margin": None}),
    "nn.HingeEmbeddingCriterion": ("nn.HingeEmbeddingLoss", {"margin": 1.0}),
    "nn.MSECriterion": ("nn.MSELoss", {}),
    "nn.MarginRankingCriterion": ("nn.MarginRankingLoss", {"margin": None}),
    "nn.MultiLabelMarginCriterion": ("nn.MultiLabelMarginLoss", {}),
    "nn.MultiLabelSoftMarginCriterion": ("nn.BCEWithLogitsLoss", {}),
    "nn.MultiMarginCriterion": ("nn.MultiMarginLoss", {"p": 1, "margin": 1.0}),
    "nn.SmoothL1Criterion": ("nn.SmoothL1Loss", {}),
    "nn.SoftMarginCriterion": ("nn.SoftMarginLoss", {}),
}
_OF_PAIRS = ("nn.CosineEmbeddingCriterion", "nn.MarginRankingCriterion")
_WITH_CLASSES = ("nn.MultiLabelMarginCriterion", "nn.MultiMarginCriterion")


@data_row(*_LAYERS)
def _layer(m: Module, data: Data) -> Data:
    function, fields = _LAYERS[m.kind]
    first, second = _two(m, data)
    inputs = m.tensors(first, 2) if m.kind in _OF_PAIRS else [m.tensor(first)]
    target = m.tensor(second)
    if m.kind in _WITH_CLASSES:
        target = _classes(target)
    weights = m.optional("weights", trained=False)
    numbers: dict[str, Any] = {
        name: m.whole(name, default) if isinstance(default, int) else m.number(name, default)
        for name, default in fields.items()
    }
    return loss(function, [*inputs, target], weights, **numbers, reduction=_reduction(m))


def _classes(target: Value) -> Value:
    return shifted(as_indices(target, 1), -1)


_OF_CLASSES = {
    "nn.ClassNLLCriterion": "nn.NLLLoss",
    "nn.SpatialClassNLLCriterion": "nn.NLLLoss",
    "nn.CrossEntropyCriterion": "nn.CrossEntropyLoss",
    "cudnn.SpatialCrossEntropyCriterion": "nn.CrossEntropyLoss",
    "cudnn.VolumetricCrossEntropyCriterion": "nn.CrossEntropyLoss",
}


@data_row(*_OF_CLASSES)
def _of_classes(m: Module, data: Data) -> Data:
    """Whose targets are the numbers of classes; some have the module that does it within them."""
    x, target = _tensors(m, data)
    inner = m.child("nll") if "Entropy" in m.kind else m
    ignored = inner.whole("ignoreIndex", -100)
    return loss(
        _OF_CLASSES[m.kind],
        [x, _classes(target)],
        inner.optional("weights", trained=False),
        reduction=_reduction(m),
        ignore_index=ignored if ignored == -100 else ignored - 1,
    )


#: What PyTorch has no layer for: text, in which MEAN is that or the sum.
_TEXTS = {
    # Its layer means another number by a mean.
    "nn.DistKLDivCriterion": 'F.kl_div({0}, {1}, reduction="none").MEAN()',
    "nn.DistanceRatioCriterion": "F.softplus({0} - {1}).MEAN()",
    "nn.L1Cost": "{0}.abs().sum()",
    "nn.MarginCriterion": "(MARGIN - {0} * {1}).clamp(min=0).MEAN()",
}


@data_row(*_TEXTS)
def _text(m: Module, data: Data) -> Data:
    """Of an input and a target, of a pair of distances, or of an input alone."""
    if m.kind == "nn.L1Cost":
        inputs = [m.tensor(data)]
    else:
        inputs = m.tensors(data, 2) if m.kind == "nn.DistanceRatioCriterion" else _tensors(m, data)
    text = _TEXTS[m.kind].replace("MEAN", _reduction(m))
    return loss("", inputs, expression=text.replace("MARGIN", number(m.number("margin", 1))))


@data_row("nn.WeightedMSECriterion")
def _weighted_mse(m: Module, data: Data) -> Data:
    """The target is weighted."""
    x, target = _tensors(m, data)
    weight = ew.parameter(x, "weight", m.parameter("weight", trained=False))
    return loss("nn.MSELoss", [x, ew.binary("Mul", target, weight)], reduction=_reduction(m))


@data_row("nn.ClassSimplexCriterion")
def _simplex(m: Module, data: Data) -> Data:
    """The square of the distance to the corner of a class."""
    x, target = _tensors(m, data)
    text = f'F.mse_loss({{0}}, {{weight}}[{{1}}], reduction="{_reduction(m)}")'
    corners = m.parameter("simplex", trained=False)
    return loss("", [x, _classes(target)], corners, expression=text)


@data_row("nn.MultiCriterion", "nn.ParallelCriterion")
def _several(m: Module, data: Data) -> Data:
    """A weighted sum of criterions, of one input, or of an input and a target for each."""
    children, weights = m.children("criterions"), m.numbers("weights")
    inputs, targets = _two(m, data)
    pairs = [(inputs, targets)] * len(children)
    if m.kind == "nn.ParallelCriterion":
        targets = [targets] * len(children) if m.get("repeatTarget") else targets
        tables = [table(each, m.graph, len(children)) for each in (inputs, targets)]
        pairs = list(zip(*tables, strict=True))
    found = [
        ew.with_number("Mul", loss_of, weight) if weight != 1 else loss_of
        for child, pair, weight in zip(children, pairs, weights, strict=True)
        for loss_of in [m.tensor(convert(child, list(pair)))]
    ]
    return ew.of_all("Add", found)


@data_row("nn.ModuleCriterion")
def _with_modules(m: Module, data: Data) -> Data:
    """Modules that the input and the target go through before."""
    names = ("inputModule", "targetModule")
    found = [
        item if m.get(name) is None else convert(m.child(name), item)
        for name, item in zip(names, _two(m, data), strict=True)
    ]
    return convert(m.child("criterion"), found)


@data_row("nn.CriterionTable", "nn.ModuleFromCriterion")
def _as_module(m: Module, data: Data) -> Data:
    return convert(m.child("criterion"), data)


no_counterpart(
    "PyTorch has none like it; write it by hand",
    "nn.L1HingeEmbeddingCriterion",
    "nn.NCECriterion",
    "nn.SpatialAutoCropMSECriterion",
    "nn.SpatialBinaryLogisticRegression",
)
no_counterpart(
    "it rewards modules that draw at random: convert the net without it",
    "nn.BinaryClassReward",
    "nn.VRClassReward",
)
