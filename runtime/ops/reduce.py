"""Manual, Math Functions: column or row-wise operations (dimension-wise operations).

The reduced dimension stays, with size 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.dispatch import FLOATS, op
from runtime.dtypes import LONG, Array, DType
from runtime.errors import ArgError
from runtime.tensor import TENSOR_CLASSES, Tensor

_LONG_TENSOR = TENSOR_CLASSES[LONG.index]


def _accumulator(dtype: DType) -> Any:
    return np.float64 if dtype.is_float else np.int64


def _check_dim(t: Tensor, dim: int) -> None:
    if not 0 <= dim < t.ndim:
        raise ArgError(2, f"dimension {dim + 1} out of range")


def _store(r: Tensor, values: Array) -> None:
    r.resize(values.shape)
    r.array[...] = values


@op("sum", method="T", function="T")
def sum_all(t: Tensor) -> float:
    """The sum of all elements."""
    return t.array.sum(dtype=_accumulator(t.dtype)).item()  # type: ignore[no-any-return]


@op("sum", method="[*T*] T index", function="[*T*] T index")
def sum_dim(r: Tensor, t: Tensor, dim: int) -> None:
    """The sums along one dimension."""
    _check_dim(t, dim)
    _store(
        r, t.array.sum(axis=dim, dtype=_accumulator(t.dtype), keepdims=True).astype(t.array.dtype)
    )


@op("mean", method="T", function="T", types=FLOATS)
def mean_all(t: Tensor) -> float:
    """The mean of all elements."""
    if not t.sizes:
        raise ArgError(1, "empty Tensor")
    return sum_all(t) / t.nelement


@op("mean", method="[*T*] T index", function="[*T*] T index", types=FLOATS)
def mean_dim(r: Tensor, t: Tensor, dim: int) -> None:
    """The means along one dimension."""
    _check_dim(t, dim)
    _store(r, t.array.mean(axis=dim, dtype=np.float64, keepdims=True).astype(t.array.dtype))


@op("norm", method="T [real=2]", function="T [real=2]", types=FLOATS)
def norm_all(t: Tensor, p: float) -> float:
    """The p-norm of all elements; p 0 counts those that are not 0."""
    values = t.array.astype(np.float64, copy=False)
    if p == 0:
        return float(np.count_nonzero(values))
    if p == 1:
        return float(np.abs(values).sum())
    if p == 2:
        return float(np.sqrt((values * values).sum()))
    with np.errstate(all="ignore"):
        return float((np.abs(values) ** p).sum() ** (1 / p))


def _add_extremum(name: str, pick: Any, locate: Any) -> None:
    def over_all(t: Tensor) -> float:
        if not t.sizes:
            raise ArgError(1, "tensor must have one dimension")
        return pick(t.array).item()  # type: ignore[no-any-return]

    def along_dim(values: Tensor, indices: Tensor, t: Tensor, dim: int) -> None:
        _check_dim(t, dim)
        at = np.expand_dims(locate(t.array, axis=dim), dim)
        found = np.take_along_axis(t.array, at, dim)
        _store(values, found)
        _store(indices, at + 1)

    over_all.__doc__ = f"The {name}imum of all elements."
    along_dim.__doc__ = f"The {name}ima along one dimension and where they are."
    op(name, method="T", function="T")(over_all)
    form = "[*T*] [*LongTensor*] T index"
    op(name, method=form, function=form)(along_dim)


_add_extremum("min", np.min, np.argmin)
_add_extremum("max", np.max, np.argmax)
