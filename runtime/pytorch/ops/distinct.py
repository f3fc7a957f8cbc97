"""The different elements of a tensor, and which elements are among others.

PyTorch's documentation: torch, unique, unique_consecutive, isin. A nan equals nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.c_types import type_name
from runtime.pytorch.base.dtypes import bool_
from runtime.pytorch.base.shapes import wrap_dim
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import OUT, Operand, Out
from runtime.pytorch.compute.promotion import array_as, result_type
from runtime.pytorch.compute.reducing import give, tidy, want_kernel
from runtime.pytorch.ops.order import order_along
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import check_out

#: The different elements, which of them each element is, and how many of each there are.
_Found = tuple[Array, Array, Array]


def _runs(differs: Array, order: Array | None) -> tuple[Array, Array, Array]:
    """Where runs of equal elements begin; the run of each element; and the lengths of the runs.

    differs: for all elements but the first whether they begin a run. order: the positions of these
    elements before they were sorted.
    """
    begins = np.empty(len(differs) + 1, np.bool_)
    begins[0] = True
    begins[1:] = differs
    first = np.flatnonzero(begins)
    inverse = np.empty(len(begins), np.int64)
    inverse[slice(None) if order is None else order] = np.cumsum(begins) - 1
    return first, inverse, np.diff(first, append=len(begins))


def _of_elements(flat: Array, sort: bool) -> _Found:
    if not flat.size:
        return flat.copy(), np.empty(0, np.int64), np.empty(0, np.int64)
    order = _order(flat) if sort else None
    row = flat if order is None else flat[order]
    first, inverse, counts = _runs(row[1:] != row[:-1], order)
    return row[first], inverse, counts


def _order(flat: Array) -> Array:
    """The order of elements; PyTorch's own where some that are equal look different."""
    if flat.dtype.kind == "f" and (np.isnan(flat).any() or np.signbit(flat[flat == 0]).any()):
        return order_along(flat, 0, False)
    return flat.argsort(kind="stable")


def _of_slices(array: Array, axis: int, sort: bool) -> _Found:
    """The same of the slices of a dimension, which are compared element by element."""
    n = array.shape[axis]
    if not n:
        return array.copy(), np.empty(0, np.int64), np.empty(0, np.int64)
    rows = np.ascontiguousarray(np.moveaxis(array, axis, 0)).reshape(n, -1)
    order = np.lexsort(rows.T[::-1]) if sort and rows.shape[1] else None
    ordered = rows if order is None else rows[order]
    first, inverse, counts = _runs((ordered[1:] != ordered[:-1]).any(1), order)
    values = ordered[first].reshape(-1, *np.delete(array.shape, axis))
    return np.moveaxis(values, 0, axis), inverse, counts


def _axis(array: Array, dim: int) -> int:
    axis = wrap_dim(dim, array.ndim, takes_scalar=False)
    if 0 in array.shape and array.shape[axis]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return axis


def _result(input: Tensor, dim: int | None, sort: bool, inverse: bool, counts: bool) -> Any:
    array = input.array
    if dim is not None:
        found = _of_slices(array, _axis(array, dim), sort)
    elif sort and not inverse and not counts:
        return wrap(_values_alone(array))
    else:
        values, at, count = _of_elements(array.reshape(-1), sort)
        found = values, at.reshape(array.shape), count
    wanted = [
        part for part, is_wanted in zip(found, (True, inverse, counts), strict=True) if is_wanted
    ]
    return wrap(wanted[0]) if len(wanted) == 1 else tuple([wrap(part) for part in wanted])


def _values_alone(array: Array) -> Array:
    row = array.reshape(-1)
    row = np.sort(row) if row.dtype.kind != "f" else row[_order(row)]
    if not row.size:
        return row
    begins = np.empty(row.size, np.bool_)
    begins[0] = True
    np.not_equal(row[1:], row[:-1], out=begins[1:])
    return row[begins]


def _want(function: str, name: str, value: Any, kind: type) -> None:
    """Raise TypeError, as the function that PyTorch's own in Python calls."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        place = {"input": " (position 1)", "dim": " (position 2)"}.get(name, "")
        wanted = f"must be {kind.__name__}, not {type_name(value)}"
        raise TypeError(f"{function}(): argument '{name}'{place} {wanted}")


@op(method=True)
def unique(
    input: Any,
    sorted: Any = True,
    return_inverse: Any = False,
    return_counts: Any = False,
    dim: Any = None,
) -> Any:
    """The different elements in order, or the different slices of a dimension.

    return_inverse: also which of them each element is. return_counts: also how many there are.
    """
    function = "_unique2" if dim is None else "unique_dim"
    _want(function, "input", input, Tensor)
    if dim is not None:
        _want(function, "dim", dim, int)
    for name, value in (
        ("sorted", sorted),
        ("return_inverse", return_inverse),
        ("return_counts", return_counts),
    ):
        _want(function, name, value, bool)
    return _result(input, dim, True, return_inverse, return_counts)


@op()
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements, or slices of a dimension, that differ from the one before them."""
    return _result(input, dim, False, return_inverse, return_counts)


# -- membership


_OPTIONS = f"*, bool assume_unique = False, bool invert = False, {OUT}"


@op(f"isin(Tensor elements, Number test_element, {_OPTIONS})", method=False)
@op(f"isin(Number element, Tensor test_elements, {_OPTIONS})", method=False)
@op(method=False)
def isin(
    elements: Operand,
    test_elements: Operand,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Out = None,
) -> Tensor:
    """Whether each element is among others; invert: whether it is not."""
    kind = result_type(elements, test_elements)
    for operand in (elements, test_elements):
        if isinstance(operand, Tensor) and operand.dtype is bool_:
            raise NotImplementedError("Unsupported input type encountered for isin(): Bool")
    check_out(out, bool_)
    a, b = (np.asarray(array_as(x, kind)) for x in (elements, test_elements))
    want_kernel("isin_default_cpu", a)
    found = np.isin(a, b)
    return give(tidy(~found if invert else found), out)
