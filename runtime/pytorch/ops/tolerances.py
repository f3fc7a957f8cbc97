"""From where on singular values count: what matrix_rank and pinv take for zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.shapes import broadcast
from runtime.pytorch.calls.schema import OUT


def with_tolerances(name: str, old: str) -> list[str]:
    """The signatures of what takes small singular values for zeros. old: the limit's old name."""
    rest = f"bool hermitian = False, {OUT})"
    kinds = ("Tensor", "float")
    return [
        *(f"{name}(Tensor input, *, {k} atol = None, {k} rtol = None, {rest}" for k in kinds),
        *(f"{name}(Tensor input, {k} {old}, {rest.replace(', ', ', *, ', 1)}" for k in kinds),
    ]


def least_value(values: Array, array: Array, atol: Any, rtol: Any) -> Array:
    """What singular values of matrices have to be above: atol, or rtol times the largest one.

    Either is a number, a tensor with one for each matrix, or None.
    """
    largest = values.max(-1, keepdims=True, initial=0)
    least, part = (_one_each(0.0 if x is None else x, array) for x in (atol, rtol))
    if rtol is None:
        usual = max(array.shape[-2:]) * float(np.finfo(array.dtype).eps)
        part = np.where(least > 0, part, array.dtype.type(usual))
    broadcast(part.shape, largest.shape)
    broadcast(least.shape, (part * largest).shape)
    return np.asarray(np.maximum(least, part * largest))


def _one_each(given: Any, array: Array) -> Array:
    return np.asarray(getattr(given, "array", given), array.dtype)[..., None]
