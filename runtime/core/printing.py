"""Text of tensors and storages, as the reference prints them.

The layout of all numbers of one print is decided together: whole numbers are printed as
such, others with four digits after the point, a common scale where they are large or small,
exponents where they are far apart. Manual: a tensor ends with its class and 'of dimension'.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import floor, isinf, isnan, log10

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.storage import Storage
from runtime.core.tensor import Tensor

__all__ = ["storage_text", "tensor_text"]

_LINE = 80  # characters of a line of a matrix
_MOST_DIGITS = 9  # of whole numbers printed in full
_MOST_SPREAD = 4  # orders of magnitude between the smallest and the largest number
_MOST_WIDTH = 5  # digits before the point without a scale


@dataclass(frozen=True)
class Layout:
    """How the numbers of one print look.

    format: of one number, for %. scale: common to all, None for 1. width: of a column
    without its separator; None where lines are never split.
    """

    format: str
    scale: float | None
    width: int | None


def _magnitude(value: float) -> float:
    """Digits before the decimal point (0, -1, ... for numbers below 1); 1 for zero."""
    if value == 0:
        return 1
    if isnan(value) or isinf(value):
        return value
    return floor(log10(value)) + 1


def _layout(values: Array) -> Layout:
    values = values.astype(np.float64, copy=False)
    whole = bool((np.ceil(values) == values).all())
    sizes = np.abs(values)
    smallest, largest = _magnitude(float(sizes.min())), _magnitude(float(sizes.max()))
    if isnan(largest):
        # Torch7: the width becomes nan, and so no line is ever full.
        return Layout("%f", None, None)
    if whole:
        if largest > _MOST_DIGITS:
            return Layout("%11.4e", None, 11)
        return Layout(f"%{largest + 1:.0f}d", None, int(largest) + 1)
    if largest - smallest > _MOST_SPREAD:
        wide = abs(largest) > 99 or abs(smallest) > 99
        width = 12 if wide else 11
        return Layout(f"%{width}.4e", None, width)
    if largest > _MOST_WIDTH or largest < 0:
        return Layout("%7.4f", 10.0 ** (largest - 1), 7)
    width = 7 if largest == 0 else int(largest) + 6
    return Layout(f"%{width}.4f", None, width)


def _numbers(layout: Layout, values: Array) -> list[str]:
    """The numbers as text, each in its column."""
    scaled = values if layout.scale is None else values / layout.scale
    return [layout.format % value for value in scaled.tolist()]


def _vector(values: Array) -> str:
    layout = _layout(values)
    head = "" if layout.scale is None else f"{layout.scale:g} *\n"
    return head + "".join(text + "\n" for text in _numbers(layout, values))


def _matrix(values: Array, layout: Layout, indent: str) -> str:
    rows, columns = values.shape
    per_line = columns if layout.width is None else (_LINE - len(indent)) // (layout.width + 1)
    scale = layout.scale
    margin = indent if scale is None else indent + " "
    texts = _numbers(layout, values.reshape(-1))
    parts: list[str] = []
    for first in range(0, columns, per_line):
        last = min(first + per_line, columns)
        if per_line < columns:
            # Torch7: only the first of a slice's heads is indented.
            gap = "\n" if first else indent
            parts.append(f"{gap}Columns {first + 1} to {last}\n")
        if scale is not None:
            parts.append(f"{indent}{scale:g} *\n")
        for row in range(rows):
            line = " ".join(texts[row * columns + first : row * columns + last])
            parts.append(f"{margin}{line}\n")
    return "".join(parts)


def _slices(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Positions in all but the last two dimensions; the first varies fastest."""
    for position in product(*(range(n) for n in reversed(sizes[:-2]))):
        yield position[::-1]


def tensor_text(tensor: Tensor) -> str:
    """What tostring gives for a tensor; ends with a newline."""
    name = tensor.dtype.tensor_name
    if not tensor.sizes:
        return f"[{name} with no dimension]\n"
    values = tensor.array.astype(np.float64)
    tail = f"[{name} of dimension {'x'.join(map(str, tensor.sizes))}]\n"
    if values.ndim == 1:
        return _vector(values) + tail
    layout = _layout(values)
    if values.ndim == 2:
        return _matrix(values, layout, "") + tail
    parts = []
    for position in _slices(tensor.sizes):
        head = "".join(f"{i + 1}," for i in position)
        parts.append(f"({head}.,.) = \n" + _matrix(values[position], layout, " "))
    return "\n".join(parts) + tail


def storage_text(storage: Storage) -> str:
    """What tostring gives for a storage; ends with a newline."""
    text = _vector(storage.data) if storage.size else ""
    return f"{text}[{storage.dtype.storage_name} of size {storage.size}]\n"
