"""SoftMax and LogSoftMax: along the first dimension of a frame, which may be one of a batch.

The loops are jobs of ``thnn/softmax.lua``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Tensor, describe
from th_shell.runtime.thnn._jobs import loops, run, working
from th_shell.runtime.thnn.checks import check, check_shapes
from th_shell.runtime.thnn.table import BACKWARD, FORWARD, Call, thnn

_DOUBLE = np.dtype(np.float64)


def _forward_loops(dtype: np.dtype[Any]) -> dict[str, Any]:
    functions = loops(dtype, np.maximum, np.subtract, np.exp)
    wide = loops(_DOUBLE, np.add, np.log, np.multiply, np.reciprocal)
    return functions | wide | {"minus": loops(_DOUBLE, np.subtract)["subtract"]}


def _add_rows(name: str, *, logarithms: bool) -> None:
    """Add the rows of a layer."""

    @thnn(f"{name}_updateOutput", FORWARD)
    def forward(call: Call) -> None:
        """output = exp(input) / sum(exp(input)) of each position's classes, or its logarithm."""
        check(1 <= call.input.ndim <= 4, 2, "1D, 2D, 3D or 4D tensor expected")
        frames, lie = _frames(call.input)
        x = call.read(call.input)
        out = call.write(call.output, call.input.sizes)
        run(
            "nn_softmax",
            frames,
            work=x.size,
            input=x,
            output=out,
            wide=working(x.size if x.itemsize == 4 else 0, np.float64),
            most=working(frames * lie["inner"], x.dtype),
            sums=working(frames * lie["inner"], np.float64),
            logarithms=logarithms,
            **lie,
            **_forward_loops(x.dtype),
        )

    @thnn(f"{name}_updateGradInput", f"{BACKWARD}, output")
    def backward(call: Call) -> None:
        """gradInput = output * (gradOutput - sum(gradOutput * output)), or LogSoftMax's."""
        _check_gradients(call.input, call.gradOutput, call.output)
        frames, lie = _frames(call.output)
        y, g = call.read(call.output), call.read(call.gradOutput)
        out = call.write(call.gradInput, call.output.sizes)
        run(
            "nn_softmax_back",
            frames,
            work=y.size,
            output=y,
            grads=g,
            gradient=out,
            wide=working(2 * y.size if y.itemsize == 4 else 0, np.float64),
            sums=working(frames * lie["inner"], np.float64),
            logarithms=logarithms,
            **lie,
            **(loops(y.dtype, np.exp) | loops(_DOUBLE, np.subtract, np.add, np.multiply)),
        )


def _frames(tensor: Tensor) -> tuple[int, dict[str, Any]]:
    """Return the frames of a tensor of one to four dimensions, and their layout for the jobs.

    A frame is a vector of classes, or an image with a number for each class at each position.
    """
    sizes = tensor.sizes if tensor.ndim % 2 == 0 else (1, *tensor.sizes)
    return sizes[0], {
        "classes": sizes[1],
        "inner": tensor.nelement // (sizes[0] * sizes[1]),
    }


def _check_gradients(input: Tensor, grad_output: Tensor, output: Tensor) -> None:
    check_shapes(input=input, gradOutput=grad_output)
    if not 1 <= output.ndim <= 4:
        raise TorchError("1D, 2D, 3D or 4D tensor expected")
    # Torch7: where gradOutput has more elements than output, its first ones count.
    if grad_output.nelement < output.nelement:
        raise TorchError(
            f"gradOutput has too few elements: {describe(grad_output.sizes)}, output is of shape: "
            f"{describe(output.sizes)}"
        )


_add_rows("SoftMax", logarithms=False)
_add_rows("LogSoftMax", logarithms=True)
