"""Elements and parts in brackets, ``x[...]`` read and written; len, iteration, ``in``.

PyTorch's documentation: torch.Tensor; Tensor Indexing API.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import Category
from th_shell.torch.base.missing import type_name
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import check_long, listed
from th_shell.torch.compute.indices import (
    Chosen,
    as_indices,
    broadcast_shape,
    check_bounds,
    indexed_shape,
    parse,
)
from th_shell.torch.ops.creation import fill_number
from th_shell.torch.ops.reordering import flip
from th_shell.torch.ops.slicing import unbind
from th_shell.torch.ops.views import expanded
from th_shell.torch.tensors.layouts import canonical, check_apart
from th_shell.torch.tensors.tensor import Tensor, view_of, wrap
from th_shell.torch.tensors.writing import cast, check_single


def _simple(index: Any) -> Any:
    """Return the index as numpy takes it for a view; None where it is no such index."""
    if index.__class__ is tuple:
        tail: tuple[Any, ...] = (Ellipsis,)
        for item in index:
            kind = item.__class__
            if kind is slice:
                if item.step is not None:
                    return None
            elif item is Ellipsis and tail:
                tail = ()
            elif kind is not int and item is not None:
                return None
        return index + tail
    if index.__class__ is int or index is None:
        return index, Ellipsis
    return index if index.__class__ is slice and index.step is None else None


def _getitem(self: Tensor, index: Any) -> Tensor:
    if index.__class__ is Tensor and (rows := _rows(self.array, index.array)) is not None:
        return wrap(rows)
    if index is None and (array := self.array).flags.c_contiguous and 0 not in array.strides:
        return view_of(self, array.reshape(1, *array.shape))
    simple = _simple(index)
    if simple is not None:
        try:
            part = self.array[simple]
        except (IndexError, TypeError, OverflowError):
            part = None  # the general way has the error, in PyTorch's words
        if part is not None and part.size:  # numpy does not keep the strides of empty parts
            if 0 not in part.strides:
                return view_of(self, part)
            array = self.array
            is_whole = part.flags.c_contiguous and part.size == array.size
            # Each dimension of one position is new: numpy gives these a stride of 0.
            is_new = 0 not in array.strides and part.shape.count(1) == part.strides.count(0)
            if is_whole and is_new:
                return view_of(self, canonical(part))
    view, chosen = parse(self, index)
    return wrap(chosen_elements(view.array, as_indices(chosen))) if chosen else view


def _rows(array: Array, positions: Array) -> Array | None:
    """Return a copy of the rows at some positions; None where the general way must look at them."""
    is_list = positions.ndim == 1 and positions.dtype.char == "l" and positions.size
    if not is_list or not array.ndim or not array.size or not array.flags.c_contiguous:
        return None
    try:
        return canonical(array.take(positions, 0))
    except IndexError:
        return None  # the general way has the error, in PyTorch's words


def chosen_elements(array: Array, indices: Chosen) -> Array:
    """Return a copy of the elements that arrays of indices choose. Raises IndexError."""
    shape = indexed_shape(array.shape, indices)
    if not array.size and 0 not in broadcast_shape(indices):
        if any(array.shape[dim] == 0 for dim in indices):
            raise IndexError("index is out of bounds for dimension with size 0")
    if 0 in shape:
        return np.empty(shape, array.dtype)
    try:
        return canonical(array[_key(array.ndim, indices)])
    except IndexError as error:
        failure = error
    check_bounds(array.shape, indices)  # has the error in PyTorch's words, and in no other one's
    raise failure


def _key(ndim: int, indices: Chosen) -> tuple[Any, ...]:
    return tuple([indices.get(dim, slice(None)) for dim in range(ndim)])


# -- assignment


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    if value.__class__ is not Tensor and not isinstance(value, (int, float, complex, np.integer)):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"can't assign a {type_name(value)} to a torch.{self.dtype.scalar}Tensor"
            )
    if _quick_assignment(self, index, value):
        return
    if index is not False:
        view, chosen = parse(self, None if index is True else index)
        if chosen:
            _put_chosen(view, chosen, value)
        else:
            assign(view, value)


def _quick_assignment(self: Tensor, index: Any, value: Any) -> bool:
    """Assign a number where numpy's index means the same; return whether that was so."""
    if value.__class__ is Tensor:
        return False
    array = self.array
    simple = _simple(index)
    try:
        if simple is not None:
            if not fits(value, array):
                value = _element(value, self, array[simple].size)
            array[simple] = value
            return True
    except (IndexError, TypeError, OverflowError):
        pass  # the general way has the error, in PyTorch's words
    return False


def fits(value: Any, array: Array) -> bool:
    """Tell whether it is seen at once that a number is one of the array's type."""
    kind = array.dtype.kind
    if value.__class__ is int:
        return 0 <= value < 128 and kind != "b"
    return value.__class__ is float and kind == "f" and -60000 < value < 60000


def _element(value: Any, target: Tensor, count: int = 0) -> Any:
    """Return a number as an element of a tensor; count: how many it becomes."""
    kind = target.dtype
    if isinstance(value, complex) and kind.category is not Category.BOOL:
        require(not value.imag, "value cannot be converted to type {.real} without overflow", kind)
        value = value.real
    if isinstance(value, int):
        check_long(value)
    if count == 1 and kind.is_floating_point:  # PyTorch writes a single one without looking
        with np.errstate(over="ignore"):
            return kind.numpy.type(float(value))
    return fill_number(value, kind)


def assign(target: Tensor, value: Any) -> None:
    """Set all elements of a view to a number, or to those of a tensor, broadcast."""
    array = target.array
    if not isinstance(value, Tensor):
        array[...] = _element(value, target, array.size)
        return
    if value.array.ndim and value.array.shape != array.shape:
        value = expanded(without_ones(value), array.shape)
    check_single(array)
    check_apart(target, (value,))
    np.copyto(array, cast(value.array, array.dtype))


def fill_value(value: Tensor, name: str) -> Any:
    """Return the number of a tensor without dimensions. Raises RuntimeError for another tensor."""
    if value.array.ndim:
        raise RuntimeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.array.ndim} dimension(s)."
        )
    return value.array.item()


def without_ones(value: Tensor) -> Tensor:
    """Return a view without the first dimensions, as far as their sizes are 1."""
    array = value.array
    count = next((dim for dim, size in enumerate(array.shape) if size != 1), array.ndim)
    return view_of(value, array[(0,) * count + (...,)]) if count else value


def _put_chosen(view: Tensor, chosen: Chosen, value: Any) -> None:
    array = view.array
    if not isinstance(value, Tensor):
        value = wrap(np.asarray(_element(value, view)))
    if len(chosen) == 1 and value.array.size == 1:
        (mask,) = chosen.values()
        if mask.dtype == np.uint8:
            raise RuntimeError(
                "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
            )
        if mask.dtype.kind == "b":  # PyTorch fills then, whatever the value's type
            value = wrap(cast(value.array.reshape(()), array.dtype))
    _put(view, as_indices(chosen), without_ones(value))


def _put(target: Tensor, indices: Chosen, value: Tensor) -> None:
    """Set the elements that arrays of indices choose.

    Raises IndexError and RuntimeError, before anything is written.
    """
    array, values = target.array, value.array
    shape = indexed_shape(array.shape, indices)
    if values.ndim > len(shape) or any(
        n not in (1, m) for n, m in zip(values.shape[::-1], shape[::-1], strict=False)
    ):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {listed(values.shape)} cannot be broadcast to "
            f"indexing result of shape {listed(shape)}"
        )
    if values.dtype != array.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got "
            f"{target.dtype.scalar} for the destination and {value.dtype.scalar} for the source."
        )
    if not array.size and 0 not in shape:
        raise IndexError("index is out of bounds for dimension with size 0")
    if 0 in shape:
        return
    check_bounds(array.shape, indices)
    array[_key(array.ndim, indices)] = values


# -- what Python asks of a sequence


def _length(self: Tensor) -> int:
    shape = self.sizes
    require(shape, "len() of a 0-d tensor", error=TypeError)
    return shape[0]


def _iterate(self: Tensor) -> Iterator[Tensor]:
    require(self.array.ndim, "iteration over a 0-d tensor", error=TypeError)
    return iter(unbind(self))


def _contains(self: Tensor, element: Any) -> bool:
    wrong = "Tensor.__contains__ only supports Tensor or scalar, but you passed in a {}."
    is_operand = isinstance(element, (Tensor, int, float, complex, np.number))
    require(is_operand, wrong, type(element))
    is_equal: Any = operator.eq(self, element)
    return bool(is_equal.array.any())


def _delitem(self: Tensor, index: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


for _name, _method in (
    ("__getitem__", _getitem),
    ("__setitem__", _setitem),
    ("__delitem__", _delitem),
    ("__len__", _length),
    ("__iter__", _iterate),
    ("__reversed__", lambda self: flip(self, (0,)) if self.array.ndim else self),
    ("__contains__", _contains),
):
    setattr(Tensor, _name, _method)
