"""Functions computed element by element: types, broadcasting, destinations, and the quick way.

`Pointwise` describes a function; calling it computes. Where few operands have one type in which
numpy computes, that is a single call of numpy; all else goes through `general`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import DTYPES, NUMPY_DTYPES, Category, bool_, dtype
from th_shell.torch.base.quiet import calmly, quietly, run_first
from th_shell.torch.base.shapes import Shape, broadcast
from th_shell.torch.base.warn import warn_of_broadcast
from th_shell.torch.compute.formulas import dividing
from th_shell.torch.compute.promotion import number_as, result_type
from th_shell.torch.tensors.large_arrays import compute_into, compute_shared
from th_shell.torch.tensors.layouts import canonical, check_apart
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import (
    cast,
    check_cast,
    check_shape,
    check_single,
    resize,
    resize_to,
)


def _numbers_of(*categories: Category) -> frozenset[int]:
    """Return numpy's numbers of some categories' types."""
    return frozenset(n.num for n, t in NUMPY_DTYPES.items() if t.category in categories)


#: Types on which a ufunc computes as PyTorch does, by numpy's numbers for them.
FLOATS = _numbers_of(Category.FLOAT)
WHOLE = _numbers_of(Category.INTEGER)
NUMBERS = FLOATS | WHOLE
ALL = _numbers_of(*Category)
_HALF = np.dtype(np.float16).num
_BOOL = np.dtype(np.bool_).num
BITWISE = ALL - FLOATS
_UFUNC = np.ufunc


def same_type(kind: dtype) -> dtype:
    """Return the type itself: the rule of functions whose values have the operands' type."""
    return kind


def check_types(kernel: str, takes: frozenset[int], kind: np.dtype[Any]) -> None:
    """Raise NotImplementedError where a function is not defined for a type."""
    if kernel and kind.num not in takes:
        name = NUMPY_DTYPES[kind].scalar
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'")


@dataclass(eq=False, slots=True)
class Pointwise:
    """A function of elements.

    Elements of 16 bits are computed in 32, but for those of a single ufunc, which does so itself.
    """

    #: numpy's ufunc, or a function of arrays of one type.
    compute: Callable[..., Any]
    #: The types of operands, by numpy's numbers, for which `compute` gives the right values in the
    #: right type.
    direct: frozenset[int] = ALL
    #: Gives the type that is computed in for the common type of the operands.
    rule: Callable[[dtype], dtype] = same_type
    #: The type of the values, where it is another one than that which is computed in.
    result: dtype | None = None
    #: Raises an error for operands that the function does not take.
    check: Callable[..., None] | None = None
    #: The function's name in the error for types that are not among `takes`; '' where it takes all.
    kernel: str = ""
    #: The types that the function takes, by numpy's numbers; by default those of `direct`.
    takes: frozenset[int] = frozenset()
    #: Computes whole numbers and bools instead of `compute`.
    whole: Callable[..., Any] | None = None
    #: Computes whole numbers and bools instead of `compute` where one call of numpy is enough.
    quick_whole: np.ufunc | None = None
    #: A whole number divided by 0 is an error; `whole` is made to raise it.
    divides: bool = False
    #: Computes many elements where `compute` has several steps; its values have the same type.
    many: np.ufunc | None = None
    #: The functions for few elements, by the type of the operands.
    _ways: dict[Any, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.takes = self.takes or self.direct
        if self.divides:
            self.whole = dividing(self.quick_whole or self.compute)

    def __call__(self, a: Any, b: Any = None, out: Tensor | None = None) -> Tensor:
        """Return the values for one operand or two, in ``out`` if it is given.

        Operands are tensors, or numbers of Python's. Raises RuntimeError for shapes that cannot be
        broadcast.
        """
        try:
            if a.__class__ is Tensor:
                values = self._quick(a, b, out)
            else:
                values = self._of_number(a, b) if out is None else None
        except (TypeError, ValueError, OverflowError, RuntimeError):
            values = None  # the general way does it, or has an error in PyTorch's words
        if values is not None:
            return values
        return self.general((a,) if b is None else (a, b), out)

    def _way(self, kind: np.dtype[Any]) -> Any:
        """Return the function for few elements of a type.

        None where `general` has to compute them.
        """
        compute: Any = (kind.kind != "f" and self.quick_whole) or self.compute
        keeps = compute.__class__ is _UFUNC or kind.num != _HALF
        if not keeps or kind.num not in self.direct:
            return None
        self._ways[kind] = compute
        return compute

    def _quick(self, a: Tensor, b: Any, out: Tensor | None) -> Tensor | None:
        """Return the values that one call of numpy computes of few elements.

        None where it cannot.
        """
        x = a._array if a._storage is None else a.array
        kind: Any = x.dtype
        compute = self._ways.get(kind) or self._way(kind)
        if compute is None or x.size >= LARGE:
            return None
        y: Any = None
        is_ufunc = compute.__class__ is _UFUNC
        if b.__class__ is Tensor:
            y = b._array if b._storage is None else b.array
            if y.dtype is not kind or (self.divides and kind.kind != "f"):
                return None
            if y.size >= LARGE:
                return None
            # Without a ufunc, shapes are to be checked before divisors.
            one_shape = out is not None or warn_of_broadcast.enabled or not is_ufunc
            if one_shape and y.shape != x.shape:
                return None
        elif b is not None:
            y = _quick_number(kind, b, is_ufunc)
            if y is None or (self.divides and not y and kind.kind != "f"):
                return None
        z = None if out is None else self._quick_target(out, a, b, x)
        if z is NotImplemented:
            return None
        if z is not None and is_ufunc:
            run_first(compute, x, out=z) if y is None else run_first(compute, x, y, out=z)
            return out
        values = run_first(compute, x) if y is None else run_first(compute, x, y)
        is_sure = is_ufunc or self.result is not None or self.many is not None
        if not is_sure and values.dtype is not kind:
            return None
        if z is not None:
            z[...] = values  # takes a third of the time of np.copyto
            return out
        return wrap(canonical(values) if values.ndim > 1 else values)

    def _quick_target(self, out: Tensor, a: Tensor, b: Any, x: Array) -> Any:
        """Return the array of `out=`, or of the operand in place; NotImplemented for `general`.

        x: the array of the operand a. The array has the values' type, shape and order in memory.
        """
        z = out._array if out._storage is None else out.array
        if z.shape != x.shape or z.dtype is not (self.result.numpy if self.result else x.dtype):
            return NotImplemented
        if not z.flags.forc or _is_part(out, b) or _is_part(out, a):
            return NotImplemented
        return z

    def _of_number(self, a: Any, b: Any) -> Tensor | None:
        """Return the values of a number and few elements, where one call of numpy computes them."""
        if b.__class__ is not Tensor:
            return None
        y = b._array if b._storage is None else b.array
        kind = y.dtype
        compute = self._ways.get(kind) or self._way(kind)
        if compute.__class__ is not _UFUNC or y.size >= LARGE or self.divides:
            return None
        x = _quick_number(kind, a, True)
        if x is None:
            return None
        values = run_first(compute, x, y)
        return wrap(canonical(values) if values.ndim > 1 else values)

    def general(self, operands: tuple[Any, ...], out: Tensor | None = None) -> Tensor:
        """Return the values for any number of operands, of any types."""
        if self.check is not None:
            self.check(*operands)
        # Asked once: another thread may give a tensor other memory meanwhile.
        arrays = [x.array if isinstance(x, Tensor) else _NUMBER for x in operands]
        in_place = operands[0] is out
        if out is not None:
            check_single(arrays[0] if in_place else out.array)
            check_apart(out, operands)
        shape = _shape_of(arrays)
        if in_place:
            check_shape(arrays[0], shape)
        kind = self.rule(result_type(*operands))
        result = self.result or kind
        if out is not None:
            check_cast(result, out.dtype)
        check_types(self.kernel, self.takes, kind.numpy)
        if out is None:
            return self._values(operands, arrays, kind, shape)
        target = arrays[0] if in_place else out.array
        is_new = target.shape != shape
        if is_new:
            resize_to(out, shape)
        elif self._compute_into(target, operands, arrays, kind):
            return out
        values = self._values(operands, arrays, kind, shape)
        if is_new:
            resize(out, shape, values.strides)
            target = out.array
        np.copyto(target, cast(values.array, target.dtype))
        return out

    def _compute_into(
        self, out: Array, operands: tuple[Any, ...], arrays: list[Array], kind: dtype
    ) -> bool:
        """Write values of many elements to an array, which may be an operand's.

        Tell whether that was possible.
        """
        is_same = out.dtype is kind.numpy and self.result in (None, kind)
        may_fail = self.divides and kind.category is not Category.FLOAT
        if out.size < LARGE or not is_same or may_fail or self._width(kind) is not kind:
            return False
        inputs = _as_type(operands, arrays, kind)
        if any(x is not out and np.may_share_memory(x, out) for x in inputs):
            return False
        compute_into(self._for_type(kind, many=True), inputs, out)
        return True

    def _values(
        self, operands: tuple[Any, ...], arrays: list[Array], kind: dtype, shape: Shape
    ) -> Tensor:
        result = self.result or kind
        width = self._width(kind)
        inputs = _as_type(operands, arrays, width)
        if width is kind and (result is kind or result is bool_) and _is_shared(inputs, shape):
            compute = self._for_type(kind, many=True)
            return compute_shared(compute, inputs, shape, result.numpy)
        compute = self._for_type(kind)
        values = (quietly.run if compute.__class__ is _UFUNC else calmly)(compute, *inputs)
        if values.dtype != result.numpy:
            values = quietly.run(values.astype, result.numpy)
        return wrap(canonical(values) if values.ndim > 1 else values)

    def _for_type(self, kind: dtype, many: bool = False) -> Any:
        """Return the function for elements of a type. many: it computes them in pieces."""
        is_whole = self.whole is not None and kind.category is not Category.FLOAT
        if many and self.many is not None and not is_whole:
            return self.many
        return self.whole if is_whole else self.compute

    def _width(self, kind: dtype) -> dtype:
        """Return the type of the arrays that are computed with."""
        return _FLOAT if kind.numpy.num == _HALF and self.compute.__class__ is not _UFUNC else kind


def called(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a function to call for values: of `Pointwise` its method, which is quicker."""
    return function.__call__ if isinstance(function, Pointwise) else function


def _is_shared(arrays: list[Any], shape: Shape) -> bool:
    """Tell whether there are many elements, and the values lie in memory as in their order."""
    if prod(shape) < LARGE:
        return False
    whole = [x for x in arrays if x.shape == shape]
    return bool(whole) and all(x.flags.c_contiguous for x in whole)


_FLOAT = next(t for t in DTYPES if t.name == "float32")


#: Stands for a number where layouts are looked at.
_NUMBER = np.empty(())


def _quick_number(kind: Any, number: Any, is_ufunc: bool) -> Any:
    """Return a number as one of a type's; None where the type changes, or it is not surely exact.

    Of floats a ufunc does that itself. Raises OverflowError for a number that the type lacks.
    """
    if kind.kind == "f":
        if kind.num == _HALF or number.__class__ is bool:
            return None
        if number.__class__ is int and number.bit_length() > 63:
            return None
        plain = is_ufunc and number.__class__ is float
        return number if plain else quietly.run(kind.type, number)
    return kind.type(number) if number.__class__ is int and kind.num != _BOOL else None


def _is_part(out: Tensor, b: Any) -> bool:
    """Tell whether b is another tensor of out's storage, with which it may share elements."""
    return (
        b.__class__ is Tensor
        and b is not out
        and b._storage is not None
        and b._storage is out._storage
    )


def _as_type(operands: tuple[Any, ...], arrays: list[Array], kind: dtype) -> list[Any]:
    """Return the operands' arrays, or numpy's numbers, of a type."""
    return [
        cast(array, kind.numpy) if isinstance(x, Tensor) else number_as(x, kind.numpy)
        for x, array in zip(operands, arrays, strict=True)
    ]


def _shape_of(arrays: list[Array]) -> Shape:
    shapes: list[Shape] = [x.shape for x in arrays]
    if warn_of_broadcast.enabled and len(shapes) == 2:
        warn_of_broadcast(*shapes)
    return reduce(broadcast, shapes)
