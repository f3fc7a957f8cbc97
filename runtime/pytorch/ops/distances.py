"""Norms of tensors, and distances. PyTorch's documentation: torch.norm, dist, renorm."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.c_types import type_name
from runtime.pytorch.base.dtypes import Category
from runtime.pytorch.base.dtypes import dtype as DType
from runtime.pytorch.base.quiet import quietly
from runtime.pytorch.base.shapes import Shape, wrap_dim
from runtime.pytorch.calls.table import FUNCTIONS, op
from runtime.pytorch.compute.reducing import OUT, axes_of, check_out, give, tidy
from runtime.pytorch.ops.norms import matrix_norm, vector_norm_of
from runtime.pytorch.ops.reduce import sum_of
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import cast

__all__: list[str] = []

#: Of so many numbers, sums in their own type are exact enough, since they are taken in parts.
_MANY = 1 << 14


def _vector_norm(array: Array, ord: float, axes: Shape | None, keepdim: bool) -> Array:
    """The norms of the elements along axes, None for all. Raises RuntimeError for empty ones."""
    if not array.size:
        _check_identity(array, ord, axes)
    if ord == 2 and 0 < array.size < _MANY:
        return _length(array, axes, keepdim)
    if array.size >= _MANY and ord in (1, 2) and array.dtype.kind == "f":
        return _norm_of_many(array, ord, axes, keepdim)
    if array.itemsize < 8 and ord not in (0, 1, 2, inf, -inf):
        return _power_norm(array, np.float32(ord), axes, keepdim)
    return vector_norm_of(array, ord, axes, keepdim)


def _length(array: Array, axes: Shape | None, keepdim: bool) -> Array:
    """The same of order 2, of a few numbers."""
    run, wide = quietly.run, array.astype(np.float64, copy=False)
    if axes is None and not keepdim:
        row = wide.reshape(-1)
        return np.asarray(sqrt(run(row.dot, row)), array.dtype)
    squares = run(np.multiply, wide, wide)
    sums = run(np.add.reduce, squares, axes, None, None, keepdim)
    return tidy(np.sqrt(sums)).astype(array.dtype, copy=False)


def _norm_of_many(array: Array, ord: float, axes: Shape | None, keepdim: bool) -> Array:
    """The same without copies in a larger type, but of float16."""
    run = quietly.run
    wide = array.astype(np.float32) if array.itemsize == 2 else array
    if ord == 2:
        if axes is None and array.flags.c_contiguous and not keepdim:
            flat = wide.reshape(-1)
            return np.asarray(run(np.sqrt, flat.dot(flat))).astype(array.dtype)
        found = run(np.sqrt, sum_of(run(np.multiply, wide, wide), axes, keepdim))
    else:
        found = sum_of(np.abs(wide), axes, keepdim)
    return np.asarray(found).astype(array.dtype, copy=False)


def _power_norm(array: Array, ord: Any, axes: Shape | None, keepdim: bool) -> Array:
    """The same for other orders of float32, all of whose steps PyTorch rounds."""
    run, wide = quietly.run, np.abs(array).astype(np.float64)
    powers = run(run(np.power, wide, ord).astype, np.float32)
    sums = np.asarray(sum_of(powers, axes, keepdim))
    roots = run(np.power, sums.astype(np.float64), np.float32(1) / ord)
    return np.asarray(roots).astype(array.dtype)


def _check_identity(array: Array, ord: float, axes: Shape | None) -> None:
    if 0 <= ord < inf:
        return
    text = f"linalg.vector_norm cannot compute the {ord:g} norm on "
    if axes is None:
        raise RuntimeError(f"{text}an empty tensor because the operation does not have an identity")
    for axis in axes:
        if not array.shape[axis]:
            raise RuntimeError(
                f"{text}the dimension {axis}because this dimension is empty and the operation "
                "does not have an identity"
            )


def _check_types(input: Tensor, dtype: DType | None) -> DType:
    """The type of a norm. Raises NotImplementedError and RuntimeError."""
    kind = input.dtype
    if kind.category < Category.FLOAT:
        raise NotImplementedError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {kind.scalar}"
        )
    if dtype is None or dtype is kind:
        return kind
    if dtype.category < Category.FLOAT:
        raise RuntimeError(
            f"linalg.vector_norm: dtype should be floating point or complex, but got {dtype.scalar}"
        )
    if dtype.itemsize < kind.itemsize:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({kind.scalar}) should be convertible "
            f"without narrowing to the specified dtype ({dtype.scalar})"
        )
    return dtype


@op(
    "norm(object input, object? p = fro, object dim = None, bool keepdim = False, "
    "Tensor out = None, torch.dtype dtype = None)",
    method=True,
)
def norm(
    input: Any,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: DType | None = None,
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
    kind = _check_types(input, dtype)
    axes = axes_of(None if dims is None else tuple(dims), input.array.ndim)
    if not input.array.size and axes:
        _check_identity(input.array, ord, tuple(dims))
    check_out(out, kind)
    return give(_vector_norm(cast(input.array, kind.numpy), ord, axes, keepdim), out)


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


@op("dist(Tensor input, Tensor other, Number p = 2)")
def dist(input: Tensor, other: Tensor, p: Any = 2) -> Tensor:
    """The norm of order p of the difference."""
    apart: Tensor = FUNCTIONS["sub"](input, other)
    if apart.dtype.category < Category.FLOAT:
        raise NotImplementedError(
            "norm(): input dtype should be either floating point or complex. "
            f"Got {apart.dtype.scalar} instead."
        )
    return wrap(_vector_norm(apart.array, float(p), None, False))


#: PyTorch: what is added to the norm that is divided by.
_LITTLE = 1e-7


@op(f"renorm(Tensor input, Number p, int dim, Number maxnorm, *, {OUT})", in_place=True)
def renorm(input: Tensor, p: Any, dim: int, maxnorm: Any, *, out: Tensor | None = None) -> Tensor:
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
    kind = _check_types(input, None)
    check_out(out, kind)
    wide = array.astype(np.promote_types(array.dtype, np.float32), copy=False)
    norms = _vector_norm(wide, float(p), tuple(d for d in range(array.ndim) if d != axis), True)
    factors = np.where(norms > maxnorm, wide.dtype.type(maxnorm) / (norms + _LITTLE), 1)
    found = tidy(quietly.run(np.multiply, array, factors.astype(array.dtype)))
    if out is input:
        np.copyto(array, found)
        return input
    return give(found, out)
