"""Powers of matrices, cross products, and products that are added to others.

PyTorch's documentation: torch.linalg and torch, BLAS and LAPACK Operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import Category
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import broadcast, check_long, wrap_dim
from th_shell.torch.calls.schema import OUT, Number, Out
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import NUMBERS, check_types
from th_shell.torch.compute.promotion import result_type
from th_shell.torch.ops.creation import fill_number
from th_shell.torch.ops.linalg import check_rank, check_square, inv
from th_shell.torch.ops.products import apply, batch_product, check_scalars, matrix_product, vectors
from th_shell.torch.ops.views import expanded
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast, delivered


@op(name="matrix_power linalg_matrix_power", more=OUT)
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Return the product of n of the same matrices; of their inverses for negative n."""
    check_long(n)
    array = input.array
    check_rank(array, "linalg.matrix_power")
    check_square(array, "linalg.matrix_power")
    base = inv(input).array if n < 0 else array
    with np.errstate(all="ignore"):
        return wrap(np.linalg.matrix_power(base, abs(n)))


@op(name="linalg_cross", more=OUT)
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Return the cross products of vectors of three elements."""
    x, y = input.array, other.array
    require(x.ndim == y.ndim, "linalg.cross: inputs must have the same number of dimensions.")
    dim = wrap_dim(dim, x.ndim, takes_scalar=False)
    wrong = "linalg.cross: inputs dimension {} must have length 3. Got {} and {}"
    require(x.shape[dim] == 3 == y.shape[dim], wrong, dim, x.shape[dim], y.shape[dim])
    check_types("cross", NUMBERS, x.dtype)
    broadcast(x.shape, y.shape)
    check_scalars(input, other)
    return wrap(_cross_products(x, y, dim))


def _cross_products(x: Array, y: Array, dim: int) -> Array:
    """Return the cross products; of float32 the first product is not rounded, as by FMA."""
    first, second = [1, 2, 0], [2, 0, 1]
    run = quietly.run
    less = run(np.multiply, x.take(second, dim), y.take(first, dim))
    a, b = x.take(first, dim), y.take(second, dim)
    if x.dtype != np.float32:
        products: Array = run(np.subtract, run(np.multiply, a, b), less)
        return products
    exact: Array = run(np.subtract, run(np.multiply, a, b, dtype=np.float64), less)
    return exact.astype(np.float32)


@op(name="cross", more=OUT)
def old_cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Return the cross products of vectors of three elements, along the first such dimension."""
    if dim is None:
        dim = next((d for d, n in enumerate(input.array.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return cross(input, other, dim=dim)


_SCALES = f"Number beta = 1, Number alpha = 1, {OUT}"


def _scaled_sum(
    input: Tensor, product: Array, kind: Any, beta: Any = 1, alpha: Any = 1, out: Out = None
) -> Tensor:
    """Return ``beta * input + alpha * product``. A beta of 0 ignores even nans in input."""
    beta, alpha = fill_number(beta, kind), fill_number(alpha, kind)
    base = expanded(input, product.shape).array
    if alpha != 1:
        product = quietly.run(np.multiply, product, alpha)
    if beta != 0:
        if beta != 1:
            base = quietly.run(np.multiply, base, beta)
        product = quietly.run(np.add, base, product)
    return delivered(wrap(product), out, input)


def _check_base(input: Tensor, matrix: Tensor) -> None:
    if input.array.dtype != matrix.array.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {input.dtype.scalar} and "
            f"{matrix.dtype.scalar}"
        )


@op(more=_SCALES, in_place=True)
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, **options: Any) -> Tensor:
    """Return ``beta * input + alpha * mat1 @ mat2``."""
    _check_base(input, mat2)
    return _scaled_sum(input, matrix_product("addmm", mat1, mat2), mat1.dtype, **options)


@op(more=_SCALES, in_place=True)
def addmv(input: Tensor, mat: Tensor, vec: Tensor, **options: Any) -> Tensor:
    """Return ``beta * input + alpha * mat @ vec``."""
    return _scaled_sum(input, apply(mat, vec, input), mat.dtype, **options)


@op(more=OUT, in_place=True)
def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return ``beta * input + alpha * outer(vec1, vec2)``."""
    x, y = vectors("addr", vec1, vec2, "vec1", "vec2")
    kind = result_type(input, vec1, vec2)
    _check_factors(kind, beta, alpha)
    product = cast(quietly.run(np.multiply, x[:, None], y), kind.numpy)
    return _scaled_sum(wrap(cast(input.array, kind.numpy)), product, kind, beta, alpha)


def _check_factors(kind: Any, beta: Any, alpha: Any) -> None:
    for name, number in (("beta", beta), ("alpha", alpha)):
        if kind.category < Category.FLOAT and isinstance(number, float):
            raise RuntimeError(
                f"For integral input tensors, argument {name} must not be a floating point number."
            )


@op(more=OUT, in_place=True)
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Return ``beta * input + alpha * batch1 @ batch2``, matrix by matrix."""
    if not input.dtype is batch1.dtype is batch2.dtype:
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {input.dtype.real}, batch1: "
            f"{batch1.dtype.real}, batch2: {batch2.dtype.real}"
        )
    product = batch_product(batch1, batch2, "baddbmm")
    return _scaled_sum(input, product, batch1.dtype, beta, alpha)
