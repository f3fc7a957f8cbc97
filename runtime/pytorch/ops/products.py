"""Products of matrices and vectors. PyTorch's documentation: torch, BLAS and LAPACK Operations."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import Category, int64
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, broadcast, listed, wrap_dims
from th_shell.torch.calls.argument_types import as_tensors
from th_shell.torch.calls.schema import OUT, Out
from th_shell.torch.calls.table import functional, op
from th_shell.torch.compute.elementwise import NUMBERS, check_types
from th_shell.torch.compute.promotion import result_type
from th_shell.torch.compute.reductions import give
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast, delivered

_SCALES = f"*, Number beta = 1, Number alpha = 1, {OUT}"
_FLOAT16, _FLOAT32 = np.dtype(np.float16), np.dtype(np.float32)


def multiply(a: Array, b: Array) -> Array:
    """Return the product of two arrays of one type; that of float16 is computed in float32."""
    if a.dtype == _FLOAT16:
        return cast(quietly.run(np.matmul, a.astype(_FLOAT32), b.astype(_FLOAT32)), _FLOAT16)
    product: Array = quietly.run(np.matmul, a, b)
    return product


def _check_same(a: Tensor, b: Tensor) -> None:
    if a.array.dtype != b.array.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {a.dtype.real} != {b.dtype.real}"
        )
    _refuse_bools("addmm_impl_cpu_", a, b)


def _refuse_bools(kernel: str, a: Tensor, b: Tensor) -> None:
    """Raise NotImplementedError for products of bools, but those that have no elements to sum."""
    if a.array.size and b.array.size:
        check_types(kernel, NUMBERS, a.array.dtype)


def matrix_product(name: str, a: Tensor, b: Tensor) -> Array:
    """Return the product of two matrices. Raises RuntimeError, with a function's name."""
    x, y = a.array, b.array
    for which, array in (("self" if name == "mm" else "mat1", x), ("mat2", y)):
        if array.ndim != 2:
            shown = "self" if which == "mat1" else which
            raise RuntimeError(f"{name}: {shown} must be a matrix, got {array.ndim}-D tensor")
    if x.shape[1] != y.shape[0]:
        sizes = f"{x.shape[0]}x{x.shape[1]} and {y.shape[0]}x{y.shape[1]}"
        raise RuntimeError(f"{name}: mat1 and mat2 shapes cannot be multiplied ({sizes})")
    if x.dtype is not y.dtype or x.dtype.kind != "f":
        _check_same(a, b)
    return multiply(x, y)


@op(more=OUT)
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices."""
    return wrap(matrix_product("mm", input, mat2))


def _check_vector(rows: int, columns: int, length: int) -> None:
    if columns != length:
        sizes = f"mat ({rows}x{columns}), vec ({length})"
        raise RuntimeError(f"size mismatch, got input ({rows}), {sizes}")


def apply(matrix: Tensor, vector: Tensor, base: Tensor | None = None) -> Array:
    """Return the product of a matrix and a vector; base is what it is added or written to."""
    m, v = matrix.array, vector.array
    if m.ndim != 2 or v.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {m.ndim}, {v.ndim}")
    _check_vector(m.shape[0], m.shape[1], v.shape[0])
    kinds = [(vector if base is None else base).dtype, matrix.dtype, vector.dtype]
    if len(set(kinds)) > 1:
        names = [kind.scalar for kind in kinds]
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {names[0]}, {names[1]}, "
            f"and {names[2]}"
        )
    _refuse_bools("addmv_impl_cpu", matrix, vector)
    return multiply(m, v)


@op()
def mv(input: Tensor, vec: Tensor, *, out: Out = None) -> Tensor:
    """Return the product of a matrix and a vector."""
    return delivered(wrap(apply(input, vec, out)), out)


@op(f"vdot(Tensor input, Tensor other, *, {OUT})")
@op(more=OUT)
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Return the sum of the products of two vectors' elements."""
    x, y = input.array, tensor.array
    if x.ndim != 1 or y.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {x.ndim}D and {y.ndim}D tensors")
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {input.dtype.scalar} and "
            f"{tensor.dtype.scalar}"
        )
    if x.shape != y.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {listed(x.shape)} and src "
            f"{listed(y.shape)} to have the same number of elements, but got {x.size} and {y.size} "
            f"elements respectively"
        )
    check_types("dot", NUMBERS, x.dtype)
    return wrap(multiply(x, y))


@op(more=OUT)
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the products of the matrices of two batches."""
    return wrap(batch_product(input, mat2))


def batch_product(a: Tensor, b: Tensor, kernel: str = "bmm") -> Array:
    """Return the products of the matrices of two batches. Raises RuntimeError for what has none."""
    x, y = a.array, b.array
    for position, array in enumerate((x, y)):
        if array.ndim != 3:
            raise RuntimeError(f"batch{position + 1} must be a 3D tensor")
    _check_second(x.shape[::2], y.shape[:2])
    return _multiplied(a, b, kernel)


def _multiplied(a: Tensor, b: Tensor, kernel: str = "bmm") -> Array:
    """Return the products of matrices whose sizes fit. Raises errors for their types."""
    _refuse_bools(kernel, a, b)
    check_scalars(a, b)
    return multiply(a.array, b.array)


@op(name="matmul linalg_matmul", more=OUT)
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Return the product of vectors, matrices, or batches of matrices that are broadcast."""
    x, y = input.array, other.array
    if x.ndim == 2 == y.ndim:
        if x.dtype is y.dtype and x.shape[1] == y.shape[0] and x.dtype.char in "fd":
            return wrap(quietly.run(np.matmul, x, y))
    if not x.ndim or not y.ndim:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {x.ndim}D and {y.ndim}D"
        )
    if x.ndim == 1 == y.ndim:
        return dot(input, other)
    if y.ndim <= 2:  # the matrices of all batches are rows of one
        flat = wrap(x.reshape(prod(x.shape[:-1]), x.shape[-1]))
        product = apply(flat, other) if y.ndim == 1 else matrix_product("mm", flat, other)
        return wrap(product.reshape(x.shape[:-1] + y.shape[1:]))
    _check_batches(x, y)
    return wrap(_multiplied(input, other))


def _check_batches(x: Array, y: Array) -> None:
    """Raise RuntimeError where batches of matrices, or a vector and such, cannot be multiplied."""
    if x.ndim == 1:
        count = prod(y.shape) // max(y.shape[-2], 1)
        _check_vector(count, y.shape[-2], x.shape[0])
        return
    count = prod(broadcast(x.shape[:-2], y.shape[:-2]))
    _check_second((count, x.shape[-1]), (count, y.shape[-2]))


def _check_second(expected: Shape, sizes: Shape) -> None:
    if expected != sizes:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {listed(expected)} "
            f"but got: {listed(sizes)}."
        )


def _forward(self: Tensor, other: Any) -> Any:
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


setattr(Tensor, "__matmul__", _forward)  # noqa: B010 (mypy refuses an assignment)


# -- outer products and relatives


def vectors(name: str, a: Tensor, b: Tensor, first: str, second: str) -> tuple[Array, Array]:
    """Return two vectors in their common type. Raises RuntimeError for other dimensions."""
    for tensor, what in ((a, first), (b, second)):
        if tensor.array.ndim != 1:
            raise RuntimeError(
                f"{name}: Expected 1-D argument {what}, but got {tensor.array.ndim}-D"
            )
    kind = result_type(a, b).numpy
    return cast(a.array, kind), cast(b.array, kind)


@op(name="outer ger", more=OUT)
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Return the products of all pairs of two vectors' elements."""
    x, y = vectors("outer", input, vec2, "self", "vec2")
    return wrap(quietly.run(np.multiply, x[:, None], y))


@op(more=OUT)
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Return the sums of products along the last dimensions of both."""
    kind = result_type(input, other).numpy
    x, y = cast(input.array, kind), cast(other.array, kind)
    if x.ndim and y.ndim:
        _check_one_type(input, other)
        _refuse_bools("addmm_impl_cpu_", input, other)
        wrong = "inner() the last dimension must match on both input tensors, got shapes {} and {}"
        require(x.shape[-1] == y.shape[-1], wrong, listed(x.shape), listed(y.shape))
    return wrap(quietly.run(np.inner, x, y))


@op(more=OUT)
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product: each element of the first times all of the second."""
    kind = result_type(input, other).numpy
    return wrap(np.asarray(np.kron(cast(input.array, kind), cast(other.array, kind)), kind))


@op()
def trace(input: Tensor) -> Tensor:
    """Return the sum of a matrix's diagonal."""
    array = input.array
    check_types("trace", NUMBERS, array.dtype)
    require(array.ndim == 2, "trace: expected a matrix, but got tensor with dim {}", array.ndim)
    return wrap(np.trace(array, dtype=None if array.dtype.kind == "f" else np.int64))


# -- any dimensions


@functional
def einsum(equation: str, *operands: Any) -> Tensor:
    """Return sums of products that an equation tells by letters: ``einsum('ij,jk->ik', a, b)``."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    return _contract(equation, list(as_tensors(operands)))


def _contract(equation: str, operands: list[Any]) -> Tensor:
    """Return the sums of products over the letters that an equation's right side lacks.

    Raises RuntimeError, in PyTorch's words, for operands that do not fit the equation.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    output = right if arrow else _free_letters(terms)
    if len(terms) != len(operands):
        few = "fewer" if len(operands) < len(terms) else "more"
        raise RuntimeError(f"einsum(): {few} operands were provided than specified in the equation")
    kind = _type_of_sums(terms, output, operands).numpy
    arrays = [cast(operand.array, kind) for operand in operands]
    wide = [a.astype(np.float32) if kind == np.float16 else a for a in arrays]
    try:
        with np.errstate(all="ignore"):
            sums = np.einsum(f"{left}->{output}", *wide, optimize=len(wide) > 1)
    except ValueError:
        shapes = ", ".join(listed(array.shape) for array in arrays)
        raise RuntimeError(
            f"einsum(): operands of the shapes {shapes} do not fit the equation '{equation}'"
        ) from None
    return wrap(np.array(cast(np.asarray(sums), kind)))


def _type_of_sums(terms: list[str], right: str, operands: list[Any]) -> Any:
    """Return the result's type. Raises an error for products of bools or of several types.

    The sums of a single operand's whole numbers are of int64, as those of `sum` are.
    """
    kind = result_type(*operands)
    summed = set("".join(terms)) - set(right) - {"."}
    if len(terms) == 1:
        return int64 if summed and kind.category < Category.FLOAT else kind
    if any(sum(letter in term for term in terms) > 1 for letter in summed):
        check_scalars(operands[0], operands[1])
        check_types("bmm", NUMBERS, kind.numpy)
    return kind


def check_scalars(a: Tensor, b: Tensor) -> None:
    """Raise RuntimeError where two tensors that are to have one type have two."""
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected scalar type {a.dtype.scalar} but found {b.dtype.scalar}")


def _free_letters(terms: list[str]) -> str:
    """Return the implicit right side of an equation: the letters that stand once, in order."""
    text = "".join(terms)
    letters = sorted({c for c in text if c.isalpha() and text.count(c) == 1})
    return ("..." if "..." in text else "") + "".join(letters)


@functional
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Out = None) -> Tensor:
    """Return sums of products over dimensions of both: the last of one and the first of the other.

    dims: how many, or a list of dimensions for each.
    """
    if isinstance(dims, int):
        require(dims >= 0, "tensordot expects dims >= 0, but got dims={}", dims)
        if dims > min(a.array.ndim, b.array.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        pairs: Any = list(range(-dims, 0)), list(range(dims))
    else:
        pairs = dims.array.tolist() if isinstance(dims, Tensor) else dims
    first, second = ([d] if isinstance(d, int) else list(d) for d in pairs)
    _check_one_type(a, b)
    x, y = a.array, b.array
    axes = wrap_dims(first, x.ndim), wrap_dims(second, y.ndim)
    sizes = [[array.shape[dim] for dim in dims] for array, dims in zip((x, y), axes, strict=True)]
    wrong = "contracted dimensions need to match, but the first have the sizes {}, the second {}"
    require(sizes[0] == sizes[1], wrong, *sizes)
    _refuse_bools("addmm_impl_cpu_", a, b)
    with np.errstate(all="ignore"):
        return give(np.tensordot(x, y, axes), out)


def _check_one_type(a: Tensor, b: Tensor) -> None:
    require(a.dtype is b.dtype, "both inputs should have same dtype")
