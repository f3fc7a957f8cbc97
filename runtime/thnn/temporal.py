"""TemporalConvolution: convolutions of sequences, which have a frame for each step in time.

A window has ``kW`` frames, and begins ``dW`` frames after the window before.
"""

from math import prod
from typing import Any

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Tensor, describe
from th_shell.runtime.thnn._columns import add_sums
from th_shell.runtime.thnn._jobs import blas, run
from th_shell.runtime.thnn.checks import check, check_batch, positive
from th_shell.runtime.thnn.table import BACKWARD, GRADIENTS, Call, thnn


@thnn(
    "TemporalConvolution_updateOutput",
    "input, output, weight, bias, int kW, int dW, int inputFrameSize, int outputFrameSize",
)
def forward(call: Call) -> None:
    """output = bias + weight times the frames of each window."""
    check(call.weight.is_contiguous, 4, "weight must be contiguous")
    check(call.bias.is_contiguous, 5, "bias must be contiguous")
    count = _count(call.input, call.kW, call.dW, call.inputFrameSize)
    _check_weight(call.weight, call.input, call.kW, call.dW)
    size = call.outputFrameSize
    if call.weight.sizes[0] != size or call.bias.nelement != size:
        raise TorchError(
            f"inconsistent tensor size, expected {size} output frames, got weight "
            f"{describe(call.weight.sizes)} and bias {describe(call.bias.sizes)}"
        )
    x, w, b = (call.read(t) for t in (call.input, call.weight, call.bias))
    out = call.write(call.output, (*call.input.sizes[:-2], count, size))
    _multiply(call, x, w, b, out)


@thnn("TemporalConvolution_updateGradInput", f"{BACKWARD}, weight, int kW, int dW")
def backward(call: Call) -> None:
    """gradInput from gradOutput and weight."""
    check(call.weight.is_contiguous, 4, "weight must be contiguous")
    count = _count(call.input, call.kW, call.dW, None)
    _check_weight(call.weight, call.input, call.kW, call.dW)
    _check_gradient(call.gradOutput, call.input, call.weight.sizes[0], count)
    g, w = call.read(call.gradOutput), call.read(call.weight)
    out = call.write(call.gradInput, call.input.sizes)
    run("clear", out.nbytes, work=out.size, out=out)
    _multiply(call, out, w, 0, g)


@thnn("TemporalConvolution_accGradParameters", f"{GRADIENTS}, int kW, int dW, accreal scale")
def accumulate(call: Call) -> None:
    """Add scale times the gradients to gradWeight and gradBias."""
    count = _count(call.input, call.kW, call.dW, None)
    _check_weight(call.gradWeight, call.input, call.kW, call.dW)
    _check_gradient(call.gradOutput, call.input, call.gradWeight.sizes[0], count)
    if call.gradBias.nelement != call.gradWeight.sizes[0]:
        raise TorchError(
            f"inconsistent tensor size, gradWeight {describe(call.gradWeight.sizes)}, gradBias "
            f"{describe(call.gradBias.sizes)}"
        )
    x, g = call.read(call.input), call.read(call.gradOutput)
    weights, biases = call.change(call.gradWeight), call.change(call.gradBias)
    run(
        "nn_weigh_sequences",
        len(weights),
        work=weights.size * g.size // len(weights) // 10,
        weight=weights,
        samples=prod(x.shape[:-2]),
        alpha=call.scale,
        **_job_parameters(call, x, g),
    )
    add_sums(biases.reshape(-1), g.reshape(-1, biases.size, 1), call.scale)


def _multiply(call: Call, x: Array, weight: Array, bias: Array | int, out: Array) -> None:
    """out = bias + weight times the windows of x.

    Without a bias the other way round: `out` times weight is added to the windows of x.
    """
    run(
        "nn_sequences",
        prod(x.shape[:-2]),
        work=out.size * weight.shape[1] // 10,
        weight=weight,
        bias=bias,
        backward=isinstance(bias, int),
        **_job_parameters(call, x, out),
    )


def _job_parameters(call: Call, x: Array, out: Array) -> dict[str, Any]:
    """Return the parameters of a job about sequences: their addresses, sizes and windows."""
    return {
        "gemm": blas("gemm", x.itemsize),
        "input": x,
        "out": out,
        "frames": x.shape[-2],
        "frame": x.shape[-1],
        "kernel": call.kW,
        "stride": call.dW,
        "windows": out.shape[-2],
        "maps": out.shape[-1],
    }


def _count(input: Tensor, width: int, step: int, frame: int | None) -> int:
    """Count the windows of a sequence."""
    positive(9, "kernel size", "k", (width,))
    positive(11, "stride", "d", (step,))
    check_batch(input, 1)
    length, size = input.sizes[-2:]
    if frame is not None:
        check(size == frame, 2, f"invalid input frame size. Got: {size}, Expected: {frame}")
    message = f"input sequence smaller than kernel size. Got: {length}, Expected: {width}"
    check(length >= width, 2, message)
    return (length - width) // step + 1


def _check_weight(weight: Tensor, input: Tensor, width: int, step: int) -> None:
    if weight.ndim != 2 or weight.sizes[1] != width * input.sizes[-1]:
        # The reference multiplies windows that do not overlap first.
        apart = ((width - 1) // step + 1) * step
        windows = ((input.sizes[-2] - width) // apart + 1, width * input.sizes[-1])
        raise TorchError(
            f"size mismatch, m1: {describe(windows)}, m2: {describe(weight.sizes[::-1])}"
        )


def _check_gradient(grad_output: Tensor, input: Tensor, frame: int, count: int) -> None:
    expected = (*input.sizes[:-2], count, frame)
    if grad_output.sizes != expected:
        raise TorchError(
            f"gradOutput of size {describe(expected)} expected, got {describe(grad_output.sizes)}"
        )
