"""Shapes, parts of tensors, dimensions that change places, and tables of tensors."""

from collections.abc import Iterator
from math import prod

from th_shell.runtime.export.data import UndecidedInput, as_steps, mapped, table
from th_shell.runtime.export.graph import Data, Graph, Open, Steps, Value
from th_shell.runtime.export.modules import Module, data_row, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators import replaced, total
from th_shell.runtime.export.operators.layers import one_hot, take
from th_shell.runtime.export.operators.sequences import joined_steps
from th_shell.runtime.export.operators.shaping import (
    cat,
    contiguous,
    expand,
    for_samples,
    narrow,
    permute,
    reshape,
    select,
    squeeze,
    unsqueeze,
)
from th_shell.runtime.export.operators.windows import pad


@row("nn.View")
def _view(m: Module, x: Value) -> Value:
    """Give a tensor other sizes; without a number of dimensions -1 takes the samples, too."""
    sizes, dims = m.sizes("size"), m.get("numInputDims")
    if dims is None:
        return reshape(x, sizes, batch=-1 not in sizes)
    batch = m.has_samples(x, "numInputDims")
    if x.rank - int(dims) > 1 and -1 in sizes:
        count = prod(x.sizes(*range(x.rank - int(dims), x.rank)))
        sizes = [count // -prod(sizes) if size == -1 else size for size in sizes]
    return reshape(x, sizes, batch)


@row("nn.Reshape")
def _reshape(m: Module, x: Value) -> Value:
    sizes, mode = m.sizes("size"), m.get("batchMode")
    count = total(x.shape) if x.shape is not None else None
    same = mode is None and count is not None and count == total(sizes)
    x = contiguous(x)
    return reshape(x, sizes, batch=not (mode is False or same))


@row("nn.Collapse")
def _collapse(m: Module, x: Value) -> Value:
    return reshape(contiguous(x), [-1], batch=m.has_samples(x, "nInputDim"))


@row("nn.Transpose")
def _transpose(m: Module, x: Value) -> Value:
    offset = x.rank - m.whole("numInputDims") if m.get("numInputDims") else 0
    order = list(range(x.rank))
    for pair in m.get("permutations").to_list():
        first, second = [int(dim) - 1 + offset for dim in pair.to_list()]
        order[first], order[second] = order[second], order[first]
    return permute(x, order).copied()


@row("nn.Squeeze")
def _squeeze(m: Module, x: Value) -> Value:
    batch = int(m.has_samples(x, "numInputDims"))
    shape = x.shape or ()
    if m.get("dim"):
        dim = m.whole("dim") - 1 + batch
        size = shape[dim] if shape else None
        return squeeze(x, dim) if size in (None, 1) or isinstance(size, Open) else x
    first = batch or 1
    sizes = x.sizes(*range(first, x.rank))
    for dim in reversed(range(first, x.rank)):
        if sizes[dim - first] == 1:
            x = squeeze(x, dim)
    return x


@row("nn.Unsqueeze")
def _unsqueeze(m: Module, x: Value) -> Value:
    dims = m.get("numInputDims")
    return unsqueeze(x, m.whole("pos") - 1 + (x.rank - int(dims) if dims else 0))


@row("nn.Replicate")
def _replicate(m: Module, x: Value) -> Value:
    dim = m.whole("dim", 1) - (not m.has_samples(x, "ndim"))
    return expand(unsqueeze(x, dim), dim, m.whole("nfeatures"))


@row("nn.Select")
def _select(m: Module, x: Value) -> Value:
    index = m.whole("index")
    return select(x, m.dim(x, "dimension"), index - 1 if index > 0 else index).copied()


@row("nn.Narrow")
def _narrow(m: Module, x: Value) -> Value:
    """Return places of a dimension.

    A negative length counts from the end; a negative start leaves that many out there.
    """
    dim, start, length = m.dim(x, "dimension"), m.whole("index"), m.whole("length", 1)
    if start < 0:
        return narrow(x, dim, 0, -length if length >= 0 else start - length - 2).copied()
    stop = start - 1 + length if length >= 0 else (length + 1 or None)
    return narrow(x, dim, start - 1, stop).copied()


@data_row("nn.SplitTable")
def _split(m: Module, data: Data) -> Data:
    x = m.tensor(data)
    return Steps(x, m.dim(x, "dimension", "nInputDims"))


@data_row("nn.Index")
def _index(m: Module, data: Data) -> Data:
    """Return places of a dimension by indices, which are the second tensor."""
    x, indices = m.tensors(data, 2)
    return take(x, m.dim(x, "dimension"), indices)


@row("nn.OneHot", "OneHot")
def _one_hot(m: Module, x: Value) -> Value:
    """Convert nn's class, and that of char-rnn, which is older."""
    return one_hot(x, m.whole("outputSize"))


@row("nn.Padding")
def _padding(m: Module, x: Value) -> Value:
    """Insert a value before a dimension (pad below 0) or behind it, or at a place in it."""
    amount, place = m.whole("pad"), m.whole("index", 1)
    dim = m.whole("dim") - (not m.has_samples(x, "nInputDim"))
    behind, value = amount > 0, m.number("value", 0)
    if place == 1:
        return _padded(x, dim, (0, amount) if behind else (-amount, 0), value)
    cut = 1 - place if behind else place - 1
    first = _padded(narrow(x, dim, 0, cut), dim, (0, abs(amount)), value)
    return cat([first, narrow(x, dim, cut, None)], dim)


def _padded(x: Value, dim: int, amounts: tuple[int, int], value: float) -> Value:
    return pad(x, [amounts, *[(0, 0)] * (x.rank - dim - 1)], value=value)


@row("nn.Constant")
def _constant(m: Module, x: Value) -> Value:
    """Return a constant; with a number of dimensions (nInputDim) once for each sample."""
    value = ew.parameter(x, "value", m.parameter("value", trained=False))
    return for_samples(value, x) if m.has_samples(x, "nInputDim") else value


_ALL = {"nn.CAddTable": "Add", "nn.CMulTable": "Mul", "nn.CMaxTable": "Max", "nn.CMinTable": "Min"}
_TWO = {"nn.CSubTable": "Sub", "nn.CDivTable": "Div", "w2nn.ScaleTable": "Mul"}


@data_row(*_ALL)
def _of_all(m: Module, data: Data) -> Data:
    kind, (first, *more) = _ALL[m.kind], m.tensors(data)
    if not m.get("inplace"):
        return ew.fold(kind, [first, *more])
    result = first
    for value in more:  # which may lie in the memory of the first one
        result = ew.binary(kind, first, value)
        first.write(result)
    return result


@data_row(*_TWO)
def _of_two(m: Module, data: Data) -> Data:
    first, second = m.tensors(data, 2)
    return ew.binary(_TWO[m.kind], first, second)


@data_row("nn.JoinTable")
def _join(m: Module, data: Data) -> Data:
    if steps := as_steps(data):
        x = m.tensor(steps.data)
        step = Value(m.graph, replaced(x.shape, steps.dim))
        return joined_steps(x, steps.dim, m.dim(step, "dimension", "nInputDims")).copied()
    tensors = m.tensors(data)
    return cat(tensors, m.dim(tensors[0], "dimension", "nInputDims"))


@data_row("nn.SelectTable")
def _select_entry(m: Module, data: Data) -> Data:
    index = m.whole("index")
    if steps := as_steps(data):
        start, dim = index - 1 if index > 0 else index, steps.dim
        return mapped(steps.data, lambda each: select(each, dim, start))
    items = table(data, m.graph, index if index > 0 else None)
    place = index - 1 if index > 0 else len(items) + index
    if not 0 <= place < len(items):
        raise m.error(f"takes entry {index} of a table of {len(items)}")
    return items[place]


@data_row("nn.NarrowTable")
def _narrow_table(m: Module, data: Data) -> Data:
    start, length = m.whole("offset") - 1, m.whole("length", 1)
    if steps := as_steps(data):
        stop, dim = start + length if length >= 0 else length + 1 or None, steps.dim
        return Steps(mapped(steps.data, lambda each: narrow(each, dim, start, stop)), dim)
    items = table(data, m.graph, start + length if length > 0 else None)
    return items[start : (len(items) + 1 + length if length < 0 else start + length)]


@data_row("nn.FlattenTable")
def _flatten(m: Module, data: Data) -> Data:
    return list(_flat(data, m.graph))


def _flat(data: Data, graph: Graph) -> Iterator[Data]:
    """Yield all tensors in a table, and in the tables in it."""
    for item in table(data, graph):
        if isinstance(item, Value) or isinstance(item, UndecidedInput) and not item.is_table:
            yield item
        else:
            yield from _flat(item, graph)


@data_row("nn.ZipTableOneToMany")
def _zip_one(m: Module, data: Data) -> Data:
    """Return one value beside each entry of a table."""
    single, many = table(data, m.graph, 2)[:2]
    return [[single, item] for item in table(many, m.graph)]


@data_row("nn.CAddTensorTable")
def _add_one(m: Module, data: Data) -> Data:
    """Return a tensor added to each entry of a table."""
    summand, many = table(data, m.graph, 2)[:2]
    return [ew.binary("Add", m.tensor(item), m.tensor(summand)) for item in table(many, m.graph)]


@data_row("nngraph.JustElement")
def _just_element(m: Module, data: Data) -> Data:
    return table(data, m.graph, 1)[0]


@data_row("nngraph.JustTable")
def _just_table(m: Module, data: Data) -> Data:
    return [data]
