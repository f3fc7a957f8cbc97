"""Pixels from the values of a tensor: H x W x 3 bytes.

Bytes are taken as they are. Other values are brightnesses from 0 to 1 if all are in this range;
else the least becomes black, the greatest white.
"""

from __future__ import annotations

from math import ceil, isfinite, sqrt
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_GAP, _GAP_COLOUR = 1, 96  # pixels between the images of a grid
_CHANNELS = (1, 3)
_ENOUGH = 6  # pixels in a row, for a mean


def pixels(values: Array) -> Array:
    """Return the pixels of an image, or of several in a grid.

    An image is H x W, 1 x H x W, 3 x H x W or H x W x 3. Raises ValueError for other shapes.
    """
    if values.size == 0:
        raise ValueError("the tensor is empty")
    images = _images(_brightness(values))
    return images[0] if len(images) == 1 else _grid(images)


def _brightness(values: Array) -> Array:
    if values.dtype == np.uint8:
        return values
    numbers = values.astype(np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    if not (isfinite(low) and isfinite(high)):
        finite = numbers[np.isfinite(numbers)]
        if not finite.size:
            raise ValueError("there is no finite number in the tensor")
        low, high = float(finite.min()), float(finite.max())
        black, white = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
        numbers = np.nan_to_num(numbers, nan=black, posinf=white, neginf=black)
    if low < 0 or high > 1:
        numbers -= low
        numbers *= 255 / ((high - low) or 1)
    else:
        numbers *= 255
    return np.rint(numbers, out=numbers).astype(np.uint8)


def _images(values: Array) -> list[Array]:
    shape = values.shape
    if values.ndim == 2:
        return [_coloured(values[None])]
    if values.ndim == 3:
        if shape[0] in _CHANNELS:
            return [_coloured(values)]
        if shape[2] == 3:
            return [values]
        return [_coloured(image[None]) for image in values]
    if values.ndim == 4 and shape[1] in _CHANNELS:
        return [_coloured(image) for image in values]
    sizes = "x".join(map(str, shape))
    raise ValueError(f"an image is HxW, 1xHxW or 3xHxW, or several of these, not {sizes}")


def _coloured(channels: Array) -> Array:
    return np.repeat(channels, 3 // len(channels), axis=0).transpose(1, 2, 0)


def _grid(images: list[Array]) -> Array:
    height, width = images[0].shape[:2]
    columns = ceil(sqrt(len(images) * height / width)) if width else 1
    columns = min(max(columns, 1), len(images))
    rows = ceil(len(images) / columns)
    sheet = np.full(
        (rows * (height + _GAP) - _GAP, columns * (width + _GAP) - _GAP, 3), _GAP_COLOUR, np.uint8
    )
    for i, image in enumerate(images):
        top, left = (i // columns) * (height + _GAP), (i % columns) * (width + _GAP)
        sheet[top : top + height, left : left + width] = image
    return sheet


def enlarged(image: Array, least: int) -> Array:
    """Return an image with each pixel repeated until the longer side has about this many."""
    factor = max(1, least // max(image.shape[:2]))
    return image.repeat(factor, axis=0).repeat(factor, axis=1)


def resized(image: Array, height: int, width: int) -> Array:
    """Return an image of another size: means of pixels where it is smaller, repeated ones else.

    Where it is much smaller, the means are of some of the pixels, evenly spread.
    """
    steps = (
        max(1, image.shape[0] // (_ENOUGH * height)),
        max(1, image.shape[1] // (_ENOUGH * width)),
    )
    image = image[:: steps[0], :: steps[1]]
    for axis, size in enumerate((height, width)):
        old = image.shape[axis]
        if size < old:
            edges = np.linspace(0, old, size + 1).astype(np.intp)
            counts = np.diff(edges).reshape([-1 if a == axis else 1 for a in range(3)])
            sums = np.add.reduceat(image.astype(np.float64), edges[:-1], axis=axis)
            image = np.rint(sums / counts).astype(np.uint8)
        elif size > old:
            image = image.take(np.arange(size) * old // size, axis=axis)
    return image
