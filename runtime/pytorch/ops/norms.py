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
from th_shell.torch.base.shapes import Shape, listed, wrap_dims
from th_shell.torch.calls.schema import Kind, Number, Out
from th_shell.torch.calls.table import FUNCTIONS, op
from th_shell.torch.compute.matrices import (
    check_floats,
    check_rank,
    check_wide,
    converged,
)
from th_shell.torch.compute.reductions import FEW, axes_of, give, tidy
from th_shell.torch.ops.reduce import sum_of
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast, check_out

_NO_PAIR = "linalg.matrix_norm: dim must be a 2-tuple. Got {}"
_MORE = "bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None"


def vector_norm_of(array: Array, ord: float, axes: Shape | None, keepdim: bool) -> Array:
    """Return norms along axes, None for all: ``sum(abs(x) ** ord) ** (1 / ord)``.

    0 counts what is not 0, inf is the largest. Raises RuntimeError for empty ones that have none.
    """
    if not array.size:
        check_identity(array, ord, axes)
    return _wide_norm(array, ord, axes, keepdim)


def check_identity(array: Array, ord: float, axes: Shape | None) -> None:
    """Raise RuntimeError where no element is left, and the norm of none is not 0."""
    if 0 <= ord < math.inf:
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


def _wide_norm(array: Array, order: float, axes: Shape | None, keepdim: bool) -> Array:
    """Return the norms, computed as float64, but for many elements of float32."""
    is_exact = array.size >= FEW and order in (1, 2) and array.itemsize == 4
    wide, run = array if is_exact else array.astype(np.float64, copy=False), quietly.run
    if order == 2 and axes is None and not keepdim:
        flat = wide.reshape(-1)
        return np.asarray(math.sqrt(run(flat.dot, flat)), array.dtype)
    if order == 2:
        norms = run(np.sqrt, sum_of(run(np.multiply, wide, wide), axes, keepdim))
    elif order == math.inf or order == -math.inf:
        extreme = np.maximum if order > 0 else np.minimum
        norms = run(extreme.reduce, np.abs(wide), axes, None, None, keepdim)
    elif order == 0:
        norms = sum_of((wide != 0).astype(wide.dtype), axes, keepdim)
    elif order == 1:
        norms = sum_of(np.abs(wide), axes, keepdim)
    else:
        sums = sum_of(run(np.power, np.abs(wide), order), axes, keepdim)
        norms = run(np.power, sums, 1 / order)
    return cast(tidy(norms), array.dtype)


def norm_type(input: Tensor, dtype: Kind, name: str = "linalg.vector_norm") -> DType:
    """Return the type of a norm. Raises NotImplementedError and RuntimeError.

    name: the function's, in errors.
    """
    kind = input.dtype
    check_floats(input, name)
    if dtype is None or dtype is kind:
        return kind
    if dtype.category < Category.FLOAT:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {dtype.scalar}"
        )
    if dtype.itemsize < kind.itemsize:
        raise RuntimeError(
            f"{name}: the dtype of the input ({kind.scalar}) should be convertible "
            f"without narrowing to the specified dtype ({dtype.scalar})"
        )
    return dtype


@op(f"linalg_vector_norm(Tensor input, Number ord = 2, tuple of ints[1] dim = None, {_MORE})")
def vector_norm(
    input: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Kind = None
) -> Tensor:
    """Return the norms of vectors, which lie along the dimensions; of all elements by default."""
    array = cast(input.array, norm_type(input, dtype).numpy)
    return wrap(vector_norm_of(array, ord, axes_of(dim, array.ndim), keepdim))


def _furthest(values: Array, order: float, axis: int, shown_axis: int) -> Array:
    """Return the largest along an axis, 0 where there are none; or for orders below 0 the smallest.

    told: the axis as the error of none has it.
    """
    if order > 0:
        return np.maximum.reduce(values, axis, initial=0, keepdims=True)
    if not values.shape[axis]:
        raise IndexError(f"amin(): Expected reduction dim {shown_axis} to have non-zero size.")
    return np.minimum.reduce(values, axis, keepdims=True)


def matrix_norm_of(array: Array, order: Any, axes: Shape, keepdim: bool) -> Array:
    """Return the norms of matrices along two axes. Raises RuntimeError for an unknown order."""
    rows, columns = axes
    if order == "fro":
        return vector_norm_of(array, 2, axes, keepdim)
    if order in (2, -2, "nuc"):
        turned = np.moveaxis(array, axes, (-2, -1))
        values = converged(np.linalg.svd, turned, compute_uv=False)
        norms = values.sum(-1)
        if order != "nuc":
            norms = _furthest(values, order, -1, values.ndim - 1)[..., 0]
        return np.expand_dims(norms, tuple(sorted(axes))) if keepdim else np.asarray(norms)
    if order in (1, -1, math.inf, -math.inf):
        add, left = (rows, columns) if abs(order) == 1 else (columns, rows)
        sums = np.asarray(sum_of(np.abs(array), (add,), True))
        norms = _furthest(sums, order, left, left - (add < left))
        return norms if keepdim else norms.squeeze((rows, columns))
    raise RuntimeError(f"linalg.matrix_norm: Order {order} not supported.")


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
    """Return the norms of matrices, which lie along two dimensions."""
    check_rank(input.array, "linalg.matrix_norm")
    array = cast(input.array, norm_type(input, dtype, "linalg.matrix_norm").numpy)
    if len(dim) != 2:
        raise RuntimeError(_NO_PAIR.format(" ".join(map(str, dim))))
    if ord == "nuc":
        check_wide(array, "linalg.matrix_norm")
    return wrap(matrix_norm_of(array, ord, wrap_dims(dim, array.ndim), keepdim))


@op(f"linalg_norm(Tensor input, str ord, tuple of ints[1] dim = None, {_MORE})")
@op(f"linalg_norm(Tensor input, Number ord = None, tuple of ints[1] dim = None, {_MORE})")
def linalg_norm(
    input: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, dtype: Kind = None
) -> Tensor:
    """Return the norms of vectors or, along two dimensions and with an order, of matrices."""
    if isinstance(dim, int):
        dim = (dim,)
    count = input.array.ndim if dim is None else len(dim)
    if dim is not None and count not in (1, 2):
        what = "If dim is specified, it must be of length 1 or 2. Got"
        raise RuntimeError(f"linalg.norm: {what} {listed(dim)}")
    if ord is None:
        return vector_norm(input, 2, dim, keepdim, dtype=dtype)
    if dim is None and count not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
            f"Got {count}D."
        )
    if count == 2:
        return matrix_norm(input, ord, dim or (-2, -1), keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise RuntimeError(_NO_PAIR.format(" ".join(map(str, dim or ()))))
    return vector_norm(input, ord, dim, keepdim, dtype=dtype)


# -- the old norm


@op(method=False)
def norm(
    input: Any,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Out = None,
    dtype: Kind = None,
) -> Tensor:
    """Return the norm of order p of all elements, or along dimensions.

    p: a number, inf and -inf among them; 'fro' (2), or 'nuc', of matrices.
    """
    if not isinstance(input, Tensor):
        raise AttributeError(f"'{type(input).__name__}' object has no attribute 'layout'")
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


@op(name="norm", function=False)
def norm_method(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Kind = None
) -> Tensor:
    """Return the norm of order p of all elements, or along dimensions."""
    return norm(input, p, dim, keepdim, dtype=dtype)


def _order(p: Any) -> float:
    """Return the order that p says. Raises TypeError."""
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
    """Return the norm of order p of the difference."""
    apart: Tensor = FUNCTIONS["sub"](input, other)
    if apart.dtype.category < Category.FLOAT:
        raise NotImplementedError(
            "norm(): input dtype should be either floating point or complex. "
            f"Got {apart.dtype.scalar} instead."
        )
    return wrap(vector_norm_of(apart.array, float(p), None, False))
