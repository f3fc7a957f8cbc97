"""The mathematical operations of HalfTensor.

Torch7: HalfTensor has only these, and only as methods; otherwise it is for storing and copying.
"""

from __future__ import annotations

import numpy as np

from runtime.calls.arguments import Call
from runtime.calls.table import checked, op
from runtime.core.dtypes import HALF, Array
from runtime.core.errors import ArgError
from runtime.core.tensor import Tensor
from runtime.ops._operands import compute_each, store
from runtime.ops.reduce import check_dim

_HALF = (HALF,)


@op("fill", "*T* real", types=_HALF)
def fill(r: Tensor, value: float) -> None:
    """Set every element to a number."""
    r.array.fill(value)


@op("add", "*T* [T=1] real", types=_HALF)
def add(r: Tensor, t: Tensor, value: float) -> None:
    """r = t + value."""
    compute_each(r, np.add, t, value)


@op("add", "*T* [T=1] real T", types=_HALF)
def cadd(r: Tensor, t: Tensor, value: float, src: Tensor) -> None:
    """r = t + value * src."""

    def compute(x: Array, y: Array, out: Array) -> None:
        out[...] = x + y.astype(np.float32) * np.float32(value)

    compute_each(r, compute, t, src)


@checked("operator_sub", method="T T", types=_HALF)
def operator_sub(call: Call) -> Tensor:
    """a - b."""
    a, b = call.tensor(1), call.tensor(2)
    result = type(a)()
    cadd(result, a, -1, b)
    return result


@op("abs", "*T* [T=1]", types=_HALF)
def absolute(r: Tensor, t: Tensor) -> None:
    """r = abs(t), element by element."""
    compute_each(r, np.absolute, t)


@op("max", "T", types=_HALF)
def max_all(t: Tensor) -> float:
    """The maximum of all elements."""
    if not t.sizes:
        raise ArgError(1, "tensor must have one dimension")
    return float(t.array.max())


@op("mean", "T", types=_HALF)
def mean_all(t: Tensor) -> float:
    """The mean of all elements."""
    if not t.sizes:
        raise ArgError(1, "empty Tensor")
    return float(t.array.mean(dtype=np.float64))


@op("mean", "[*T*] T index", types=_HALF)
def mean(r: Tensor, t: Tensor, dim: int) -> None:
    """r = the means along one dimension, which remains with size 1."""
    check_dim(t, dim)
    store(r, t.array.mean(axis=dim, dtype=np.float64, keepdims=True).astype(np.float16))
