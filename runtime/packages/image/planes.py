"""Images as planes of pixels: checks of their sizes, samples at positions, and rounding.

An image is a tensor of one plane (height x width) or of several (depth x height x width).
"""

from typing import Any

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.dtypes import BYTE, DOUBLE, Array, DType
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor

#: Single precision: the type of positions, and of weights that depend on these alone.
FLOAT = np.float32


def working(dtype: DType) -> type[np.floating[Any]]:
    """Return the type in which values of an element type are computed."""
    return np.float64 if dtype is DOUBLE else FLOAT


def to_elements(values: Array, dtype: DType) -> Array:
    """Return computed values as elements; bytes are rounded, and kept between 0 and 255."""
    if dtype is not BYTE:
        return values.astype(dtype.numpy)
    rounded = (values.astype(FLOAT).astype(np.float64) + 0.5).astype(FLOAT)
    return np.nan_to_num(np.clip(rounded, 0, 255), nan=0).astype(np.uint8)


def planes(image: Tensor) -> Array:
    """Return the pixels as depth x height x width; they share the tensor's memory."""
    return image.array if image.ndim == 3 else image.array[None]


def put(image: Tensor, values: Array) -> None:
    """Set an image's elements to computed values of planes."""
    planes(image)[...] = to_elements(values, image.dtype)


def pair(call: Call, prefix: str) -> tuple[Tensor, Tensor]:
    """Return the source and the destination: a call's first two arguments, as images."""
    source, target = call.tensor(1), call.tensor(2)
    for at, word, image in ((1, "src", source), (2, "dst", target)):
        if image.ndim not in (2, 3):
            raise ArgError(at, f"{prefix}: {word} not 2 or 3 dimensional")
    return source, target


def check_depths(name: str, source: Tensor, target: Tensor) -> None:
    """Raise the original's error where two images differ in their numbers of planes."""
    if source.ndim != target.ndim or len(planes(source)) != len(planes(target)):
        raise TorchError(f"image.{name}: src and dst depths do not match")


def colour_image(call: Call, at: int) -> Tensor:
    """Return an argument that is an image of at least three planes."""
    image = call.tensor(at)
    if image.ndim != 3:
        raise ArgError(at, "tensor must have three dimensions")
    if image.sizes[0] < 3:
        raise ArgError(2, "out of range")
    return image


def whole(values: Array) -> Array:
    """Return whole numbers as positions; nans and large ones are outside of any image."""
    return np.where(np.abs(values) < 1 << 31, values, -(1 << 31)).astype(np.int64)


def take(pixels: Array, y: Array, x: Array) -> Array:
    """Return the pixels of all planes at positions y, x, which are inside of the image."""
    positions = y * pixels.shape[2] + x
    taken: Array = pixels.reshape(len(pixels), -1).take(positions, 1)  # quicker than by two arrays
    return taken


def take_inside(pixels: Array, y: Array, x: Array, fill: float = 0) -> Array:
    """Return the pixels of all planes at any positions y, x; outside of the image `fill`."""
    height, width = pixels.shape[1:]
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    taken = take(pixels, np.clip(y, 0, height - 1), np.clip(x, 0, width - 1))
    return np.where(inside, taken, np.asarray(fill, pixels.dtype))
