"""Operators that compute element by element: activations, arithmetic, comparisons and masks.

Each adds a node to the graph of its argument and returns the node's value. Unless a docstring says
otherwise, the value has the argument's shape. In texts of PyTorch, {0} and {1} stand for the
arguments.
"""

from collections.abc import Callable, Sequence
from typing import Any

from th_shell.runtime.export.graph import Call, Emitter, ToOnnx, Value
from th_shell.runtime.export.operators import broadcast, node, number, plain, replaced, same
from th_shell.runtime.export.parameters import Parameter


def _activation(layer: str, to_onnx: ToOnnx | str, function: str) -> Callable[[Value], Value]:
    """Return a function that adds an activation, which PyTorch has as a layer and as a function.

    layer: PyTorch's class. function: the text of the function's call.
    """
    return lambda x: same(x, to_onnx, function, layer=Call(layer, {}))


relu = _activation("nn.ReLU", "Relu", "F.relu({0})")
relu6 = _activation("nn.ReLU6", plain("Clip", 0.0, 6.0), "F.relu6({0})")
sigmoid = _activation("nn.Sigmoid", "Sigmoid", "torch.sigmoid({0})")
log_sigmoid = _activation(
    "nn.LogSigmoid",
    lambda e, x: e.op("Neg", e.op("Softplus", e.op("Neg", x))),
    "F.logsigmoid({0})",
)
tanh = _activation("nn.Tanh", "Tanh", "torch.tanh({0})")
tanh_shrink = _activation(
    "nn.Tanhshrink", lambda e, x: e.op("Sub", x, e.op("Tanh", x)), "F.tanhshrink({0})"
)
softsign = _activation("nn.Softsign", "Softsign", "F.softsign({0})")


def elu(x: Value, alpha: float) -> Value:
    call = Call("nn.ELU", {"alpha": alpha}, {"alpha": 1.0})
    text = f"F.elu({{0}}, {alpha!r})" if alpha != 1 else "F.elu({0})"
    return same(x, plain("Elu", alpha=alpha), text, layer=call)


def leaky_relu(x: Value, slope: float) -> Value:
    name = "negative_slope"
    call = Call("nn.LeakyReLU", {name: slope}, {name: 0.01}, (name,))
    text = f"F.leaky_relu({{0}}, {slope!r})"
    return same(x, plain("LeakyRelu", alpha=slope), text, layer=call)


def prelu(x: Value, weight: Parameter) -> Value:
    """Add a PReLU. weight: one slope, or one for each channel, which is the second dimension."""

    def to_onnx(e: Emitter, x_name: str, slope: str) -> Any:
        if weight.size == 1 or x.rank <= 2:
            return e.op("PRelu", x_name, slope)
        sizes = e.ints(weight.size, *[1] * (x.rank - 2))
        return e.op("PRelu", x_name, e.op("Reshape", slope, sizes))

    name = "num_parameters"
    call = Call("nn.PReLU", {name: weight.size}, {name: 1}, (name,))
    return same(x, to_onnx, layer=call, parameters={"weight": weight})


def glu(x: Value, dim: int) -> Value:
    """Return the first half of a dimension, times the sigmoid of the second half.

    The dimension of the result is half as long.
    """

    def to_onnx(e: Emitter, name: str) -> Any:
        value, gate = e.op("Split", name, count=2, axis=dim, num_outputs=2)
        return e.op("Mul", value, e.op("Sigmoid", gate))

    half = x.sizes(dim)[0] // 2 if x.shape is not None else None
    shape = x.shape and replaced(x.shape, dim % x.rank, half)
    return node([x], to_onnx, shape, layer=Call("nn.GLU", {"dim": dim}, {"dim": -1}, ("dim",)))


def softplus(x: Value, beta: float, threshold: float) -> Value:
    def to_onnx(e: Emitter, x: str) -> Any:
        if beta == 1:
            return e.op("Softplus", x)
        scale = e.number(beta)
        return e.op("Div", e.op("Softplus", e.op("Mul", x, scale)), scale)

    named = {"beta": beta, "threshold": threshold}
    call = Call("nn.Softplus", named, {"beta": 1.0, "threshold": 20.0})
    return same(x, to_onnx, f"F.softplus({{0}}, {beta!r}, {threshold!r})", layer=call)


def softshrink(x: Value, limit: float) -> Value:
    return _shrink(x, "Softshrink", limit, bias=limit)


def hardshrink(x: Value, limit: float) -> Value:
    return _shrink(x, "Hardshrink", limit, bias=0.0)


def _shrink(x: Value, kind: str, limit: float, bias: float) -> Value:
    call = Call(f"nn.{kind}", {"lambd": limit}, {"lambd": 0.5}, ("lambd",))
    to_onnx = plain("Shrink", lambd=limit, bias=bias)
    return same(x, to_onnx, f"F.{kind.lower()}({{0}}, {limit!r})", layer=call)


def clamp(x: Value, low: float, high: float) -> Value:
    named = {"min_val": low, "max_val": high}
    call = Call("nn.Hardtanh", named, {"min_val": -1.0, "max_val": 1.0}, tuple(named))
    to_onnx = plain("Clip", float(low), float(high))
    return same(x, to_onnx, f"{{0}}.clamp({low!r}, {high!r})", layer=call)


def threshold(x: Value, limit: float, value: float) -> Value:
    def to_onnx(e: Emitter, x: str) -> Any:
        return e.op("Where", e.op("Greater", x, e.number(limit)), x, e.number(value))

    named = {"threshold": limit, "value": value}
    call = Call("nn.Threshold", named, {}, tuple(named))
    return same(x, to_onnx, f"F.threshold({{0}}, {limit!r}, {value!r})", layer=call)


def dropout(x: Value, p: float, kind: str = "Dropout") -> Value:
    """Drop elements with probability p in training, none in evaluation. kind: PyTorch's class."""
    return same(x, "Identity", layer=Call(f"nn.{kind}", {"p": p}, {"p": 0.5}, ("p",)))


def function(x: Value, name: str) -> Value:
    """Apply a function that has the same name in PyTorch and ONNX: abs, exp, cos, neg ..."""
    return same(x, name.capitalize(), "-{0}" if name == "neg" else f"{{0}}.{name}()", word=name)


def square(x: Value) -> Value:
    return same(x, lambda e, x: e.op("Mul", x, x), "{0}.square()", word="square")


def power(x: Value, exponent: float) -> Value:
    if exponent == 2:
        return square(x)
    to_onnx = plain("Pow", float(exponent))
    return same(x, to_onnx, f"{{0}}.pow({number(exponent)})", word="power")


#: ONNX's operators of two tensors: PyTorch's text, and the name of a variable for the result.
_PAIRS = {
    "Add": ("{0} + {1}", "total"),
    "Sub": ("{0} - {1}", "difference"),
    "Mul": ("{0} * {1}", "product"),
    "Div": ("{0} / {1}", "quotient"),
    "Max": ("torch.maximum({0}, {1})", "maximum"),
    "Min": ("torch.minimum({0}, {1})", "minimum"),
}


def binary(kind: str, a: Value, b: Value) -> Value:
    """Apply an operator of `_PAIRS` to two tensors.

    The shapes are broadcast as numpy does; one that is not known yet is taken to be the other.
    """
    text, word = _PAIRS[kind]
    if a.graph is b.graph:
        for one, other in ((a, b), (b, a)):
            if one.shape is not None and other.shape is None:
                other.assume(one.shape)
    return node([a, b], kind, broadcast(a.shape, b.shape), text, word=word)


def fold(kind: str, values: Sequence[Value]) -> Value:
    """Apply a binary operation to all tensors of a table, from the left."""
    result = values[0]
    for value in values[1:]:
        result = binary(kind, result, value)
    return result


def with_number(kind: str, x: Value, value: float) -> Value:
    """Apply Add, Sub, Mul or Div of `_PAIRS` to a tensor and a number."""
    if kind == "Add" and value < 0:
        kind, value = "Sub", -value
    text, word = _PAIRS[kind]
    return same(x, plain(kind, float(value)), text.replace("{1}", number(value)), word=word)


def minus(number_before: float, x: Value) -> Value:
    """Return a number minus each element."""
    text = f"{number(number_before)} - {{0}}"
    return same(x, lambda e, x: e.op("Sub", e.number(number_before), x), text, word="difference")


def compare(kind: str, x: Value, value: float) -> Value:
    """Return a mask: whether each element is Greater than, Less than or Equal to a number."""
    sign = {"Greater": ">", "Less": "<", "Equal": "=="}[kind]
    text = f"{{0}} {sign} {number(value)}"
    return node([x], plain(kind, float(value)), x.shape, text, kind="bool", word="mask")


def where(mask: Value, a: Value, b: Value) -> Value:
    """Return the elements of a where a mask is true, and those of b elsewhere."""
    shape = broadcast(broadcast(mask.shape, a.shape), b.shape)
    return node([mask, a, b], "Where", shape, "torch.where({0}, {1}, {2})")


def ones_like(x: Value) -> Value:
    """Return a tensor of ones of the same shape."""

    def to_onnx(e: Emitter, name: str) -> Any:
        return e.op("Expand", e.number(1), e.op("Shape", name))

    return node([x], to_onnx, x.shape, "torch.ones_like({0})", word="ones")


def is_zero(x: Value, batched: bool, rank: int) -> Value:
    """Return whether all elements of a tensor are 0; if it is batched, of each sample.

    rank: the number of dimensions of a batched mask; all but the first have size 1.
    """
    dims = list(range(int(batched), x.rank))
    ones = [1] * (rank - 1)

    def to_onnx(e: Emitter, name: str) -> Any:
        largest = e.op("ReduceMax", e.op("Abs", name), e.ints(*dims), keepdims=0)
        mask = e.op("Equal", largest, e.index(0) if x.kind == "int" else e.number(0))
        return e.op("Reshape", mask, e.ints(-1, *ones)) if batched else mask

    text = "({0} == 0).all()"
    if batched:
        flat = "" if x.rank == 2 else ".flatten(1)"
        text = f"({{0}} == 0){flat}.all(1, keepdim=True)"
        text += "" if rank == 2 else f".reshape({', '.join(map(str, [-1, *ones]))})"
    shape = (x.shape[0], *ones) if batched and x.shape is not None else ()
    return node([x], to_onnx, shape, text, kind="bool", word="mask")


def masked(x: Value, mask: Value) -> Value:
    """Return a tensor that is 0 where a mask is true."""
    text = "{0}.masked_fill({1}, 0)"
    return node([x, mask], lambda e, x, m: e.op("Where", m, e.number(0), x), x.shape, text)


def parameter(like: Value, name: str, value: Parameter) -> Value:
    """Return a parameter, or a buffer, as a tensor; like: any value of the graph."""
    return node(
        [], "Identity", value.shape, f"{{{name}}}", parameters={name: value}, graph=like.graph
    )
