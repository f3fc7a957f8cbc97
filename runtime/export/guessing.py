"""Finds out the sizes of a net's input where nobody says them: from what its modules take.

What a module tells is in the graph (`Value.assume`). Here the net is converted with one number of
dimensions after the other until its modules take one, and sizes are looked for that fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from th_shell.runtime.export.data import Shapes, tensors
from th_shell.runtime.export.graph import (
    BATCH,
    ExportError,
    Graph,
    NeedsInput,
    Open,
    StandIn,
    Unfit,
    Value,
)
from th_shell.runtime.export.lowering import graph_of, shapes_at
from th_shell.runtime.t7.values import TorchObject

#: Sizes of images and lengths, tried in turn; then others up to the last one, by halves.
SIZES = (32, 224, 64, 96, 128, 256, 299, 227, 28, 16)
_LARGEST = 4096
CHANNELS = (3, 1)  # of images, where any number would do
_ENTRIES = 2  # of a table of any length
_MOST_TRIES = 60

Convert = Callable[[Shapes], Graph]


def find_graph(
    net: TorchObject, treated: Mapping[str, str], stand_in: StandIn | None, ranked: bool
) -> Graph:
    """Return the graph of a module the sizes of whose input are not said.

    ranked: whether the numbers of its inputs' dimensions must be known. Raises ExportError where
    these, or sizes that must be known, are not found.
    """
    convert = partial(graph_of, net, treated=treated, stand_in=stand_in, looks=True)
    free: Graph | None = None  # one whose inputs may have any number of dimensions
    waiting: list[Shapes] = [None]
    for _ in range(_MOST_TRIES):
        if not waiting:
            break
        shapes = waiting.pop()
        try:
            graph = convert(shapes)
            if unknown := [each for each in graph.inputs if each.shape is None]:
                free = graph if shapes is None else free
                raise NeedsInput("", unknown[0], graph.arguments)
            graph.examples = _examples(convert, graph)
        except (NeedsInput, Unfit) as error:
            waiting += reversed(list(_alternatives(error, shapes is None)))
        except ExportError:
            if shapes is None:
                raise
        else:
            if free is not None and not ranked:
                free.examples = graph.examples
                return free
            if shapes is not None:
                taken = ", ".join(each.sizes_text for each in graph.inputs)
                graph.remarks.append(f"its input is taken to be {taken}: --input says another one")
            return graph
    return graph_of(net, None, treated, stand_in)


def _alternatives(error: NeedsInput | Unfit, is_first: bool) -> Iterator[Shapes]:
    """Yield shapes of which more is said than when the error came."""
    arguments, value = error.arguments, error.value
    if isinstance(value, str):
        yield shapes_at(arguments, {value: [None] * _ENTRIES})
        return
    inputs, is_unfit = list(tensors(arguments, decide=True)), isinstance(error, Unfit)
    if is_unfit and not is_first:
        return
    open_inputs = [each for each in inputs if each.shape is None or is_unfit]
    if open_inputs:
        origin = _origin(value) if value is not None else None
        target = origin if origin in open_inputs else open_inputs[0]
        for rank in _ranks(target, is_asked=bool(str(error))):
            yield shapes_at(arguments, {target.name: (BATCH, *target.open_sizes(rank)[1:])})
    else:
        for channels in CHANNELS:
            for side in SIZES:
                yield _filled(arguments, inputs, channels, side)


def _ranks(x: Value, is_asked: bool) -> tuple[int, ...]:
    """Return numbers of dimensions that an input may have, in the order in which they are tried.

    is_asked: whether a module needs the number. Otherwise a view comes first: one that makes
    vectors gets images.
    """
    if x.kind == "int":
        return (2, 1, 3)
    first = next((node.outputs[0] for node in x.graph.nodes if x in node.inputs), None)
    if not is_asked and first is not None and len(first.shape or ()) > 2:
        return (2, 3, 4, 5)
    return (3, 4, 2, 5) if is_asked else (4, 2, 3, 5)


def _origin(value: Value) -> Value:
    while value.source is not None:
        value = value.source
    return value


def _filled(arguments: Any, inputs: list[Value], channels: int, side: int) -> Shapes:
    """Return shapes with sizes in the place of open ones.

    channels: those of images; 0: all open sizes but the last one are 1.
    """
    sizes: dict[str, int] = {}
    for each in inputs:
        for dim, size in enumerate(each.shape or ()):
            if isinstance(size, Open):
                is_side = dim + 1 == each.rank or channels and (dim != 1 or each.rank < 4)
                sizes[size] = side if is_side else max(channels, 1)
    return shapes_at(arguments, sizes)


def _examples(convert: Convert, graph: Graph) -> dict[str, Any]:
    """Return shapes that fit, by the names of inputs. Raises Unfit where none is found."""
    reason: Unfit | None = None

    def excess(channels: int, side: int) -> int:
        nonlocal reason
        try:
            found = convert(_filled(graph.arguments, graph.inputs, channels, side))
        except Unfit as error:
            reason = error
            return error.excess
        examples.update((each.name, each.shape) for each in found.inputs)
        return 0

    examples: dict[str, Any] = {}
    for channels in (*CHANNELS, 0):
        if not all(excess(channels, side) for side in SIZES):
            return examples
        low, high = 1, _LARGEST
        while low <= high:
            side = (low + high) // 2
            found = excess(channels, side)
            if not found:
                return examples
            low, high = (side + 1, high) if found < 0 else (low, side - 1)
    assert reason is not None
    raise reason
