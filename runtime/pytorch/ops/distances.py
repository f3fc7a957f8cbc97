"""Norms of tensors, and distances. PyTorch's documentation: torch.norm, dist, renorm."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.pytorch.base.c_types import type_name
from runtime.pytorch.base.dtypes import Category
from runtime.pytorch.base.quiet import quietly
from runtime.pytorch.base.shapes import wrap_dim
from runtime.pytorch.calls.table import FUNCTIONS, op
from runtime.pytorch.calls.types import Kind, Number, Out
from runtime.pytorch.compute.reducing import axes_of, give, tidy
from runtime.pytorch.ops.norms import check_identity, matrix_norm, norm_type, vector_norm_of
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import cast, check_out


@op(method=True)
def norm(
    input: Any,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Out = None,
    dtype: Kind = None,
) -> Tensor:
    """The norm of order p of all elements, or along dimensions.

    p: a number, inf and -inf among them; 'fro' (2), or 'nuc', of matrices.
    """
    if not isinstance(input, Tensor):
        return input.layout  # type: ignore[no-any-return]  # which is PyTorch's error
    dims = [dim] if isinstance(dim, int) else dim
    if isinstance(p, str) and not (p == "fro" and (dims is None or len(dims) <= 2)):
        dims = range(input.array.ndim) if dims is None else dims
        return give(matrix_norm(input, p, tuple(dims), keepdim, dtype=dtype).array, out)
    ord = _order(p)
    kind = norm_type(input, dtype)
    axes = axes_of(None if dims is None else tuple(dims), input.array.ndim)
    if not input.array.size and axes:
        check_identity(input.array, ord, tuple(dims))
    check_out(out, kind)
    return give(vector_norm_of(cast(input.array, kind.numpy), ord, axes, keepdim), out)


def _order(p: Any) -> float:
    """The order that p says. Raises TypeError."""
    if p is None or p == "fro":
        return 2.0
    if isinstance(p, Tensor) and not p.array.ndim:
        return float(p.array)
    if not isinstance(p, (int, float, np.number)):
        raise TypeError(
            f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type_name(p)}"
        )
    return float(p)


# -- distances


@op()
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """The norm of order p of the difference."""
    apart: Tensor = FUNCTIONS["sub"](input, other)
    if apart.dtype.category < Category.FLOAT:
        raise NotImplementedError(
            "norm(): input dtype should be either floating point or complex. "
            f"Got {apart.dtype.scalar} instead."
        )
    return wrap(vector_norm_of(apart.array, float(p), None, False))


#: PyTorch: what is added to the norm that is divided by.
_LITTLE = 1e-7


@op(in_place=True)
def renorm(input: Tensor, p: Number, dim: int, maxnorm: Number, *, out: Out = None) -> Tensor:
    """Slices of a dimension, of which those with a larger norm are scaled down to maxnorm."""
    array = input.array
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if array.ndim < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {array.ndim} dimensions"
        )
    axis = wrap_dim(dim, array.ndim)
    kind = norm_type(input, None)
    check_out(out, kind)
    wide = array.astype(np.promote_types(array.dtype, np.float32), copy=False)
    norms = vector_norm_of(wide, float(p), tuple(d for d in range(array.ndim) if d != axis), True)
    factors = np.where(norms > maxnorm, wide.dtype.type(maxnorm) / (norms + _LITTLE), 1)
    found = tidy(quietly.run(np.multiply, array, factors.astype(array.dtype)))
    if out is input:
        np.copyto(array, found)
        return input
    return give(found, out)
