"""The mathematical operations of HalfTensor.

Torch7: HalfTensor has only these, and only as methods; otherwise it is for storing and copying.
Each computes with doubles, and its result is a new tensor.
"""

from __future__ import annotations

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.calls.table import checked, op
from th_shell.runtime.core.dtypes import HALF, cast
from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._operands import check_counts, store
from th_shell.runtime.ops.reduce import check_dim, find_extremum

_HALF = (HALF,)


@op("fill", "<*T*> T double", types=_HALF)
def fill(r: Tensor, t: Tensor, value: float) -> None:
    """r = a tensor of the sizes of t with a number as each element."""
    store(r, cast(np.full(t.sizes, value, np.float64), HALF))


@op("add", "<*T*> T double", types=_HALF)
def add(r: Tensor, t: Tensor, value: float) -> None:
    """r = t + value."""
    store(r, cast(t.array.astype(np.float64) + value, HALF))


@op("add", "<*T*> T [double=1] T", types=_HALF)
def cadd(r: Tensor, t: Tensor, value: float, src: Tensor) -> None:
    """r = t + value * src."""
    check_counts(r_=t, t=t, src=src)
    x, y = (z.array.astype(np.float64) for z in (t, src))
    store(r, cast(x + y.reshape(x.shape) * value, HALF))


@checked("operator_sub", method="T T", types=_HALF)
def operator_sub(call: Call) -> Tensor:
    """a - b."""
    a, b = call.tensor(1), call.tensor(2)
    result = type(a)()
    cadd(result, a, -1, b)
    return result


@op("abs", "<*T*> T", types=_HALF)
def absolute(r: Tensor, t: Tensor) -> None:
    """r = abs(t), element by element."""
    store(r, np.absolute(t.array))


@op("max", "T", types=_HALF)
def max_all(t: Tensor) -> float:
    """The maximum of all elements."""
    if not t.sizes:
        raise ArgError(1, "tensor must have one dimension")
    return find_extremum(np.maximum.reduce, t.array)


@op("mean", "T", types=_HALF)
def mean_all(t: Tensor) -> float:
    """The mean of all elements."""
    if not t.sizes:
        raise ArgError(1, "empty Tensor")
    return float(t.array.mean(dtype=np.float64))


@op("mean", "<*T*> T index", types=_HALF)
def mean(r: Tensor, t: Tensor, dim: int) -> None:
    """r = the means along one dimension, which remains with size 1."""
    check_dim(t, dim)
    store(r, cast(t.array.mean(axis=dim, dtype=np.float64, keepdims=True), HALF))
