"""Kernels of convolutions, colour maps, and values kept between 0 and 1."""

from __future__ import annotations

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import BYTE
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.packages.image.planes import put, working


def _gaussian(call: Call) -> None:
    target = call.tensor(1)
    if target.ndim != 2:
        raise TorchError("expecting 2D tensor")
    kind = working(call.dtype)
    normalize = call.get(3) not in (None, False)
    amplitude, sigma_x, sigma_y, mean_x, mean_y = (kind(call.number(at)) for at in (2, 4, 5, 6, 7))
    height, width = target.sizes
    squares = []
    for size, sigma, mean in ((height, sigma_y, mean_y), (width, sigma_x, mean_x)):
        middle = kind(float(mean * kind(size)) + 0.5)
        scale = kind(1 / np.float64(sigma * kind(size)))
        distance = (np.arange(1, size + 1, dtype=kind) - middle) * scale
        squares.append(distance * distance)
    exponent = (squares[1] + squares[0][:, None]).astype(np.float64) * -0.5
    values = (float(amplitude) * np.exp(exponent)).astype(kind)
    put(target, values[None])
    if normalize:
        elements = target.array.astype(kind)
        total = np.add.accumulate(elements.ravel())[-1]  # in order, as the original adds them
        target.array[...] = (elements * kind(1 / np.float64(total))).astype(call.dtype.numpy)


def _saturate(call: Call) -> Tensor:
    image: Tensor = call.tensor(1)
    if call.dtype is not BYTE and image.ndim:
        np.clip(image.array, 0, 1, out=image.array)
    return image


def _colorize(call: Call) -> None:
    target, source, colours = call.tensor(1), call.tensor(2), call.tensor(3)
    for image in (source, colours):
        if image.ndim != 2:
            raise ArgError(1, "tensor must have two dimensions")
    rows = source.array.astype(np.int64)
    if rows.min() < 0 or rows.max() >= colours.sizes[0]:
        raise ArgError(2, "out of range")
    coloured = colours.array[rows].transpose(2, 0, 1).copy()
    target.resize(coloured.shape)
    target.array[...] = coloured


FUNCTIONS = {"gaussian": _gaussian, "saturate": _saturate, "colorize": _colorize}
