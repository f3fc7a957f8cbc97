"""Containers, the graphs of nngraph, and modules that pass their input on."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from th_shell.runtime.export.data import UndecidedInput, table, tensor
from th_shell.runtime.export.graph import BATCH, Data, Dim, Value
from th_shell.runtime.export.modules import Module, convert, data_row, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators import same
from th_shell.runtime.export.operators.shaping import cat, contiguous, merge, select, unmerge
from th_shell.runtime.export.operators.windows import pad
from th_shell.runtime.t7.tensors import tensor_of
from th_shell.runtime.t7.values import Table, TorchObject


@data_row(
    "nn.Sequential nn.CopyGrad nn.Decorator nn.DontCast nn.FireModule nn.GPU nn.Inception "
    "nn.Maxout nn.NaN nn.NormStabilizer nn.Profile nn.Recursor nn.Serial nn.SpatialLPPooling"
)
def chain(m: Module, data: Data) -> Data:
    for child in m.modules:
        data = convert(child, data)
    return data


@data_row(
    "nn.DataParallelTable nn.SeqBRNN onmt.LSTM onmt.GRU onmt.GlobalAttention "
    "onmt.FeaturesEmbedding onmt.WordEmbedding onmt.Generator"
)
def _first(m: Module, data: Data) -> Data:
    """Convert the first module: the others are copies for GPUs, or none."""
    return convert(m.modules[0], data)


@data_row("nn.ConcatTable")
def _concat_table(m: Module, data: Data) -> Data:
    return [convert(child, data) for child in m.modules]


@data_row("nn.ParallelTable")
def _parallel_table(m: Module, data: Data) -> Data:
    children = m.modules
    items = table(data, m.graph, len(children))
    if len(items) < len(children):
        raise m.error(f"has {len(children)} modules for a table of {len(items)}")
    return [convert(child, item) for child, item in zip(children, items, strict=False)]


@data_row("nn.Bottle")
def _bottle(m: Module, data: Data) -> Data:
    """Give its module the first dimensions as one."""
    x, (child, *_) = m.tensor(data), m.modules
    dims = m.whole("nInputDim", 2)
    count = len(x.shape or x.assume((BATCH, *[None] * dims))) - dims + 1
    if count < 2:
        return convert(child, x)
    return unmerge(m.tensor(convert(child, merge(x, count))), x, count)


@data_row("nn.Concat")
def _concat(m: Module, data: Data) -> Data:
    results = [tensor(convert(child, data), m.graph) for child in m.modules]
    return cat(results, m.dim(results[0], "dimension"))


@data_row("nn.DepthConcat")
def _depth_concat(m: Module, data: Data) -> Data:
    """Join results, with zeros around those that are smaller."""
    results = [m.tensor(convert(child, data)) for child in m.modules]
    dim = m.dim(results[0], "dimension")
    largest = [
        None if place == dim else _largest(m, [each.shape[place] for each in results if each.shape])
        for place in range(results[0].rank)
    ]
    return cat([_padded(each, largest) for each in results], dim)


def _largest(m: Module, sizes: list[Dim]) -> Dim:
    if len(set(sizes)) == 1 and isinstance(sizes[0], str):
        return None
    numbers = [size for size in sizes if isinstance(size, int)]
    if len(numbers) < len(sizes):
        raise m.graph.need("joins what may have other sizes", None)
    return max(numbers)


def _padded(x: Value, sizes: Sequence[Dim]) -> Value:
    """Add zeros on both sides; of an odd number, one more behind."""
    gaps = [
        size - x_size if isinstance(size, int) and isinstance(x_size, int) else 0
        for x_size, size in zip(x.shape or (), sizes, strict=True)
    ]
    start = next((place for place, gap in enumerate(gaps) if gap), None)
    return x if start is None else pad(x, [(gap // 2, gap - gap // 2) for gap in gaps[start:]])


@data_row("nn.WeightNorm")
def _weight_norm(m: Module, data: Data) -> Data:
    """Convert a module whose weight is stored as a direction and a length for each output."""
    origins, dim = (m.parameter("v"), m.parameter("g")), m.whole("outputDim", 1) - 1
    v, g = [each.array() for each in origins]
    sizes = m.sizes("weightSize") or m.sizes("viewOut")
    length = np.sqrt((v.astype(np.float64) ** 2).sum(1) + 1e-4)
    weight = v * (g.reshape(-1) / length)[:, None]
    moved = weight.reshape([sizes[dim], *sizes[:dim], *sizes[dim + 1 :]])
    tensor = tensor_of(np.ascontiguousarray(np.moveaxis(moved, 0, dim).astype(v.dtype)))
    # Modules that share both share the weight.
    key = (*[each.key for each in origins], *sizes, dim)
    tensor = m.graph.computed.setdefault(key, tensor)
    (child,) = m.modules
    whole = TorchObject(child.value.torch_typename, {**child.value.fields, "weight": tensor})
    return convert(Module(whole, child.path, m.graph), data)


@row("nn.Parallel")
def _parallel(m: Module, x: Value) -> Value:
    """Give each module a place of a dimension."""
    dim = m.dim(x, "inputDimension")
    if x.shape is not None:
        m.graph.fit(x.shape[dim : dim + 1], len(m.modules))
    parts = [select(x, dim, n) for n in range(len(m.modules))]
    results = [convert(child, part) for child, part in zip(m.modules, parts, strict=True)]
    tensors = [tensor(result, m.graph) for result in results]
    return cat(tensors, m.dim(tensors[0], "outputDimension"))


@data_row("nn.gModule")
def _graph(m: Module, data: Data) -> Data:
    """Convert nngraph's nodes, in the order in which they are run."""
    nodes = m.get("forwardnodes")
    if not isinstance(nodes, Table):
        raise m.error("its field forwardnodes is no table")
    start = m.get("innode").data
    count = int(m.get("nInputs") or len(m.get("innode").children))
    first: list[Data] = table(data, m.graph, count) if count > 1 else [data]
    received: dict[int, dict[int, Data]] = {id(start): dict(enumerate(first, 1))}
    place = 0
    for node in nodes.to_list():
        inner = node.data
        got = received.pop(id(inner), {})
        inputs: list[Data] = [got[n] for n in sorted(got)]
        item: Data = inputs[0] if len(inputs) == 1 else inputs
        module = inner.get("module")
        if inner.get("selectindex"):
            item = table(item, m.graph)[int(inner["selectindex"]) - 1]
        elif isinstance(module, TorchObject):
            place += 1
            item = convert(Module(module, (*m.path, str(place)), m.graph), item)
            _name(item, inner)
        if isinstance(item, UndecidedInput) and inner.get("nSplitOutputs"):
            table(item, m.graph, int(inner["nSplitOutputs"]))
        for child in node.children.to_list():
            input_number = int(child.data["mapindex"][inner])
            received.setdefault(id(child.data), {})[input_number] = item
        last = item
    return last


def _name(item: Data, inner: Any) -> None:
    """Name what a node computes as its program does."""
    annotations = inner.get("annotations")
    name = annotations.get("name") if isinstance(annotations, Table) else None
    node = item.current.node if isinstance(item, Value) else None
    if node is not None and isinstance(name, str):
        node.word = name


_DROPOUTS = {"nn.SpatialDropout": "Dropout2d", "nn.VolumetricDropout": "Dropout3d"}


@row("nn.Dropout", *_DROPOUTS)
def _dropout(m: Module, x: Value) -> Value:
    """Convert dropout.

    Older ones, and those of planes, scale all elements in evaluation, not the others in training.
    """
    if m.get("stochastic_inference"):
        raise m.error("drops at random in evaluation, too: stochastic_inference is set")
    p = m.number("p", 0.5)
    if p == 0:
        return x if m.get("inplace") else x.copied()
    result = ew.dropout(x, p, _DROPOUTS.get(m.kind, "Dropout"))
    scales = m.kind in _DROPOUTS or not m.get("v2", False)
    return ew.with_number("Mul", result, 1 - p) if scales else result


@data_row(
    "nn.CategoricalEntropy nn.GradientReversal nn.Identity nn.L1Penalty nn.PrintSize nn.TVLoss "
    "nn.TotalVariation nn.ZeroGrad w2nn.GradWeight w2nn.Print w2nn.PrintTable"
)
def _identity(m: Module, data: Data) -> Data:
    """Return the input: these look at it, or change its memory, its gradients or the loss."""
    return data


@row("nn.Contiguous")
def _contiguous(m: Module, x: Value) -> Value:
    return contiguous(x)


@row("nn.Copy")
def _copy(m: Module, x: Value) -> Value:
    """Convert a change of type: an input of bytes is taken as numbers with fractions.

    One that is made for a single type has a function of its own, which passes its input on.
    """
    if m.get("updateOutput") is not None:
        return x
    is_input = x in m.graph.inputs and x.kind == "float"
    is_wanted = str(m.get("_type")) in ("torch.FloatTensor", "torch.CudaTensor")
    return same(x, "Identity", "{0}.float()") if is_input and is_wanted else x.copied()


@row("nn.WhiteNoise")
def _white_noise(m: Module, x: Value) -> Value:
    _check_evaluation(m)
    mean = m.number("mean", 0)
    return ew.with_number("Add", x, mean) if mean else x.copied()


@row(
    "nn.PCAColorTransform nn.ReinforceBernoulli nn.ReinforceCategorical nn.SimpleColorTransform "
    "nn.SpatialRegionDropout nn.TotalDropout"
)
def _random(m: Module, x: Value) -> Value:
    """Return the input, which is changed at random in training alone."""
    _check_evaluation(m)
    return x.copied()


@data_row("nn.ReinforceNormal")
def _reinforce(m: Module, data: Data) -> Data:
    """Return the mean of the distribution whose parameters are the input."""
    _check_evaluation(m)
    return m.tensor(table(data, m.graph, 2)[0] if m.get("stdev") is None else data).copied()


def _check_evaluation(m: Module) -> None:
    if m.get("stochastic"):
        raise m.error("is random in evaluation, too: its field stochastic is set")
