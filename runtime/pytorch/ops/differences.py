"""Derivatives along dimensions, estimated from differences.

PyTorch's documentation: torch.gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.dtypes import Category, default_dtype, uint8
from runtime.pytorch.base.quiet import calmly
from runtime.pytorch.base.shapes import Shape, wrap_dims
from runtime.pytorch.calls.table import op
from runtime.pytorch.tensors.tensor import Tensor, wrap


@op(
    "gradient(Tensor input, *, tuple of ints dim, int edge_order = 1)",
    "gradient(Tensor input, *, Number spacing, tuple of ints dim, int edge_order = 1)",
    "gradient(Tensor input, *, Number spacing = None, int dim = None, int edge_order = 1)",
    "gradient(Tensor input, *, tuple of Scalars spacing, int dim = None, int edge_order = 1)",
    "gradient(Tensor input, *, tuple of Scalars spacing, tuple of ints dim, int edge_order = 1)",
    "gradient(Tensor input, *, tuple of Tensors spacing, int dim = None, int edge_order = 1)",
    "gradient(Tensor input, *, tuple of Tensors spacing, tuple of ints dim, int edge_order = 1)",
    method=False,
)
def gradient(
    input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """The derivative along each of the dimensions: central differences, one-sided at the ends.

    spacing: the distance of neighbours, or the coordinates, one for all dimensions or one for each.
    """
    dims = _dims(input, dim)
    steps = _steps(input, spacing, dims, dim)
    if input.dtype is uint8:
        raise NotImplementedError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(input.array.shape[d] < edge_order + 1 for d in dims):
        raise RuntimeError(
            "torch.gradient expected each dimension size to be at least edge_order+1"
        )
    kind = input.dtype if input.dtype.category is Category.FLOAT else default_dtype()
    array = input.array.astype(kind.numpy)
    return tuple(
        [
            wrap(np.asarray(calmly(_along, array, step, d, edge_order)))
            for step, d in zip(steps, dims, strict=True)
        ]
    )


def _dims(input: Tensor, dim: Any) -> Shape:
    ndim = input.array.ndim
    if dim is None:
        return tuple(range(ndim))
    return wrap_dims((dim,) if isinstance(dim, int) else dim, ndim)


def _steps(input: Tensor, spacing: Any, dims: Shape, dim: Any) -> Sequence[Any]:
    if not isinstance(spacing, tuple):
        return [1 if spacing is None else spacing] * len(dims)
    if len(spacing) != len(dims):
        wanted = "'self.dim()" if dim is None else "'dim"
        given = "was not given" if dim is None else "was given"
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to {wanted} = {len(dims)}', since dim argument {given}, but got a list of "
            f"length {len(spacing)}"
        )
    return [x.array if isinstance(x, Tensor) else x for x in spacing]


def _along(array: Array, step: Any, dim: int, edge_order: int) -> Any:
    if isinstance(step, np.ndarray):
        step = step.astype(array.dtype)
    compute: Any = np.gradient
    return compute(array, step, axis=dim, edge_order=edge_order).astype(array.dtype)
