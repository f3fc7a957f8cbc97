"""The text of tensors and storages, as the reference prints them.

All numbers of one tensor or storage get the same layout. Whole numbers are printed without a
point, others with four digits after it. Where the numbers are large or small, a common factor is
printed before them; where they differ by many orders of magnitude, each has an exponent. The
text of a tensor ends with its class and its sizes, 'of dimension', as the manual has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import floor, isinf, isnan, log10

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import Tensor

LINE_WIDTH = 80  # characters; a matrix that is wider is printed in groups of columns


@dataclass(frozen=True)
class Layout:
    """The format in which the numbers of one tensor or storage are printed.

    format: how one number is written, as the operator % takes it. scale: the factor that is printed
    above all numbers; None where there is none. width: how many characters a column has, without
    the space before it; None where lines are never split.
    """

    format: str
    scale: float | None
    width: int | None


def _magnitude(value: float) -> float:
    """Count the digits of a number before its point: 0, -1, ... for numbers below 1; 1 for 0."""
    if value == 0:
        return 1
    if isnan(value) or isinf(value):
        return value
    return floor(log10(value)) + 1


def find_layout(values: Array) -> Layout:
    """Choose the format in which numbers that stand together are printed."""
    values = values.astype(np.float64, copy=False)
    whole = bool((np.ceil(values) == values).all())
    sizes = np.abs(values)
    smallest, largest = _magnitude(float(sizes.min())), _magnitude(float(sizes.max()))
    if isnan(largest):
        # Torch7: the width becomes nan, and so no line is ever full.
        return Layout("%f", None, None)
    if whole:
        if largest > 9:  # digits: exponents
            return Layout("%11.4e", None, 11)
        return Layout(f"%{largest + 1:.0f}d", None, int(largest) + 1)
    if largest - smallest > 4:  # orders of magnitude: exponents
        wide = abs(largest) > 99 or abs(smallest) > 99
        width = 12 if wide else 11
        return Layout(f"%{width}.4e", None, width)
    if largest > 5 or largest < 0:  # digits before the point: a common factor
        return Layout("%7.4f", 10.0 ** (largest - 1), 7)
    width = 7 if largest == 0 else int(largest) + 6
    return Layout(f"%{width}.4f", None, width)


def number_texts(layout: Layout, values: Array) -> list[str]:
    """The text of each number, padded to the width of a column."""
    scaled = values if layout.scale is None else values / layout.scale
    return [layout.format % value for value in scaled.tolist()]


def vector_text(values: Array) -> str:
    layout = find_layout(values)
    head = "" if layout.scale is None else f"{layout.scale:g} *\n"
    return head + "".join(text + "\n" for text in number_texts(layout, values))


def _matrix(values: Array, layout: Layout, indent: str) -> str:
    rows, columns = values.shape
    room = LINE_WIDTH - len(indent)
    per_line = columns if layout.width is None else room // (layout.width + 1)
    scale = layout.scale
    margin = indent if scale is None else indent + " "
    texts = number_texts(layout, values.reshape(-1))
    parts: list[str] = []
    for first in range(0, columns, per_line):
        last = min(first + per_line, columns)
        if per_line < columns:
            # Torch7: only the first heading of a slice is indented.
            gap = "\n" if first else indent
            parts.append(f"{gap}Columns {first + 1} to {last}\n")
        if scale is not None:
            parts.append(f"{indent}{scale:g} *\n")
        for row in range(rows):
            line = " ".join(texts[row * columns + first : row * columns + last])
            parts.append(f"{margin}{line}\n")
    return "".join(parts)


def _slices(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All positions, from 0, in the dimensions before the last two; the first varies fastest."""
    for position in product(*(range(n) for n in reversed(sizes[:-2]))):
        yield position[::-1]


def tensor_text(tensor: Tensor) -> str:
    """The text that tostring gives for a tensor; it ends with a newline."""
    name = tensor.dtype.tensor_name
    if not tensor.sizes:
        return f"[{name} with no dimension]\n"
    values = tensor.array.astype(np.float64)
    tail = f"[{name} of dimension {'x'.join(map(str, tensor.sizes))}]\n"
    if values.ndim == 1:
        return vector_text(values) + tail
    layout = find_layout(values)
    if values.ndim == 2:
        return _matrix(values, layout, "") + tail
    parts = []
    for position in _slices(tensor.sizes):
        head = "".join(f"{i + 1}," for i in position)
        parts.append(f"({head}.,.) = \n" + _matrix(values[position], layout, " "))
    return "\n".join(parts) + tail


def storage_text(storage: Storage) -> str:
    """The text that tostring gives for a storage; it ends with a newline."""
    text = vector_text(storage.data) if storage.size else ""
    return f"{text}[{storage.dtype.storage_name} of size {storage.size}]\n"
