"""Norms of vectors and matrices, and distances. PyTorch's documentation: torch.linalg, dist."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import Category
from th_shell.torch.base.dtypes import dtype as DType
from th_shell.torch.base.missing import type_name
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, listed, wrap_dims
from th_shell.torch.calls.schema import Kind, Number, Out
from th_shell.torch.calls.table import FUNCTIONS, op
from th_shell.torch.compute.reductions import FEW, axes_of, give, tidy
from th_shell.torch.ops.linalg import check_floats, check_rank, converged, matrices
from th_shell.torch.ops.reduce import sum_of
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast

_MORE = "bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None"


def vector_norm_of(array: Array, ord: float, axes: Shape | None, keepdim: bool) -> Array:
    """Return norms along axes, None for all: ``sum(abs(x) ** ord) ** (1 / ord)``.

    0 counts what is not 0, inf is the largest. They are computed as float64, but for many elements
    of float32. Raises RuntimeError for empty ones that have none.
    """
    is_empty = not array.size if axes is None else any(array.shape[axis] == 0 for axis in axes)
    if is_empty and not 0 <= ord < math.inf:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord:g} norm on an empty tensor because the "
            f"operation does not have an identity"
        )
    is_exact = array.size >= FEW and ord in (1, 2) and array.itemsize == 4
    wide, run = array if is_exact else array.astype(np.float64, copy=False), quietly.run
    if ord == 2 and axes is None and not keepdim:
        flat = wide.reshape(-1)
        return np.asarray(math.sqrt(run(flat.dot, flat)), array.dtype)
    if ord == 2:
        norms = run(np.sqrt, sum_of(run(np.multiply, wide, wide), axes, keepdim))
    elif math.isinf(ord):
        extreme = np.maximum if ord > 0 else np.minimum
        norms = run(extreme.reduce, np.abs(wide), axes, None, None, keepdim)
    elif ord == 0:
        norms = sum_of((wide != 0).astype(wide.dtype), axes, keepdim)
    elif ord == 1:
        norms = sum_of(np.abs(wide), axes, keepdim)
    else:
        sums = sum_of(run(np.power, np.abs(wide), ord), axes, keepdim)
        norms = run(np.power, sums, 1 / ord)
    return cast(tidy(norms), array.dtype)


def _norm_type(input: Tensor, dtype: Kind, name: str) -> DType:
    """Return the type of a norm. Raises NotImplementedError and RuntimeError."""
    check_floats(input, name)
    if dtype is not None and dtype.category < Category.FLOAT:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {dtype.scalar}"
        )
    return dtype or input.dtype


@op(f"linalg_vector_norm(Tensor input, Number ord = 2, tuple of ints[1] dim = None, {_MORE})")
def vector_norm(
    input: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Kind = None
) -> Tensor:
    """Return the norms of vectors, which lie along the dimensions; of all elements by default."""
    array = cast(input.array, _norm_type(input, dtype, "linalg.vector_norm").numpy)
    return wrap(vector_norm_of(array, ord, axes_of(dim, array.ndim), keepdim))


@op(
    f"linalg_matrix_norm(Tensor input, Number ord, tuple of ints dim = (-2, -1), {_MORE})",
    f"linalg_matrix_norm(Tensor input, str ord = 'fro', tuple of ints dim = (-2, -1), {_MORE})",
)
def matrix_norm(
    input: Tensor,
    ord: Any = "fro",
    dim: Shape = (-2, -1),
    keepdim: bool = False,
    dtype: Kind = None,
) -> Tensor:
    """Return the norms of matrices, which lie along two dimensions.

    ord: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf. Raises RuntimeError for others.
    """
    name = "linalg.matrix_norm"
    check_rank(input.array, name)
    array = cast(input.array, _norm_type(input, dtype, name).numpy)
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    axes = wrap_dims(dim, array.ndim)
    if ord == "fro":
        return wrap(vector_norm_of(array, 2, axes, keepdim))
    if ord not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf) or not array.size:
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    norms = converged(np.linalg.norm, matrices(wrap(array), name), ord, axes, keepdim)
    return wrap(np.asarray(norms, array.dtype))


@op(f"linalg_norm(Tensor input, str ord, tuple of ints[1] dim = None, {_MORE})")
@op(f"linalg_norm(Tensor input, Number ord = None, tuple of ints[1] dim = None, {_MORE})")
def linalg_norm(
    input: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, dtype: Kind = None
) -> Tensor:
    """Return the norms of vectors or, along two dimensions and with an order, of matrices."""
    if isinstance(dim, int):
        dim = (dim,)
    count = input.array.ndim if dim is None else len(dim)
    wrong = "linalg.norm: If dim is specified, it must be of length 1 or 2. Got {}"
    require(dim is None or count in (1, 2), wrong, listed(dim or ()))
    few = "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {}D."
    require(ord is None or count in (1, 2), few, count)
    if ord is not None and (count == 2 or isinstance(ord, str)):
        return matrix_norm(input, ord, dim or (-2, -1), keepdim, dtype=dtype)
    return vector_norm(input, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


# -- the old norm


@op()
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: Kind = None,
    out: Out = None,
) -> Tensor:
    """Return the norm of order p of all elements, or along dimensions.

    p: a number, inf and -inf among them; 'fro' (2), or 'nuc', of matrices.
    """
    dims = (dim,) if isinstance(dim, int) else dim
    if isinstance(p, str) and p != "fro":
        dims = tuple(range(input.array.ndim)) if dims is None else tuple(dims)
        return give(matrix_norm(input, p, dims, keepdim, dtype=dtype), out)
    kind = _norm_type(input, dtype, "linalg.vector_norm")
    axes = axes_of(None if dims is None else tuple(dims), input.array.ndim)
    order = 2 if p is None or p == "fro" else p
    if not isinstance(order, (int, float)):
        raise TypeError(f"norm(): argument 'p' must be a number or a text, not {type_name(p)}")
    return give(vector_norm_of(cast(input.array, kind.numpy), order, axes, keepdim), out)


# -- distances


@op()
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """Return the norm of order p of the difference."""
    apart: Tensor = FUNCTIONS["sub"](input, other)
    check_floats(apart, "norm()")
    return wrap(vector_norm_of(apart.array, float(p), None, False))
