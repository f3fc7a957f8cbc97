"""The largest and the smallest elements, and whether any or all elements are true.

PyTorch's documentation: torch, Reduction Ops. Where elements are equal the index of the first one
is given, and a nan is above and below all numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.torch.base.dtypes import bool_, uint8
from th_shell.torch.base.quiet import quietly
from th_shell.torch.calls.schema import OUT, OUTS, IntsOrOne, Out
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import ALL, Pointwise, check_types
from th_shell.torch.compute.reductions import (
    along,
    axes_of,
    check_not_empty,
    give,
    pair,
    take_at,
    tidy,
)
from th_shell.torch.tensors.tensor import Tensor, wrap


def _register_extreme(name: str, ufunc: np.ufunc, find: Any, what: str) -> None:
    both = Pointwise(ufunc)
    reduce = ufunc.reduce

    @op(name=name, more=OUT)
    def of_all(input: Tensor) -> Tensor:
        array = input.array
        if not array.size:
            check_not_empty(name, array, None, RuntimeError)
        check_types(f"{name}_all", ALL, array.dtype)
        return wrap(quietly.run(reduce, array, None))

    @op(name=name)
    def of_two(input: Tensor, other: Tensor, *, out: Out = None) -> Tensor:
        return both(input, other, out)

    @op(name=name, more=OUTS)
    def along_dim(input: Tensor, dim: int, keepdim: bool = False) -> Any:
        array, axis = along(input.array, dim)
        if not array.shape[axis]:
            check_not_empty(name, array, (axis,), IndexError)
        check_types(f"{name}_cpu", ALL, array.dtype)
        at = find(array, axis, keepdims=True)
        elements = take_at(array, at, axis)
        if not (keepdim and input.array.ndim):
            elements, at = elements.squeeze(axis), at.squeeze(axis)
            if array.flags.c_contiguous:
                return pair(name, elements, at)
        return pair(name, tidy(elements), tidy(at))

    for function in (of_all, of_two, along_dim):
        function.__doc__ = what


def _register_values(name: str, ufunc: np.ufunc, what: str) -> None:
    @op(name=f"a{name}", more=OUT)
    def values(input: Tensor, dim: IntsOrOne | None = (), keepdim: bool = False) -> Tensor:
        array = input.array
        axes = axes_of(dim, array.ndim)
        if not array.size:
            dims = (dim,) if isinstance(dim, int) else dim  # which PyTorch shows as they are
            check_not_empty(f"a{name}", array, axes and dims, RuntimeError)
        check_types(f"{name}_values_cpu", ALL, array.dtype)
        return wrap(tidy(quietly.run(ufunc.reduce, array, axes, None, None, keepdim)))

    values.__doc__ = what


def _register_position(name: str, find: Any, what: str) -> None:
    @op(name=f"arg{name}", more=OUT)
    def position(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        array = input.array
        axis = None if dim is None else along(array, dim)[1]
        if not array.size:
            axes = None if axis is None else (axis,)
            check_not_empty(f"arg{name}", array, axes, IndexError)
        if input.dtype is bool_:
            raise NotImplementedError(f"arg{name}(): does not support bool input")
        check_types(f"arg{name}_cpu", ALL, array.dtype)
        if axis is None or not array.ndim:
            at = np.asarray(find(array))
            return wrap(at.reshape((1,) * array.ndim) if keepdim else at)
        return wrap(tidy(find(array, axis, keepdims=keepdim)))

    position.__doc__ = what


for _name, _ufunc, _find, _which in (
    ("max", np.maximum, np.ndarray.argmax, "largest"),
    ("min", np.minimum, np.ndarray.argmin, "smallest"),
):
    _what = f"The {_which} elements, or where they are."
    _register_extreme(_name, _ufunc, _find, _what)
    _register_values(_name, _ufunc, _what)
    _register_position(_name, _find, _what)


# -- truth


def _register_truth(name: str, ufunc: np.ufunc) -> None:
    reduce = ufunc.reduce

    options = f"bool keepdim = False, *, {OUT})"

    @op(
        f"{name}(Tensor input, *, {OUT})",
        f"{name}(Tensor input, tuple of ints dim = None, {options}",
        f"{name}(Tensor input, int dim, {options}",
    )
    def truth(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Out = None) -> Tensor:
        axes = axes_of(dim, input.array.ndim) if dim != () else ()
        if out is not None and out.dtype not in (bool_, uint8):
            raise RuntimeError(
                f"{name} only supports bool tensor for result, got: {out.dtype.scalar}"
            )
        result = tidy(quietly.run(reduce, input.array, axes, np.bool_, None, keepdim))
        if out is not None:
            return give(result if out.dtype is bool_ else result.view(np.uint8), out)
        return wrap(result.view(np.uint8) if input.array.dtype == np.uint8 else result)

    truth.__doc__ = f"Whether {name} of the elements are other than 0."


_register_truth("all", np.logical_and)
_register_truth("any", np.logical_or)
