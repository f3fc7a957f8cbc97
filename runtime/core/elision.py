"""The text of large tensors and storages at the prompt: their corners, in the layout of print.

Where rows, columns or slices are left out stands '…'. The line behind the one with the sizes tells
how many elements there are, and how many of them are shown. The layout is that of the numbers that
are shown: the others are not even read. Of a matrix, so many columns are shown as the screen has
room for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import prod

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.printing import Layout, find_layout, number_texts
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import Tensor

_DOTS = "…"
_OF_VECTOR, _OF_ROWS, _OF_SLICES = 5, 3, 2  # shown at each end
_NARROWEST = 2  # characters of a column

#: Positions from 0 that are shown, in order; None where others are left out.
_Shown = Sequence[int | None]


def elided_text(value: Tensor | Storage, limit: int, style: str, width: int) -> str | None:
    """The text of a tensor or storage of more elements than limit; None for others.

    style: what shows all elements. width: the characters that a line may have.
    """
    size = value.size if isinstance(value, Storage) else prod(value.sizes) if value.sizes else 0
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
    """The text of a tensor's elements, and how many it shows."""
    if values.ndim == 1:
        return _vector(values, np.dtype(np.float64))
    positions = _ends(prod(values.shape[:-2]), _OF_SLICES)
    shown = [p for p in positions if p is not None]
    # The first dimension varies fastest.
    places = np.unravel_index(shown, values.shape[:-2], order="F") if values.ndim > 2 else ()
    rows = _ends(values.shape[-2], _OF_ROWS)
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
        return _matrix(corners[0], layout, rows, columns, ""), corners.size
    heads = [",".join(str(i + 1) for i in place) for place in zip(*places, strict=True)]
    slices = iter(
        f"({head},.,.) = \n" + _matrix(corner, layout, rows, columns, " ")
        for head, corner in zip(heads, corners, strict=True)
    )
    parts = [f"{_DOTS}\n" if p is None else next(slices) for p in positions]
    return "\n".join(parts), corners.size


def _corners(values: Array, places: Sequence[Array], rows: _Shown, columns: _Shown) -> Array:
    """The numbers that are shown: slices x rows x columns."""
    row_places = np.array([r for r in rows if r is not None])
    column_places = np.array([c for c in columns if c is not None])
    index = [place[:, None, None] for place in places]
    corners: Array = values[(*index, row_places[:, None], column_places)]
    corners = corners.reshape(-1, len(row_places), len(column_places))
    return corners.astype(np.float64)


def _ends(size: int, edge: int) -> _Shown:
    """The first and last positions of a dimension; all, where that leaves out one at most."""
    if size <= 2 * edge + 1:
        return range(size)
    return [*range(edge), None, *range(size - edge, size)]


def _vector(values: Array, dtype: np.dtype[np.float64] | None = None) -> tuple[str, int]:
    positions = _ends(len(values), _OF_VECTOR)
    shown = values[[p for p in positions if p is not None]]
    shown = shown if dtype is None else shown.astype(dtype)
    layout = find_layout(shown)
    texts = iter(number_texts(layout, shown))
    head = "" if layout.scale is None else f"{layout.scale:g} *\n"
    lines = [_gap(layout) if p is None else next(texts) for p in positions]
    return head + "".join(f"{line}\n" for line in lines), len(shown)


def _gap(layout: Layout) -> str:
    return _DOTS.rjust(layout.width or 1)


def _matrix(values: Array, layout: Layout, rows: _Shown, columns: _Shown, indent: str) -> str:
    texts = iter(number_texts(layout, values.reshape(-1)))
    scale = layout.scale
    margin = indent if scale is None else indent + " "
    lines = []
    for row in rows:
        cells = chain([_gap(layout)]) if row is None else texts
        line = [
            _DOTS if column is None else _gap(layout) if row is None else next(cells)
            for column in columns
        ]
        lines.append(margin + " ".join(line) + "\n")
    return ("" if scale is None else f"{indent}{scale:g} *\n") + "".join(lines)
