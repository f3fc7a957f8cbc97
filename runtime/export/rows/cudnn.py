"""Classes of cudnn that nn lacks: softmax, and recurrent layers, whose weights are one vector.

cudnn 5 to 7 write this vector: first the weights of all layers, then all biases. Each layer has
those of its forward direction before those of its backward one; a direction has those that its
inputs are multiplied by before those of the previous step; and both have the gates in PyTorch's
order.
"""

from math import prod

import numpy as np

from th_shell.runtime.export.graph import BATCH, TIME, Value
from th_shell.runtime.export.modules import Module, row
from th_shell.runtime.export.operators.elementwise import clamp
from th_shell.runtime.export.operators.layers import softmax
from th_shell.runtime.export.operators.sequences import Stack, stacked
from th_shell.runtime.export.parameters import Parameter


@row("cudnn.ClippedReLU")
def _clipped_relu(m: Module, x: Value) -> Value:
    return clamp(x, 0, m.number("ceiling"))


@row("cudnn.SoftMax", "cudnn.LogSoftMax")
def _softmax_of_samples(m: Module, x: Value) -> Value:
    """Normalise all elements of a sample together, which must be a vector here."""
    if x.shape is not None and x.rank > 2:
        raise m.error("normalises over channels and places together: give --input of a matrix")
    return softmax(x, log=m.kind == "cudnn.LogSoftMax")


@row("cudnn.VolumetricSoftMax", "cudnn.VolumetricLogSoftMax")
def _softmax_of_volumes(m: Module, x: Value) -> Value:
    """Normalise the channels, which a volume without samples has first."""
    dim = 0 if x.shape is not None and x.rank == 4 else None
    return softmax(x, dim, log=m.kind == "cudnn.VolumetricLogSoftMax")


_FUNCTIONS = {
    "CUDNN_LSTM": "nn.LSTM",
    "CUDNN_GRU": "nn.GRU",
    "CUDNN_RNN_RELU": "nn.RNN",
    "CUDNN_RNN_TANH": "nn.RNN",
}


@row("cudnn.RNN cudnn.RNNReLU cudnn.RNNTanh cudnn.LSTM cudnn.BLSTM cudnn.GRU cudnn.BGRU")
def _recurrent(m: Module, x: Value) -> Value:
    """Return the outputs for a sequence, which begins with zeros and not with stored states."""
    mode = m.text("mode")
    if m.get("inputMode", "CUDNN_LINEAR_INPUT") != "CUDNN_LINEAR_INPUT":
        raise m.error("takes its input without weights (inputMode)")
    stack = Stack(
        _FUNCTIONS[mode],
        m.whole("inputSize"),
        m.whole("hiddenSize"),
        m.whole("numLayers"),
        2 if m.get("bidirectional") == "CUDNN_BIDIRECTIONAL" else 1,
        bool(m.get("batchFirst")),
        m.number("dropout", 0),
        mode == "CUDNN_RNN_RELU",
    )
    front = (BATCH, TIME) if stack.batch_first else (TIME, BATCH)
    x.assume((*front, stack.inputs))
    return stacked(x, stack, _unpacked(m, stack))


def _unpacked(m: Module, stack: Stack) -> list[list[Parameter]]:
    """Return the weights and biases of each direction of each layer."""
    weight = m.parameter("weight")
    rows = stack.gates * stack.size
    widths = [
        stack.inputs if layer == 0 else stack.size * stack.directions
        for layer in range(stack.layers)
        for _ in range(stack.directions)
    ]
    shapes = [(rows, columns) for width in widths for columns in (width, stack.size)]
    sizes = [*shapes, *[(rows,)] * len(shapes)]
    counts = [prod(shape) for shape in sizes]
    if sum(counts) != weight.size:
        raise m.error(
            f"its weights are not packed as they are known to be: there are {weight.size}"
        )
    parts = np.split(weight.array().reshape(-1), np.cumsum(counts)[:-1])
    parameters = [
        Parameter.made(part.reshape(shape), weight, part=str(n))
        for n, (part, shape) in enumerate(zip(parts, sizes, strict=True))
    ]
    half = len(shapes)
    return [
        [*parameters[n : n + 2], *parameters[half + n : half + n + 2]] for n in range(0, half, 2)
    ]
