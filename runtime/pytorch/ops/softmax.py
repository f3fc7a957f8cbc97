"""Sums of exponentials, and what is divided by them.

PyTorch's documentation: torch, logsumexp; torch.nn.functional, softmax and log_softmax.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.quiet import quietly
from runtime.pytorch.base.shapes import listed, wrap_dim
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import IntsOrOne, Kind, Out
from runtime.pytorch.compute.elementwise import FLOATS, check_types
from runtime.pytorch.compute.promotion import to_float
from runtime.pytorch.compute.reducing import axes_of, give, tidy
from runtime.pytorch.ops.reduce import sum_of
from runtime.pytorch.tensors.tensor import Tensor
from runtime.pytorch.tensors.writing import cast, check_out

_FLOAT16 = np.dtype(np.float16)


@op()
def logsumexp(input: Tensor, dim: IntsOrOne, keepdim: bool = False, *, out: Out = None) -> Tensor:
    """The logarithms of the sums of the exponentials along dimensions."""
    if out is not None and not out.dtype.is_floating_point:
        raise RuntimeError(
            "logsumexp(): Expected floating point type for result tensor, but got: "
            f"{out.dtype.scalar}"
        )
    kind = to_float(input.dtype).numpy
    array = input.array
    axes = axes_of(dim, array.ndim)
    if dim == () and array.ndim and not keepdim:
        raise RuntimeError(
            "output with shape [] doesn't match the broadcast shape " + listed([1] * array.ndim)
        )
    return give(tidy(_log_of_sums(array.astype(kind, copy=False), axes, keepdim)), out)


def _log_of_sums(array: Array, axes: Any, keepdim: bool) -> Array:
    run = quietly.run
    largest = run(np.maximum.reduce, array, axes, None, None, True, -np.inf)
    largest = np.where(np.isinf(largest), array.dtype.type(0), largest)
    powers = run(np.exp, run(np.subtract, array, largest))
    found = run(np.log, sum_of(powers, axes, True)) + largest
    if keepdim:
        return np.asarray(found)
    return np.asarray(found).squeeze(tuple(range(array.ndim)) if axes is None else axes)


def _prepare(name: str, input: Tensor, dim: int, dtype: Kind, out: Out) -> tuple[Array, int, Any]:
    """The elements in the type that is computed in, an axis, and the result's type."""
    array = input.array
    axis = wrap_dim(dim, array.ndim)
    if dtype is not None:
        array = cast(array, dtype.numpy)
    if out is not None:
        check_out(out, dtype or input.dtype)
    where = "_lastdim" if axis == max(array.ndim, 1) - 1 else ""
    if not array.size:
        return array, 0, array.dtype
    check_types(f"{name}{where}_kernel_impl", FLOATS, array.dtype)
    kind = array.dtype
    if kind == _FLOAT16:
        array = array.astype(np.float32)
    return array if array.ndim else array.reshape(1), axis, kind


def _shifted(array: Array, axis: int) -> Array:
    """The elements less the largest along an axis, so that no exponential is too large."""
    run = quietly.run
    largest = run(np.maximum.reduce, array, axis, None, None, True, -np.inf)
    shifted: Array = run(np.subtract, array, largest)
    return shifted


def _finish(found: Array, input: Tensor, kind: Any, out: Out) -> Tensor:
    return give(found.reshape(input.array.shape).astype(kind, copy=False), out)


@op()
@op("special_softmax(Tensor input, int dim, torch.dtype dtype = None)")
def softmax(input: Tensor, dim: int, dtype: Kind = None, *, out: Out = None) -> Tensor:
    """The exponentials, divided by their sum along a dimension."""
    array, axis, kind = _prepare("softmax", input, dim, dtype, out)
    if not array.size:
        return give(array.copy(), out)
    run = quietly.run
    powers = _shifted(array, axis)
    run(np.exp, powers, powers)
    run(np.true_divide, powers, run(np.add.reduce, powers, axis, None, None, True), powers)
    return _finish(powers, input, kind, out)


@op()
@op("special_log_softmax(Tensor input, int dim, torch.dtype dtype = None)")
def log_softmax(input: Tensor, dim: int, dtype: Kind = None, *, out: Out = None) -> Tensor:
    """The logarithms of the softmax along a dimension."""
    array, axis, kind = _prepare("log_softmax", input, dim, dtype, out)
    if not array.size:
        return give(array.copy(), out)
    run = quietly.run
    shifted = _shifted(array, axis)
    sums = run(np.add.reduce, run(np.exp, shifted), axis, None, None, True)
    run(np.subtract, shifted, run(np.log, sums), shifted)
    return _finish(shifted, input, kind, out)
