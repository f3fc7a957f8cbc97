"""FeatureLPPooling: norms of neighbouring features, (sum of x^power)^(1/power).

Features are the first dimension of a tensor, or the second one of a batch.
"""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor
from runtime.thnn.checks import check
from runtime.thnn.table import thnn

__all__: list[str] = []

_NUMBERS = ", accreal power, int width, int stride, bool batchMode"


@thnn("FeatureLPPooling_updateOutput", "THTensor *input, THTensor *output" + _NUMBERS)
def lp_pooling(
    input: Tensor, output: Tensor, power: float, width: int, stride: int, batch: bool
) -> None:
    """output = the norm of each `width` features, `stride` apart."""
    _check_dimensions(2, input, batch)
    x = _upcast(input, batch)
    _check_window(3, 5, x, width, stride)
    count = (x.shape[1] - width) // stride + 1
    with np.errstate(all="ignore"):
        powers = x.astype(np.float64) ** power
        norms = sum(_windows(powers, width, stride, count)) ** (1 / power)
    sizes = list(input.sizes)
    sizes[1 if batch else 0] = count
    output.resize(tuple(sizes))
    output.array[...] = norms.reshape(sizes)


@thnn(
    "FeatureLPPooling_updateGradInput",
    "THTensor *gradOutput, THTensor *input, THTensor *output, THTensor *gradInput" + _NUMBERS,
)
def lp_pooling_backward(
    grad_output: Tensor,
    input: Tensor,
    output: Tensor,
    gradient: Tensor,
    power: float,
    width: int,
    stride: int,
    batch: bool,
) -> None:
    """gradInput = the sums of gradOutput * (input / output)^(power - 1); 0 where output is 0."""
    _check_dimensions(3, input, batch)
    x, g, z = (_upcast(t, batch) for t in (input, grad_output, output))
    _check_window(3, 7, x, width, stride)
    if z.shape != g.shape:
        raise TorchError(
            "Assertion `outputDesc.size[i] == gradOutputDesc.size[i]' failed. output and "
            "gradOutput sizes do not match"
        )
    count = (x.shape[1] - width) // stride + 1
    check(
        count == z.shape[1],
        3,
        "input and output sizes do not match with respect to width and stride",
    )
    if x.shape[0] != z.shape[0] or x.shape[2:] != z.shape[2:]:  # Torch7 reads beyond the end
        raise TorchError("input and output sizes do not match")
    result = np.zeros(x.shape, x.dtype)
    with np.errstate(all="ignore"):
        to = _windows(result, width, stride, count)
        for part, values in zip(to, _windows(x, width, stride, count), strict=True):
            ratios = (values / z).astype(np.float64)
            part += np.where(z == 0, 0, g * ratios ** (power - 1)).astype(x.dtype)
    gradient.resize(input.sizes)
    gradient.array[...] = result.reshape(input.sizes)


def _check_dimensions(position: int, input: Tensor, batch: bool) -> None:
    if batch:
        check(2 <= input.ndim <= 4, position, "input must be 2-4 dimensions for batch mode")
    else:
        check(1 <= input.ndim <= 3, position, "input must be 1-3 dimensions for non-batch mode")


def _check_window(size_at: int, width_at: int, x: Array, width: int, stride: int) -> None:
    check(x.shape[1] >= width, size_at, "input: feature dimension must be >= width")
    check(2 <= width <= 16, width_at, "width must be between 2 - 16")
    check(1 <= stride <= 4, width_at + 1, "stride must be between 1 - 4")


def _upcast(tensor: Tensor, batch: bool) -> Array:
    """The elements as batch x features x two more dimensions."""
    if tensor.ndim - batch not in (1, 2, 3):
        raise TorchError("Assertion `batchMode' failed. ")
    sizes = tensor.sizes if batch else (1, *tensor.sizes)
    return tensor.array.reshape(*sizes, *(1,) * (4 - len(sizes)))


def _windows(x: Array, width: int, stride: int, count: int) -> list[Array]:
    """The first features of all windows, the second ones, and so on."""
    last = (count - 1) * stride + 1
    return [x[:, i : i + last : stride] for i in range(width)]
