"""Functions computed element by element: types, broadcasting, destinations, and the quick ways.

`Pointwise` describes a function; calling it computes. Where the operands have one type and numpy's
ufunc computes in it, that is a single call of numpy; all else goes through `_general`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.compat import warn_of_broadcast
from runtime.pytorch.dtypes import bool_, dtype
from runtime.pytorch.promotion import array_as, result_type, to_float
from runtime.pytorch.quiet import quietly
from runtime.pytorch.shapes import Shape, broadcast
from runtime.pytorch.sharing import SHARED, compute_into, compute_shared
from runtime.pytorch.tensor import Tensor, wrap
from runtime.pytorch.writing import check_cast, check_target, resize_to

__all__ = ["ALL", "FLOATS", "NUMBERS", "Pointwise", "comparison", "same_type", "to_float"]

#: Kinds of numpy's types on which a ufunc computes as PyTorch does.
ALL, NUMBERS, FLOATS = frozenset("biuf"), frozenset("iuf"), frozenset("f")


def same_type(kind: dtype) -> dtype:
    """The rule of functions whose values have the operands' type."""
    return kind


@dataclass(frozen=True, eq=False)
class Pointwise:
    """A function of elements.

    compute: numpy's ufunc, or a function of arrays of one type. direct: the kinds of types for
    which compute, given elements of one type, has the right values in the right type. rule: the
    type that is computed in, by that in which the operands meet. result: the type of the values,
    where it is another one. check: raises an error for types that the function does not take.
    """

    compute: Callable[..., Any]
    direct: frozenset[str] = ALL
    rule: Callable[[dtype], dtype] = same_type
    result: dtype | None = None
    check: Callable[..., None] | None = None

    def __call__(self, a: Any, b: Any = None, out: Tensor | None = None) -> Any:
        """The values for one operand or two; those of ``out``, which is returned, if it is given.

        Operands are tensors, or numbers of Python's. Raises RuntimeError for shapes that cannot be
        broadcast.
        """
        if a.__class__ is Tensor and (out is None or out is a):
            x = a.array
            kind = x.dtype
            if kind.kind in self.direct and x.size < SHARED:
                try:
                    found = self._quick(x, kind, b, out)
                except (TypeError, ValueError, OverflowError):
                    found = None  # the general way does it, or has an error in PyTorch's words
                if found is not None:
                    return found
        operands = (a,) if b is None else (a, b)
        return self.general(operands, out)

    def _quick(self, x: Array, kind: Any, b: Any, out: Tensor | None) -> Tensor | None:
        """The values where one call of numpy computes them; None where it would not."""
        compute = self.compute
        if compute.__class__ is not np.ufunc:
            return None
        if b is None:
            inputs: tuple[Any, ...] = (x,)
        elif b.__class__ is Tensor:
            y = b.array
            if y.dtype is not kind or (y.shape != x.shape and (out or warn_of_broadcast.enabled)):
                return None
            inputs = x, y
        elif kind.kind == "f" or b.__class__ is int:
            inputs = x, kind.type(b)
        else:
            return None
        if out is None:
            return wrap(quietly.run(compute, *inputs))
        if self.result is not None or not x.flags.forc or _shares_storage(out, b):
            return None
        quietly.run(compute, *inputs, x)
        return out

    def general(self, operands: tuple[Any, ...], out: Tensor | None = None) -> Tensor:
        """The values for any number of operands, of any types."""
        meet = result_type(*operands)
        if self.check is not None:
            self.check(*operands)
        kind = self.rule(meet)
        result = self.result or kind
        shape = _shape_of(operands)
        if out is not None:
            check_cast(result, out.dtype)
        arrays = [array_as(x, kind) for x in operands]
        if out is None:
            return self._computed(arrays, shape, result)
        target: Tensor = out
        is_first = operands[0] is target
        if is_first:
            check_target(target.array, shape)
            if result is target.dtype and not _shares_memory(target.array, arrays[1:]):
                compute_into(self.compute, arrays, target.array)
                return target
        values = self._computed(arrays, shape, result).array
        if not is_first:
            resize_to(target, shape)
            check_target(target.array, shape)
        np.copyto(target.array, values, casting="unsafe")
        return target

    def _computed(self, arrays: list[Any], shape: Shape, result: dtype) -> Tensor:
        """A new tensor of the values for arrays, or numpy's numbers, of one type."""
        compute: Any = self.compute
        if max(np.size(x) for x in arrays) >= SHARED:
            return compute_shared(compute, arrays, shape, result.numpy)
        if compute.__class__ is np.ufunc:
            return wrap(quietly.run(compute, *arrays))
        with np.errstate(all="ignore"):
            return wrap(compute(*arrays))


def _shares_memory(out: Array, others: list[Any]) -> bool:
    """Whether other operands may be views of a destination's memory."""
    return any(x is not out and np.may_share_memory(x, out) for x in others)


def comparison(compute: np.ufunc) -> Pointwise:
    """A function of two elements that is true or false."""
    return Pointwise(compute, result=bool_)


def _shares_storage(out: Tensor, b: Any) -> bool:
    # That of other tensors than itself: their elements may be others of the same memory.
    return b.__class__ is Tensor and b is not out and b._storage is not None


def _shape_of(operands: tuple[Any, ...]) -> Shape:
    shapes = [x.sizes if isinstance(x, Tensor) else () for x in operands]
    if warn_of_broadcast.enabled and len(shapes) == 2:
        warn_of_broadcast(*shapes)
    return reduce(broadcast, shapes)
