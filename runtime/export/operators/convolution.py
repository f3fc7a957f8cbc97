"""Convolutions, and the windows that they and pooling slide over the last dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.export.graph import BATCH, Call, Dim, Shape, Value
from th_shell.runtime.export.operators.base import node, plain, vectors
from th_shell.runtime.export.parameters import Parameter

Ints = Sequence[int]


def common_size(sizes: Ints) -> Any:
    """Return sizes as PyTorch takes them: one number where all are equal."""
    values = [int(size) for size in sizes]
    return values[0] if len(set(values)) == 1 else tuple(values)


@dataclass
class Windows:
    """Windows over the last dimensions: each field has a number for each of these."""

    size: Ints
    stride: Ints
    #: The zeros around the tensor; none by default.
    padding: Ints = ()
    #: The steps between a window's elements; 1 by default.
    dilation: Ints = ()
    #: Whether a last window that is not full counts.
    ceil: bool = False

    def __post_init__(self) -> None:
        self.padding = self.padding or [0] * len(self.size)
        self.dilation = self.dilation or [1] * len(self.size)

    def count(self, dim: int, size: Dim) -> Dim:
        """Return the number of windows in a dimension of a size; all begin within it."""
        if not isinstance(size, int):
            return None
        step, pad = self.stride[dim], self.padding[dim]
        room = size + 2 * pad - self.reach(dim)
        many = (ceil if self.ceil else floor)(room / step) + 1
        if self.ceil and (many - 1) * step >= size + pad:
            many -= 1
        return many

    def reach(self, dim: int) -> int:
        """Return the number of places from a window's first element to its last."""
        return self.dilation[dim] * (self.size[dim] - 1) + 1

    def shape(self, x: Value, channels: Dim = None) -> Shape:
        """Return the shape of a result, with other channels where they are given."""
        rank = len(self.size) + 2
        x_shape = x.assume((BATCH, *[None] * (rank - 1)))
        if x.rank != rank:
            raise x.graph.error(
                f"its input has {x.rank} dimensions, not {rank}; --input begins with the batch"
            )
        if self.ceil and not any(self.padding):
            self._check_ends(x)
        counts = [self.count(dim, size) for dim, size in enumerate(x_shape[2:])]
        return (x_shape[0], x_shape[1] if channels is None else channels, *counts)

    def _check_ends(self, x: Value) -> None:
        """Raise ExportError where nn has a window behind the elements: it looks at none then."""
        for dim, size in enumerate(self._known_sizes(x)):
            step = self.stride[dim]
            if ceil((size - self.reach(dim)) / step) * step >= size:
                raise x.graph.error("has a last window that lies behind all elements")

    def arguments(self, *more: str) -> dict[str, Any]:
        """Return PyTorch's arguments."""
        named = {
            "kernel_size": common_size(self.size),
            "stride": common_size(self.stride),
            "padding": common_size(self.padding),
            "dilation": common_size(self.dilation),
            "ceil_mode": self.ceil,
        }
        return {name: named[name] for name in ("kernel_size", "stride", "padding", *more)}

    def pool_attributes(self, x: Value) -> dict[str, Any]:
        """Return ONNX's attributes of pooling.

        ONNX counts windows otherwise where a last one is not full, so that where sizes are known
        zeros are named that make it full.
        """
        sizes = self._known_sizes(x)
        if not self.ceil or not sizes:
            return self.attributes() | {"ceil_mode": int(self.ceil)}
        starts = [self._starts(dim, size)[-1] for dim, size in enumerate(sizes)]
        behind = [
            max(int(start) + self.reach(dim) - size, 0)
            for dim, (start, size) in enumerate(zip(starts, sizes, strict=True))
        ]
        return self.attributes() | {"pads": [*self.padding, *behind]}

    def ends(self, x: Value) -> Parameter | None:
        """Return factors for means with zeros behind the padding, one a window; None for 1."""
        sizes = self._known_sizes(x)
        if not self.ceil or not sizes:
            return None
        result = np.ones((1, 1, *[1] * len(sizes)))
        for dim, size in enumerate(sizes):
            starts = self._starts(dim, size)
            counted = np.minimum(starts + self.size[dim], size + self.padding[dim]) - starts
            column = [-1 if dim == place else 1 for place in range(len(sizes))]
            result = result * (self.size[dim] / counted).reshape(column)
        return None if np.all(result == 1) else Parameter.made(result)

    def _known_sizes(self, x: Value) -> list[int]:
        """Return the sizes that windows slide over; none where one of them is open."""
        sizes = [size for size in (x.shape or ())[2:] if isinstance(size, int)]
        return sizes if len(sizes) == len(self.size) else []

    def _starts(self, dim: int, size: int) -> Array:
        """Return the first place of each window of a dimension."""
        count = self.count(dim, size)
        assert isinstance(count, int)
        return np.arange(count) * self.stride[dim] - self.padding[dim]

    def attributes(self) -> dict[str, Any]:
        """Return ONNX's attributes."""
        pads = [*self.padding, *self.padding]
        return {"kernel_shape": list(self.size), "strides": list(self.stride), "pads": pads}


#: PyTorch's defaults.
CONV = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, "bias": True, "output_padding": 0}


def conv(
    x: Value, windows: Windows, weight: Parameter, bias: Parameter | None, groups: int = 1
) -> Value:
    """Add a convolution. weight: outputs x inputs of a group x sizes of a window."""
    outputs, inputs = weight.shape[0], weight.shape[1] * groups
    x.assume((BATCH, inputs, *[None] * len(windows.size)))
    call = _conv_layer("Conv", windows, inputs, outputs, groups=groups, bias=bias is not None)
    to_onnx = plain("Conv", **windows.attributes(), dilations=list(windows.dilation), group=groups)
    parameters = _parameters(x, windows, outputs, weight, bias)
    return node([x], to_onnx, windows.shape(x, outputs), layer=call, parameters=parameters)


def _parameters(
    x: Value, windows: Windows, outputs: int, weight: Parameter, bias: Parameter | None
) -> dict[str, Parameter]:
    if list(weight.shape[2:]) != list(windows.size):
        sizes = ["x".join(map(str, each)) for each in (weight.shape[2:], windows.size)]
        raise x.graph.error("its weights are for windows of {}, not of {}".format(*sizes))
    return {"weight": weight, **vectors(x, outputs, bias=bias)}


def _conv_layer(kind: str, windows: Windows, inputs: int, outputs: int, **more: Any) -> Call:
    named = {"in_channels": inputs, "out_channels": outputs}
    named |= windows.arguments("dilation") | more
    names = ("in_channels", "out_channels", "kernel_size")
    return Call(f"nn.{kind}{len(windows.size)}d", named, CONV, names)


def conv_transpose(
    x: Value,
    windows: Windows,
    extra: Ints,
    weight: Parameter,
    bias: Parameter | None,
    groups: int = 1,
) -> Value:
    """Add a transposed convolution.

    weight: inputs x outputs of a group x sizes of a window. extra: rows added at the end.
    """
    inputs, outputs = weight.shape[0], weight.shape[1] * groups
    x.assume((BATCH, inputs, *[None] * len(windows.size)))
    more = {"output_padding": common_size(extra), "groups": groups, "bias": bias is not None}
    call = _conv_layer("ConvTranspose", windows, inputs, outputs, **more)
    attributes = windows.attributes() | {"dilations": list(windows.dilation)}
    to_onnx = plain("ConvTranspose", **attributes, output_padding=list(extra), group=groups)
    shape = windows.shape(x, outputs)
    counts = [_grown(windows, extra, dim, size) for dim, size in enumerate((x.shape or ())[2:])]
    parameters = _parameters(x, windows, outputs, weight, bias)
    return node([x], to_onnx, (*shape[:2], *counts), layer=call, parameters=parameters)


def _grown(windows: Windows, extra: Ints, dim: int, size: Dim) -> Dim:
    if not isinstance(size, int):
        return None
    inner = (size - 1) * windows.stride[dim] - 2 * windows.padding[dim]
    return inner + windows.reach(dim) + extra[dim]
