"""Sequences, whose first dimension is time, and loops through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from th_shell.runtime.export.data import mapped, tensors
from th_shell.runtime.export.graph import (
    BATCH,
    TIME,
    Data,
    Emitter,
    Graph,
    Loop,
    Memory,
    State,
    Steps,
    Value,
)
from th_shell.runtime.export.operators.base import moved, node, reshaped
from th_shell.runtime.export.operators.shaping import MERGED, UNMERGED, merge, permute, unmerge


def merged(x: Value) -> tuple[Value, Value]:
    """Return the first two dimensions as one, and a tensor by which `unmerged` parts them again."""
    before = x.current.node
    if before is not None and before.expression == UNMERGED:
        flat, like = before.inputs
        shown = flat.copied()
        shown.lie_within(x, flat, get=lambda whole: merge(whole, 2), put=reshaped)
        return shown, like
    flat = merge(x, 2)
    flat.on_shape = lambda shape: x.assume((TIME, BATCH, *shape[1:]))
    return flat, x


def unmerged(x: Value, like: Value) -> Value:
    """Return the first dimension as the first two of another tensor."""
    before = x.current.node
    if before is not None and before.expression == MERGED and before.inputs == [like.current]:
        return like
    parted = unmerge(x, like, 2)
    parted.on_shape = lambda shape: x.assume((None, *shape[2:]))
    return parted


def joined_steps(x: Value, time: int, dim: int) -> Value:
    """Return the steps of a sequence joined along a dimension of theirs."""
    order = [axis for axis in range(x.rank) if axis != time]
    order.insert(dim, time)
    return merge(permute(x, order), 2, dim)


def flip(x: Value, dim: int = 0) -> Value:
    """Return the places of a dimension in the opposite order."""

    def to_onnx(e: Emitter, name: str) -> Any:
        last, first = e.ints(-1), e.ints(-(2**62))
        return e.op("Slice", name, last, first, e.ints(dim), last)

    lies = {"put": lambda whole, part: flip(part, dim), "is_contiguous": False}
    value = moved(x, to_onnx, x.shape, f"{{0}}.flip({dim})", lies)
    value.on_shape = x.assume
    return value


def zeros(like: Value, dim: int | None, sizes: Sequence[int], word: str = "h") -> Value:
    """Return zeros for each sample. dim: that of samples in `like`; None: without samples."""

    def to_onnx(e: Emitter, name: str) -> Any:
        whole = e.ints(*sizes)
        if dim is not None:
            whole = e.op("Concat", e.op("Shape", name, start=dim, end=dim + 1), whole, axis=0)
        return e.op("Expand", e.number(0), whole)

    batch = [] if dim is None else [like.shape[dim] if like.shape is not None else None]
    text = ", ".join([*([] if dim is None else [f"{{0}}.size({dim})"]), *map(str, sizes)])
    call = f"torch.zeros({text}, device={{0}}.device)"
    text = call if like.kind == "int" else f"{{0}}.new_zeros({text})"
    return node([like], to_onnx, (*batch, *sizes), text, word=word)


def recall(graph: Graph, key: Any, start: Callable[[Value, int], Value], x: Value) -> Value:
    """Return the value that the step before kept under a key; before the first, that of `start`.

    It gets a tensor of samples and the dimension of these. x: the step.
    """
    memory = graph.memory
    if key not in memory.states:
        if memory.sequence is None:
            first = value = start(x, 0)
        else:
            first = start(memory.sequence, 1)
            value = Value(graph, first.shape, name=first.node.word if first.node else "h")
        memory.states[key] = State(first, value, value)
    return memory.states[key].last


def keep(graph: Graph, key: Any, value: Value) -> None:
    """Keep a value for the next step, in the place of what was recalled."""
    graph.memory.states[key].last = value


def loop(graph: Graph, data: Data, body_of: Callable[[Graph, Data], Data]) -> Data:
    """Return the results of a loop over the steps of sequences.

    body_of: computes those of one step, in a graph of its own.
    """
    sequences = list(tensors(data))
    body = Graph(graph.training, graph.treated, graph, graph.stand_in, graph.stubs)
    body.memory = Memory(sequences[0])
    steps: list[Value] = []

    def step(x: Value) -> Value:
        shape = x.shape[1:] if x.shape is not None else None
        on_shape = lambda shape: x.assume((TIME, *shape))  # noqa: E731
        steps.append(Value(body, shape, x.kind, source=x, name="step", on_shape=on_shape))
        return steps[-1]

    def whole(x: Value) -> Value:
        time = sequences[0].shape[0] if sequences[0].shape else TIME
        return Value(graph, (time, *x.shape) if x.shape is not None else None, x.kind)

    result = body_of(body, mapped(data, step))
    graph.unchecked = graph.unchecked or body.unchecked
    if isinstance(result, Steps):
        raise graph.error("each step gives a table of any length")
    states = list(body.memory.states.values())
    body.inputs = [*[state.value for state in states], *steps]
    body.outputs = [value.current for value in (*[s.last for s in states], *tensors(result))]
    body.prune()
    results = mapped(result, whole)
    first_values = [state.first for state in states]
    lasts = [Value(graph, first.shape, first.kind) for first in first_values]

    def to_onnx(e: Emitter, *names: str) -> Any:
        count = len(lasts) + len(list(tensors(results)))
        scan = {"body": e.body(body), "num_scan_inputs": len(steps)}
        return e.op("Scan", *names[: len(first_values) + len(steps)], count=count, **scan)

    outputs = [*lasts, *tensors(results)]
    graph.add([*first_values, *sequences], to_onnx, outputs, loop=Loop(body, len(states)))
    return results
