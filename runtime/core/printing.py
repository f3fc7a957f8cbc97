"""The text of tensors and storages, as the reference prints them.

All numbers of one tensor or storage get the same layout. Whole numbers are printed without a
point, others with four digits after it. Where the numbers are large or small, a common factor is
printed before them; where they differ by many orders of magnitude, each has an exponent. The
text of a tensor ends with its class and its sizes, 'of dimension', as the manual has it.

`elided_text` shows large ones at the prompt by their corners: '…' stands for rows, columns or
slices that are left out, and the last line tells how many elements there are and how many are
shown. The format is that of the numbers shown; the others are not even read. A matrix gets as many
columns as the screen has room for.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import floor, isinf, isnan, log10, prod
from typing import NamedTuple

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import Tensor

LINE_WIDTH = 80  # characters; a matrix that is wider is printed in groups of columns


class Layout(NamedTuple):
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
    """Return the text of each number, padded to the width of a column."""
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
    """Return the positions (from 0) in all dimensions but the last two; the first runs fastest."""
    for position in product(*(range(n) for n in reversed(sizes[:-2]))):
        yield position[::-1]


def tensor_text(tensor: Tensor) -> str:
    """Return the text that tostring gives for a tensor; it ends with a newline."""
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
    """Return the text that tostring gives for a storage; it ends with a newline."""
    text = vector_text(storage.data) if storage.size else ""
    return f"{text}[{storage.dtype.storage_name} of size {storage.size}]\n"


_DOTS = "…"
_EDGE_ELEMENTS, _EDGE_ROWS, _EDGE_SLICES = 5, 3, 2  # shown at each end
_NARROWEST = 2  # characters of a column

#: Positions from 0 that are shown, in order; None where others are left out.
_Positions = Sequence[int | None]


def elided_text(value: Tensor | Storage, limit: int, style: str, width: int) -> str | None:
    """Return the text of a tensor or storage of more elements than limit; None for others.

    style: what shows all elements. width: the characters that a line may have.
    """
    size = value.size if isinstance(value, Storage) else value.nelement
    if size <= limit:
        return None
    if isinstance(value, Storage):
        text, count = _vector(value.data)
        tail = f"[{value.dtype.storage_name} of size {size}]"
    else:
        text, count = _elements(value.array, width)
        tail = f"[{value.dtype.tensor_name} of dimension {'x'.join(map(str, value.sizes))}]"
    return f"{text}{tail}\n({size:,} elements, {count:,} of them shown; {style} shows all)\n"


def _elements(values: Array, width: int) -> tuple[str, int]:
    """Return the text of a tensor's elements, and how many it shows."""
    if values.ndim == 1:
        return _vector(values, np.dtype(np.float64))
    positions = _ends(prod(values.shape[:-2]), _EDGE_SLICES)
    shown = [p for p in positions if p is not None]
    # The first dimension varies fastest.
    places = np.unravel_index(shown, values.shape[:-2], order="F") if values.ndim > 2 else ()
    rows = _ends(values.shape[-2], _EDGE_ROWS)
    edge = width // _NARROWEST
    while True:
        columns = _ends(values.shape[-1], edge)
        corners = _corners(values, places, rows, columns)
        layout = find_layout(corners)
        room = width // ((layout.width or len(layout.format % 0)) + 1)
        if edge == 1 or len(columns) <= room:
            break
        edge = max(1, min(edge - 1, (room - 1) // 2))
    if values.ndim == 2:
        return _matrix_of_corners(corners[0], layout, rows, columns, ""), corners.size
    heads = [",".join(str(i + 1) for i in place) for place in zip(*places, strict=True)]
    slices = iter(
        f"({head},.,.) = \n" + _matrix_of_corners(corner, layout, rows, columns, " ")
        for head, corner in zip(heads, corners, strict=True)
    )
    parts = [f"{_DOTS}\n" if p is None else next(slices) for p in positions]
    return "\n".join(parts), corners.size


def _corners(
    values: Array, places: Sequence[Array], rows: _Positions, columns: _Positions
) -> Array:
    """Return the numbers that are shown: slices x rows x columns."""
    row_places = np.array([r for r in rows if r is not None])
    column_places = np.array([c for c in columns if c is not None])
    index = [place[:, None, None] for place in places]
    corners: Array = values[(*index, row_places[:, None], column_places)]
    corners = corners.reshape(-1, len(row_places), len(column_places))
    return corners.astype(np.float64)


def _ends(size: int, edge: int) -> _Positions:
    """Return the first and last positions of a dimension; all, if that leaves out one at most."""
    return range(size) if size <= 2 * edge + 1 else [*range(edge), None, *range(size - edge, size)]


def _vector(values: Array, dtype: np.dtype[np.float64] | None = None) -> tuple[str, int]:
    positions = _ends(len(values), _EDGE_ELEMENTS)
    shown = values[[p for p in positions if p is not None]]
    shown = shown if dtype is None else shown.astype(dtype)
    layout = find_layout(shown)
    texts = iter(number_texts(layout, shown))
    head = "" if layout.scale is None else f"{layout.scale:g} *\n"
    lines = [_gap(layout) if p is None else next(texts) for p in positions]
    return head + "".join(f"{line}\n" for line in lines), len(shown)


def _gap(layout: Layout) -> str:
    return _DOTS.rjust(layout.width or 1)


def _matrix_of_corners(
    values: Array, layout: Layout, rows: _Positions, columns: _Positions, indent: str
) -> str:
    texts = iter(number_texts(layout, values.reshape(-1)))
    scale = layout.scale
    margin = indent if scale is None else indent + " "
    lines = []
    for row in rows:
        gap = _gap(layout) if row is None else None
        cells = [_DOTS if column is None else gap or next(texts) for column in columns]
        lines.append(margin + " ".join(cells) + "\n")
    return ("" if scale is None else f"{indent}{scale:g} *\n") + "".join(lines)
