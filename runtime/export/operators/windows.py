"""Windows over the last dimensions, for convolutions and pooling; padding, and planes resampled."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.export.graph import BATCH, Call, Dim, Emitter, Shape, ToOnnx, Value
from th_shell.runtime.export.operators import node, plain, vectors
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.export.python_text import call_text

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
        return max(many, 0)

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
    """Add a convolution. weight: outputs x inputs of a group x sizes of a window.

    One that is not trained is a buffer, which PyTorch's layer has no place for.
    """
    outputs, inputs = weight.shape[0], weight.shape[1] * groups
    x.assume((BATCH, inputs, *[None] * len(windows.size)))
    call = _conv_layer("Conv", windows, inputs, outputs, groups=groups, bias=bias is not None)
    to_onnx = plain("Conv", **windows.attributes(), dilations=list(windows.dilation), group=groups)
    parameters = _parameters(x, windows, outputs, weight, bias)
    shape = windows.shape(x, outputs)
    if weight.trained:
        return node([x], to_onnx, shape, layer=call, parameters=parameters)
    named = windows.arguments("dilation") | {"groups": groups}
    del named["kernel_size"]
    taken = ["{0}", "{kernel}", *(["{bias}"] if bias else [])]
    text = call_text(Call(f"F.conv{len(windows.size)}d", named, CONV))
    text = text.replace(
        "(", f"({', '.join(taken)}, " if text[-2] != "(" else f"({', '.join(taken)}", 1
    )
    parameters["kernel"] = parameters.pop("weight")
    parameters = {name: parameters[name] for name in ("kernel", "bias") if name in parameters}
    return node([x], to_onnx, shape, text, parameters=parameters)


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


POOL = {"padding": 0, "dilation": 1, "ceil_mode": False, "count_include_pad": True}


def max_pool(x: Value, windows: Windows) -> Value:
    named = pool_arguments(windows, "dilation")
    call = Call(f"nn.MaxPool{len(windows.size)}d", named, POOL, ("kernel_size", "stride"))
    shape = windows.shape(x)
    attributes = windows.pool_attributes(x) | {"dilations": list(windows.dilation)}
    return node([x], plain("MaxPool", **attributes), shape, layer=call)


def pool_arguments(windows: Windows, *more: str) -> dict[str, Any]:
    """Return PyTorch's arguments of pooling."""
    named = windows.arguments(*more, "ceil_mode")
    if named["stride"] == named["kernel_size"]:
        del named["stride"]  # PyTorch's default
    return named


def avg_pool(x: Value, windows: Windows, include_padding: bool = True) -> Value:
    """Return the means of windows; include_padding: whether zeros around the tensor count."""
    named = pool_arguments(windows) | {"count_include_pad": include_padding}
    call = Call(f"nn.AvgPool{len(windows.size)}d", named, POOL, ("kernel_size", "stride"))
    shape = windows.shape(x)
    attributes = windows.pool_attributes(x) | {"count_include_pad": int(include_padding)}
    factors = windows.ends(x) if include_padding else None

    def to_onnx(e: Emitter, name: str) -> Any:
        result = e.op("AveragePool", name, **attributes)
        return result if factors is None else e.op("Mul", result, e.parameter(factors))

    return node([x], to_onnx, shape, layer=call)


_ONNX = {"Avg": "Average", "Max": "Max"}


def adaptive_pool(x: Value, kind: str, sizes: Sequence[int]) -> Value:
    """Return the mean ("Avg") or maximum ("Max") of parts of the planes, which may overlap.

    sizes: how many parts there are of each dimension.
    """
    shape = x.assume((BATCH, *[None] * (len(sizes) + 1)))
    named = {"output_size": common_size(sizes)}
    call = Call(f"nn.Adaptive{kind}Pool{len(sizes)}d", named, {}, ("output_size",))
    if all(size == 1 for size in sizes):
        to_onnx: Any = f"Global{_ONNX[kind]}Pool"
    else:
        to_onnx = _parts(kind, x.sizes(*range(2, x.rank)), sizes)
    return node([x], to_onnx, (*shape[:2], *sizes), layer=call)


def _parts(kind: str, old: Sequence[int], new: Sequence[int]) -> Any:
    """Return ONNX's operators: windows where all parts are equal; else dimension by dimension."""
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


def pool_places(x: Value, windows: Windows) -> Value:
    """Return the place of each window's maximum in its plane."""
    shape, attributes = windows.shape(x), windows.pool_attributes(x)
    named = pool_arguments(windows) | {"return_indices": True}
    function = f"F.max_pool{len(windows.size)}d"
    text = call_text(Call(function, named, POOL, ("kernel_size", "stride")))
    text = text.replace("(", "({0}, ", 1)
    to_onnx = plain("MaxPool", count=2, **attributes)
    largest, places = Value(x.graph, shape), Value(x.graph, shape, "int")
    x.graph.add([x], to_onnx, [largest, places], expression=text, word="places")
    return places


def max_unpool(x: Value, places: Value, like: Value) -> Value:
    """Return elements put where the maxima were, zeros elsewhere; like: what was pooled.

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


def pad(
    x: Value, amounts: Sequence[tuple[int, int]], mode: str = "constant", value: float = 0.0
) -> Value:
    """Add rows before and behind the last dimensions; amounts below 0 take rows away.

    mode: constant, reflect or replicate.
    """
    shape = x.shape or x.assume((BATCH, *[None] * (len(amounts) + 1)))
    first_dim = len(shape) - len(amounts)
    sizes = [
        size + before + behind if isinstance(size, int) else None
        for size, (before, behind) in zip(shape[first_dim:], amounts, strict=True)
    ]
    flat = [number for pair in reversed(amounts) for number in pair]
    call = _pad_layer(mode, flat, value, len(amounts)) if first_dim == 2 else None
    more = f", value={value!r}" if value else ""
    if mode != "constant":
        more = f', "{mode}"'

    def to_onnx(e: Emitter, name: str) -> Any:
        pads = e.ints(
            *[0] * first_dim, *[b for b, _ in amounts], *[0] * first_dim, *[a for _, a in amounts]
        )
        filler = [e.number(value)] if mode == "constant" else []
        return e.op("Pad", name, pads, *filler, mode={"replicate": "edge"}.get(mode, mode))

    text = f"F.pad({{0}}, {tuple(flat)}{more})"
    return node([x], to_onnx, (*shape[:first_dim], *sizes), text, layer=call, kind=x.kind)


def _pad_layer(mode: str, flat: list[int], value: float, dims: int) -> Call | None:
    name = {"reflect": "ReflectionPad", "replicate": "ReplicationPad"}.get(mode, "ConstantPad")
    named: dict[str, Any] = {"padding": common_size(flat)}
    if name == "ConstantPad" and value == 0 and dims == 2:
        name = "ZeroPad"
    elif name == "ConstantPad":
        named["value"] = value
    return Call(f"nn.{name}{dims}d", named, {}, ("padding", "value"))


def upsample(x: Value, scale: int, mode: str, dims: int = 2, sizes: Ints = ()) -> Value:
    """Enlarge planes, nearest or linear (corners aligned), by a factor or to sizes."""
    shape = x.assume((BATCH, *[None] * (dims + 1)))
    linear = {1: "linear", 2: "bilinear", 3: "trilinear"}[dims]
    named: dict[str, Any] = {"size": tuple(sizes)} if sizes else {"scale_factor": scale}
    named |= {"mode": "nearest"} if mode == "nearest" else {"mode": linear, "align_corners": True}
    call = Call("nn.Upsample", named, {"mode": "nearest"})
    new = [size * scale if isinstance(size, int) else None for size in shape[2:]]
    to_onnx = _resize(mode, scale, x.rank, sizes)
    return node([x], to_onnx, (*shape[:2], *(sizes or new)), layer=call)


def _resize(mode: str, scale: int, rank: int, sizes: Ints) -> ToOnnx:
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": "align_corners"}
    if mode == "nearest":
        attributes |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}

    def to_onnx(e: Emitter, name: str) -> Any:
        if sizes:
            start = e.op("Slice", e.op("Shape", name), e.ints(0), e.ints(2))
            whole = e.op("Concat", start, e.ints(*sizes), axis=0)
            return e.op("Resize", name, "", "", whole, **attributes)
        scales = np.array([1, 1, *[scale] * (rank - 2)], np.float32)
        return e.op("Resize", name, "", e.constant(scales), **attributes)

    return to_onnx


def pixel_shuffle(x: Value, factor: int) -> Value:
    """Make pixels of channels."""
    batch, channels, *sizes = x.assume((BATCH, None, None, None))
    new = [size * factor if isinstance(size, int) else None for size in sizes]
    fewer = channels // factor**2 if isinstance(channels, int) else None
    call = Call("nn.PixelShuffle", {"upscale_factor": factor}, {}, ("upscale_factor",))
    to_onnx = plain("DepthToSpace", blocksize=factor, mode="CRD")
    return node([x], to_onnx, (batch, fewer, *new), layer=call)


def grid_sample(x: Value, grid: Value) -> Value:
    """Return planes at places between their elements, and zeros outside of them.

    grid: samples x height x width x 2, the place in a row before that in a column: -1 is the first
    element, 1 the last.
    """
    text = "F.grid_sample({0}, {1}, align_corners=True)"
    to_onnx = plain("GridSample", align_corners=1)
    is_known = x.shape is not None and grid.shape is not None
    shape = (*(x.shape or ())[:2], *(grid.shape or ())[1:3]) if is_known else None
    return node([x, grid], to_onnx, shape, text)
