"""Finds out the sizes of a net's input where nobody says them: from what its modules take.

What a module tells is in the graph (`Value.assume`). Here the net is converted with one number of
dimensions after the other until its modules take one, and sizes are looked for that fit.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any

from th_shell.runtime.export.data import Shapes, shapes_at, tensors
from th_shell.runtime.export.graph import (
    BATCH,
    ExportError,
    Graph,
    NeedsInput,
    Open,
    StandIn,
    Value,
)
from th_shell.runtime.export.lowering import graph_of
from th_shell.runtime.t7.values import TorchObject

#: Sizes of images and lengths, tried in turn; then others up to the last one, by halves.
_SIZES = (32, 224, 64, 96, 128, 256, 299, 227, 28, 16)
_LARGEST = 4096
_ROOM = 1 << 20  # elements of a plane or volume
_CHANNELS = (3, 1, 4, 2)  # of images, where any number would do
_ENTRIES = 2  # of a table of any length
_MOST_TRIES = 60


def find_graph(
    net: TorchObject,
    shapes: Shapes,
    treated: Mapping[str, str],
    stand_in: StandIn | None = None,
    ranked: bool = False,
) -> Graph:
    """Return the graph of a module; of None the shapes of its inputs are looked for.

    ranked: whether the numbers of their dimensions must be known. Raises ExportError where shapes
    that must be known are not found.
    """
    free: Graph | None = None  # one whose inputs may have any number of dimensions
    convert = partial(graph_of, net, treated=treated, stand_in=stand_in, looks=True)
    waiting: list[Shapes] = [None] if shapes is None else []
    for _ in range(_MOST_TRIES):
        if not waiting:
            break
        tried = waiting.pop()
        try:
            graph = convert(tried)
            if unknown := [each for each in graph.inputs if each.shape is None]:
                free = free or (None if ranked else graph)
                raise NeedsInput("", unknown[0], 0, graph.arguments)
            if any(isinstance(size, Open) for each in graph.inputs for size in each.shape or ()):
                examples = _examples(convert, graph)
                graph.examples = chain([next(examples)], examples)
        except NeedsInput as error:
            waiting += reversed(list(_alternatives(error, tried is None)))
        except (ExportError, StopIteration):
            continue
        else:
            if tried is not None:
                taken = ", ".join(each.sizes_text for each in graph.inputs)
                graph.assumed.append(f"its input is taken to be {taken}: --input says another one")
            if free is not None:
                free.examples = graph.examples or [{each.name: each.shape for each in graph.inputs}]
            return free or graph
    return free or graph_of(net, shapes, treated, stand_in)


def _alternatives(error: NeedsInput, is_first: bool) -> Iterator[Shapes]:
    """Yield shapes of which more is said than when the error came."""
    arguments, value = error.arguments, error.value
    if isinstance(value, str):
        yield shapes_at(arguments, {value: [None] * _ENTRIES})
        return
    inputs = list(tensors(arguments, decide=True))
    open_inputs = [each for each in inputs if each.shape is None or error.excess]
    while value is not None and value.source is not None:
        value = value.source
    if open_inputs and (is_first or not error.excess):
        target = value if value in open_inputs else open_inputs[0]
        asked = (2, 3, 4, 5) if error.text else (4, 2, 3, 5)  # views get images
        for rank in (2, 1, 3) if target.kind == "int" else asked:
            yield shapes_at(arguments, {target.name: (BATCH, *target.open_sizes(rank)[1:])})
    elif not error.excess:
        yield from (_filled(inputs, arguments, c, side) for c in _CHANNELS for side in _SIZES)


def _filled(inputs: list[Value], arguments: Any, channels: int, side: int) -> Shapes:
    """Return shapes with sizes in the place of open ones.

    channels: those of images; 0: all open sizes but the last one are 1.
    """
    sizes: dict[str, int] = {
        size: (dim == 1 and each.rank > 3 and channels or side) if channels else 1
        for each in inputs
        for dim, size in enumerate(each.shape or ())
        if isinstance(size, Open)
    }
    if sizes and not channels:
        sizes[list(sizes)[-1]] = side
    return shapes_at(arguments, sizes)


def _examples(convert: Callable[[Shapes], Graph], graph: Graph) -> Iterator[Mapping[str, Any]]:
    """Yield shapes that fit, by the names of inputs."""

    def excess(channels: int, side: int) -> int:
        """Return 0 where sizes fit, otherwise a number above 0 where they are too large."""
        try:
            found = convert(_filled(graph.inputs, graph.arguments, channels, side)).inputs
        except ExportError as error:
            return getattr(error, "excess", 0) or 1
        fitting.append({each.name: each.shape for each in found})
        return 0

    fitting: list[Mapping[str, Any]] = []
    most = max([each.rank for each in graph.inputs], default=0)
    for channels in _CHANNELS if most > 3 else (1, 0):
        for side in _SIZES:
            if side ** (most - 2) <= _ROOM and not excess(channels, side):
                yield fitting[-1]
        low, high = 1, _LARGEST
        while low <= high and not fitting:
            side = (low + high) // 2
            too_much = excess(channels, side)
            low, high = (side + 1, high) if too_much < 0 else (low, side - 1)
            if not too_much:
                yield fitting[-1]
        if fitting:
            return
