"""What layers of max pooling share: the largest elements of windows, and gradients by indices."""

from __future__ import annotations

import math
from functools import lru_cache

from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor
from runtime.thnn._jobs import contiguous, result
from runtime.thnn._planes import find_largest, scatter
from runtime.thnn._shapes import Numbers
from runtime.thnn._windows import Codes, Plan, dilated, make_plan


@lru_cache(maxsize=32)
def sliding_plan(
    sizes: Sizes,
    windows: Sizes,
    kernel: Numbers,
    stride: Numbers,
    pad: Numbers,
    dilation: Numbers,
    codes: Codes,
) -> Plan:
    numbers = zip(sizes, windows, kernel, stride, pad, dilation, strict=True)
    volume = codes == "volume"
    return make_plan([dilated(s, n, k, d, p, a, volume) for s, n, k, d, p, a in numbers], codes)


def store_largest(
    input: Tensor, output: Tensor, indices: Tensor, plan: Plan, windows: Sizes, none: int = 0
) -> None:
    x = contiguous(input)
    sizes = (*input.sizes[: input.ndim - len(windows)], *windows)
    with result(output, sizes) as values, result(indices, sizes) as places:
        find_largest(x, plan, values, places, none=none)


def indices_of(indices: Tensor, input: Tensor, windows: Sizes) -> Array:
    """The indices for the input's planes. There may be more of them, which are not looked at."""
    return contiguous(indices, math.prod(input.sizes[: -len(windows)]) * math.prod(windows))


def add_by_place(
    places: Array, input: Tensor, grad_output: Tensor, gradient: Tensor, dims: int
) -> None:
    """gradInput = the sums of gradOutput by places in the plane, which has so many dimensions."""
    g = contiguous(grad_output, len(places))
    planes = math.prod(input.sizes[:-dims])
    try:
        with result(gradient, input.sizes) as out:
            scatter(g, places, planes, out, add=True, skip=True)
    except IndexError:
        raise TorchError("indices must be places in the input's planes") from None
