"""Rows of nn's modules: activations, arithmetic with numbers and parameters, and reductions.

A row makes the graph's nodes for the classes that it names.
"""

from functools import partial

from th_shell.runtime.export.graph import BATCH, Value
from th_shell.runtime.export.modules import Module, function_rows, row
from th_shell.runtime.export.operators import elementwise as ew
from th_shell.runtime.export.operators import total, vectors
from th_shell.runtime.export.operators.layers import argmax, reduce, shifted, softmax
from th_shell.runtime.export.operators.shaping import cat, with_samples
from th_shell.runtime.export.parameters import Parameter

function_rows(
    {
        "nn.LogSigmoid": (ew.log_sigmoid, {}),
        "nn.ReLU": (ew.relu, {}),
        "nn.ReLU6": (ew.relu6, {}),
        "nn.Sigmoid": (ew.sigmoid, {}),
        "nn.SoftSign": (ew.softsign, {}),
        "nn.Tanh": (ew.tanh, {}),
        "nn.TanhShrink": (ew.tanh_shrink, {}),
        "nn.ELU": (ew.elu, {"alpha": 1}),
        "nn.LeakyReLU": (ew.leaky_relu, {"negval": 0.01}),
        "nn.SoftPlus": (ew.softplus, {"beta": 1, "threshold": 20}),
        "nn.SoftShrink": (ew.softshrink, {"lambda": 0.5}),
        "nn.HardShrink": (ew.hardshrink, {"lambda": 0.5}),
        "nn.HardTanh": (ew.clamp, {"min_val": -1, "max_val": 1}),
        "nn.Clamp": (ew.clamp, {"min_val": -1, "max_val": 1}),
        "nn.Clip": (ew.clamp, {"minval": None, "maxval": None}),
    }
)


@row("nn.RReLU")
def _rrelu(m: Module, x: Value) -> Value:
    """Add a LeakyReLU with the mean of the two slopes, as RReLU computes in evaluation."""
    return ew.leaky_relu(x, (m.number("lower", 1 / 8) + m.number("upper", 1 / 3)) / 2)


@row("nn.PReLU")
def _prelu(m: Module, x: Value) -> Value:
    weight = m.parameter("weight")
    planes = m.whole("nOutputPlane", weight.size) or 1  # 0: one slope for all
    weight = vectors(x, planes, weight=weight)["weight"]
    return ew.prelu(x, weight) if planes == 1 else with_samples(x, 2, lambda x: ew.prelu(x, weight))


@row("nn.CReLU")
def _crelu(m: Module, x: Value) -> Value:
    """Return the ReLU of x, and behind its channels the ReLU of -x."""
    dim = 0 if x.shape is not None and x.rank == m.whole("nInputDims") else 1
    return ew.relu(cat([x, ew.function(x, "neg")], dim))


@row("nn.GatedLinearUnit")
def _gated(m: Module, x: Value) -> Value:
    return ew.glu(x, m.whole("dim") - 1 if m.get("dim") else -1)


@row("nn.Threshold")
def _threshold(m: Module, x: Value) -> Value:
    limit, value = m.number("threshold", 1e-6), m.number("val", 0)
    return ew.relu(x) if limit == value == 0 else ew.threshold(x, limit, value)


@row("nn.SoftMax", "nn.SpatialSoftMax", "nn.LogSoftMax", "nn.SpatialLogSoftMax")
def _softmax(m: Module, x: Value) -> Value:
    if "Spatial" in m.kind:
        x.assume((BATCH, None, None, None))
    return softmax(x, log="Log" in m.kind)


@row("nn.SoftMin")
def _softmin(m: Module, x: Value) -> Value:
    return softmax(ew.function(x, "neg"))


function_rows(
    {
        "nn.Abs": (partial(ew.function, name="abs"), {}),
        "nn.Exp": (partial(ew.function, name="exp"), {}),
        "nn.Log": (partial(ew.function, name="log"), {}),
        "nn.Sqrt": (partial(ew.function, name="sqrt"), {}),
        "nn.Square": (ew.square, {}),
        "nn.Power": (ew.power, {"pow": None}),
        "nn.MulConstant": (partial(ew.with_number, "Mul"), {"constant_scalar": None}),
    }
)


@row("nn.AddConstant")
def _add_constant(m: Module, x: Value) -> Value:
    """Add a number, or a vector."""
    vector = m.optional("constant_scalar", trained=False)
    if vector is not None:
        return ew.binary("Add", x, ew.parameter(x, "constant", vector))
    return ew.with_number("Add", x, m.number("constant_scalar"))


_LEARNED = {
    "nn.Add": ("Add", "bias"),
    "nn.CAdd": ("Add", "bias"),
    "nn.CMul": ("Mul", "weight"),
    "nn.Mul": ("Mul", "weight"),
}


@row(*_LEARNED)
def _learned(m: Module, x: Value) -> Value:
    """Add a parameter, or multiply by it: it has one number, or as many as a sample."""
    kind, name = _LEARNED[m.kind]
    parameter = m.parameter(name)
    if parameter.size > 1:
        parameter = _for_samples(m, parameter, x)
    return ew.binary(kind, x, ew.parameter(x, name, parameter))


def _for_samples(m: Module, parameter: Parameter, x: Value) -> Parameter:
    """Return a parameter with sizes that can be broadcast to a tensor's."""
    old_shape = parameter.shape
    sample = old_shape[1:] if len(old_shape) > 1 and old_shape[0] == 1 else old_shape
    shape = x.shape or x.assume((BATCH, *[None if size == 1 else size for size in sample]))
    if len(old_shape) == x.rank and all(
        old_size in (1, size) for old_size, size in zip(old_shape, shape, strict=True)
    ):
        return parameter
    for part in (shape[1:], shape):
        if total(part) == parameter.size:
            return parameter.view(*x.sizes(*range(x.rank - len(part), x.rank)))
    raise m.graph.need(f"its {parameter.size} numbers do not fit its input", x)


_KINDS = {"nn.Max": "Max", "nn.Min": "Min"}


@row("nn.Sum", "nn.Mean")
def _sum(m: Module, x: Value) -> Value:
    dim = m.dim(x, "dimension", "nInputDims")
    mean = bool(m.get("sizeAverage", m.kind == "nn.Mean"))
    keep = m.get("squeeze") is False or x.rank == 1
    return reduce(x, "Mean" if mean else "Sum", dim, keep)


@row("nn.ArgMax")
def _arg_max(m: Module, x: Value) -> Value:
    """Return the place of the largest element, from 1 (dpnn)."""
    dim = m.whole("dim", 1) - (not m.has_samples(x, "nInputDim"))
    return shifted(argmax(x, dim), 1)


@row(*_KINDS)
def _extremum(m: Module, x: Value) -> Value:
    return reduce(x, _KINDS[m.kind], m.dim(x, "dimension", "nInputDims"), x.rank == 1)
