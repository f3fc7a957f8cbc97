"""Parts of planes that no plain window takes: adaptive pooling, patches, pooling undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from th_shell.runtime.export.graph import BATCH, Call, Emitter, Value
from th_shell.runtime.export.operators.base import node, plain, replaced
from th_shell.runtime.export.operators.windows import CONV, POOL, Windows, pool_arguments, short
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.export.python_text import Name, call_text


def adaptive_pool(x: Value, kind: str, sizes: Sequence[int]) -> Value:
    """The mean ("Avg") or maximum ("Max") of as many parts of each dimension, which may overlap."""
    shape = x.assume((BATCH, *[None] * (len(sizes) + 1)))
    named = {"output_size": short(sizes)}
    call = Call(f"nn.Adaptive{kind}Pool{len(sizes)}d", named, {}, ("output_size",))
    if all(size == 1 for size in sizes):
        to_onnx: Any = f"Global{_ONNX[kind]}Pool"
    else:
        to_onnx = _parts(kind, x.sizes(*range(2, x.rank)), sizes)
    return node([x], to_onnx, (*shape[:2], *sizes), layer=call)


_ONNX = {"Avg": "Average", "Max": "Max"}


def _parts(kind: str, old: Sequence[int], new: Sequence[int]) -> Any:
    """Windows where all parts are equal; else the parts of one dimension after the other."""
    if all(before % after == 0 for before, after in zip(old, new, strict=True)):
        kernel = [before // after for before, after in zip(old, new, strict=True)]
        return lambda e, x: e.op(f"{_ONNX[kind]}Pool", x, kernel_shape=kernel, strides=kernel)

    def to_onnx(e: Emitter, x: str) -> Any:
        reduce = "ReduceMean" if kind == "Avg" else "ReduceMax"
        for dim, (before, after) in enumerate(zip(old, new, strict=True), 2):
            parts = []
            for n in range(after):
                start, stop = n * before // after, -(-(n + 1) * before // after)
                part = e.op("Slice", x, e.ints(start), e.ints(stop), e.ints(dim))
                parts.append(e.op(reduce, part, e.ints(dim), keepdims=1))
            x = e.op("Concat", *parts, axis=dim)
        return x

    return to_onnx


def patches(x: Value, windows: Windows) -> Value:
    """The elements of each window as a column: samples x elements x windows."""
    x_shape = windows.shape(x)
    (channels,) = x.sizes(1)
    count = channels * int(np.prod(windows.size))
    one_each = np.eye(count, dtype=np.float32).reshape(count, channels, *windows.size)
    places = [size for size in x_shape[2:] if isinstance(size, int)]

    def to_onnx(e: Emitter, name: str) -> Any:
        kernel = e.parameter(Parameter.made(one_each))
        spread = e.op("Conv", name, kernel, **windows.attributes())
        return e.op("Reshape", spread, e.ints(0, 0, -1))

    named = {"input": Name("{0}"), **windows.arguments()}
    text = call_text(Call("F.unfold", named, CONV, ("input", "kernel_size")))
    shape = (x_shape[0], count, int(np.prod(places)) if len(places) == 2 else None)
    return node([x], to_onnx, shape, text, word="patches")


def pool_places(x: Value, windows: Windows) -> Value:
    """Where in a plane the maximum of each window is."""
    shape, attributes = windows.shape(x), windows.pool_attributes(x)
    named = {"input": Name("{0}"), **pool_arguments(windows), "return_indices": True}
    function = f"F.max_pool{len(windows.size)}d"
    text = call_text(Call(function, named, POOL, ("input", "kernel_size", "stride")))

    def to_onnx(e: Emitter, name: str) -> Any:
        return e.op("MaxPool", name, count=2, **attributes)

    largest, places = Value(x.graph, shape), Value(x.graph, shape, "int")
    x.graph.add([x], to_onnx, [largest, places], expression=text, word="places")
    return places


def max_unpool(x: Value, places: Value, like: Value) -> Value:
    """Elements put where the maxima were, zeros elsewhere; like: what was pooled.

    ONNX counts the places in all of a tensor. Both libraries have the layer, but not for windows
    that were not full.
    """

    def to_zeros(e: Emitter, like: str) -> Any:
        return e.op("Mul", e.op("Reshape", like, e.ints(-1)), e.number(0))

    def to_onnx(e: Emitter, zeros: str, places: str, x: str, like: str) -> Any:
        flat = [e.op("Reshape", each, e.ints(-1)) for each in (places, x)]
        return e.op("Reshape", e.op("ScatterElements", zeros, *flat), e.op("Shape", like))

    zeros = node([like], to_zeros, None, "torch.zeros_like({0}).flatten(2)", word="zeros")
    text = "{0}.scatter(2, {1}.flatten(2), {2}.flatten(2)).view_as({3})"
    return node([zeros, places, x, like], to_onnx, like.shape, text)


def grid_sample(x: Value, grid: Value) -> Value:
    """Planes at places between their elements; zeros outside of them.

    grid: samples x height x width x 2, the place in a row before that in a column: -1 is the first
    element, 1 the last.
    """
    text = "F.grid_sample({0}, {1}, align_corners=True)"
    to_onnx = plain("GridSample", align_corners=1)
    known = x.shape is not None and grid.shape is not None
    shape = (*(x.shape or ())[:2], *(grid.shape or ())[1:3]) if known else None
    return node([x, grid], to_onnx, shape, text)


def largest_of_dimension(x: Value, count: int, dim: int) -> Value:
    """The largest elements along a dimension, in the order in which they stand."""

    def to_onnx(e: Emitter, name: str) -> Any:
        places = e.op("TopK", name, e.ints(count), count=2, axis=dim)[1]
        order = e.op("TopK", places, e.ints(count), count=2, axis=dim, largest=0)[0]
        return e.op("GatherElements", name, order, axis=dim)

    text = f"{{0}}.gather({dim}, {{0}}.topk({count}, {dim}).indices.sort({dim}).values)"
    return node([x], to_onnx, replaced(x.shape, dim, count), text, word="largest")
