"""Products of matrices added to others, each times a number.

PyTorch's documentation: torch, BLAS and LAPACK Operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.dtypes import Category
from runtime.pytorch.base.quiet import quietly
from runtime.pytorch.calls.table import op
from runtime.pytorch.calls.types import OUT, Number, Out
from runtime.pytorch.compute.promotion import number_as, result_type
from runtime.pytorch.ops.products import apply, batch_product, matrix_product, vectors
from runtime.pytorch.ops.views import expanded
from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.pytorch.tensors.writing import cast, delivered

_SCALES = f"*, Number beta = 1, Number alpha = 1, {OUT}"


def _scaled_sum(input: Tensor, product: Array, beta: Any, alpha: Any, kind: Any) -> Tensor:
    """``beta * input + alpha * product``; what beta 0 multiplies does not count, not even a nan."""
    numpy = kind.numpy
    beta, alpha = _scale(beta, kind), _scale(alpha, kind)
    if alpha != 1:
        product = quietly.run(np.multiply, product, number_as(alpha, numpy))
    if beta == 0:
        return wrap(product)
    base = expanded(input, product.shape).array
    if beta != 1:
        base = quietly.run(np.multiply, base, number_as(beta, numpy))
    return wrap(quietly.run(np.add, base, product))


def _scale(number: Any, kind: Any) -> Any:
    """A factor as one of a type's: of whole numbers the fraction is cut off."""
    if kind.category is not Category.INTEGER:
        return number
    limits = np.iinfo(kind.numpy)
    whole = int(number)
    is_negative = isinstance(number, int) and -limits.max <= whole  # wraps around, as in C
    if whole > limits.max or (number < limits.min and not is_negative):
        name = kind.numpy.name
        raise RuntimeError(f"value cannot be converted to type {name}_t without overflow")
    return whole


def _check_base(input: Tensor, other: Tensor) -> None:
    if input.array.dtype != other.array.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {input.dtype.scalar} and "
            f"{other.dtype.scalar}"
        )


@op(in_place=True)
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Out = None,
) -> Tensor:
    """``beta * input + alpha * mat1 @ mat2``."""
    _check_base(input, mat2)
    product = matrix_product("addmm", mat1, mat2)
    found = _scaled_sum(input, product, beta, alpha, mat1.dtype)
    return delivered(found, out, input)


@op(in_place=True)
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Out = None
) -> Tensor:
    """``beta * input + alpha * mat @ vec``."""
    product = apply(mat, vec, input)
    found = _scaled_sum(input, product, beta, alpha, mat.dtype)
    return delivered(found, out, input)


@op(more=OUT, in_place=True)
def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``."""
    x, y = vectors("addr", vec1, vec2, "vec1", "vec2")
    kind = result_type(input, vec1, vec2)
    _check_factors(kind, beta, alpha)
    product = cast(quietly.run(np.multiply, x[:, None], y), kind.numpy)
    return _scaled_sum(wrap(cast(input.array, kind.numpy)), product, beta, alpha, kind)


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
    """``beta * input + alpha * batch1 @ batch2``, matrix by matrix."""
    if not input.dtype is batch1.dtype is batch2.dtype:
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {input.dtype.real}, batch1: "
            f"{batch1.dtype.real}, batch2: {batch2.dtype.real}"
        )
    product = batch_product(batch1, batch2, "baddbmm")
    return _scaled_sum(input, product, beta, alpha, batch1.dtype)


@op(more=OUT, in_place=True)
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """``beta * input`` and alpha times the sum of the batches' products."""
    product = batch_product(batch1, batch2, "addmm_impl_cpu_").sum(0, dtype=batch1.array.dtype)
    _check_base(input, batch2)
    return _scaled_sum(input, product, beta, alpha, batch1.dtype)
