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


def _softmax(name: str, input: Tensor, dim: int, dtype: Kind, out: Out) -> Tensor:
    """The exponentials divided by their sum, or the logarithms of that."""
    array = input.array
    axis = wrap_dim(dim, array.ndim)
    if dtype is not None:
        array = cast(array, dtype.numpy)
    check_out(out, dtype or input.dtype)
    if not array.size:
        return give(array.copy(), out)
    where = "_lastdim" if axis == max(array.ndim, 1) - 1 else ""
    check_types(f"{name}{where}_kernel_impl", FLOATS, array.dtype)
    wide = array.astype(np.float32) if array.dtype == np.float16 else array
    wide, run = wide if wide.ndim else wide.reshape(1), quietly.run
    # Less the largest, so that no exponential is too large.
    found = run(np.subtract, wide, run(np.maximum.reduce, wide, axis, None, None, True, -np.inf))
    powers = run(np.exp, found, found if name == "softmax" else None)
    sums = run(np.add.reduce, powers, axis, None, None, True)
    if name == "softmax":
        run(np.true_divide, powers, sums, found)
    else:
        run(np.subtract, found, run(np.log, sums), found)
    return give(found.reshape(array.shape).astype(array.dtype, copy=False), out)


@op()
@op("special_softmax(Tensor input, int dim, torch.dtype dtype = None)")
def softmax(input: Tensor, dim: int, dtype: Kind = None, *, out: Out = None) -> Tensor:
    """The exponentials, divided by their sum along a dimension."""
    return _softmax("softmax", input, dim, dtype, out)


@op()
@op("special_log_softmax(Tensor input, int dim, torch.dtype dtype = None)")
def log_softmax(input: Tensor, dim: int, dtype: Kind = None, *, out: Out = None) -> Tensor:
    """The logarithms of the softmax along a dimension."""
    return _softmax("log_softmax", input, dim, dtype, out)
