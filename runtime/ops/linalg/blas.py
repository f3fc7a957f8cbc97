"""Manual, Math Functions: BLAS operations.

Vectors have 1 dimension, matrices 2 and batches of matrices 3. Sizes that do not fit together
raise TorchError or ArgError.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from th_shell.runtime.calls.table import op, with_destination
from th_shell.runtime.compute.blas_threads import check_room, many_threads
from th_shell.runtime.compute.bulk import add_product, multiply_vector
from th_shell.runtime.compute.thread_pool import LARGE, get_threads
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor, describe
from th_shell.runtime.ops._operands import check_counts, store


@op("dot", method="T T", function="T T", small="linalg/blas.dot")
def dot(a: Tensor, b: Tensor) -> float:
    """The sum of the products of the elements of two tensors with as many elements."""
    if a.sizes != b.sizes:
        check_counts(tensor=a, src=b)
    if not a.dtype.is_float:
        return _whole_dot(a, b)
    return np.dot(a.flat, b.flat).item()  # type: ignore[no-any-return]


def _whole_dot(a: Tensor, b: Tensor) -> int:
    # Torch7: a sum over elements at equal distances in memory wraps as the element type does; the
    # sum of these sums does not.
    products = a.flat * b.flat
    if not products.size:
        return 0
    starts = sorted({at for t in (a, b) for at in range(0, t.nelement, _run(t))})
    sums = np.add.reduceat(products, starts, dtype=products.dtype)
    return int(sums.sum(dtype=np.int64))


def _run(t: Tensor) -> int:
    """Count the elements from the first on that are at equal distances in memory."""
    if t.is_contiguous:
        return t.nelement
    run = t.sizes[-1]
    for d in range(t.ndim - 2, -1, -1):
        if t.strides[d] != t.strides[d + 1] * t.sizes[d + 1]:
            break
        run *= t.sizes[d]
    return run


def _matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """numpy's matmul; large products are computed by several threads."""
    check_room(1)
    # BLAS multiplies a hundred times while others compute an element.
    if b.ndim > 1 and a.size * b.shape[-1] >= 100 * LARGE:
        with many_threads(get_threads()):
            return np.matmul(a, b, out=out)
    if b.ndim == 1 and a.size >= LARGE and a.dtype.kind == "f":
        product = np.empty(len(a), a.dtype) if out is None else out
        shared = np.may_share_memory(product, a) or np.may_share_memory(product, b)
        if not shared and multiply_vector(a, b, product):
            return product
    return np.matmul(a, b, out=out)


# -- sums of products: r = beta * t + alpha * product


def _combine(r: Tensor, beta: float, t: Tensor, alpha: float, product: Array) -> None:
    """r = beta * t + alpha * product; a term with the factor 0 is left out, even if it is nan."""
    if alpha == 0:
        product = np.zeros_like(product)
    elif alpha != 1:
        product = np.multiply(product, alpha)
    if beta == 1 and t.is_set_to(r) and not r.overlaps_itself and product.dtype == r.dtype.numpy:
        np.add(r.array, product, out=r.array)
        return
    if beta != 0:
        scaled = t.array if beta == 1 else np.multiply(t.array, beta)
        product = np.add(scaled, product)
    r.resize(t.sizes)
    r.array[...] = product


def _add_matrices(r: Tensor, beta: float, t: Tensor, alpha: float, a: Array, b: Array) -> None:
    """r = beta * t + alpha * a * b for matrices; by BLAS, which adds up in place, for floats."""
    shared = any(np.may_share_memory(x, r.array) for x in (a, b))
    in_place = t.is_set_to(r) and r.is_contiguous and not shared
    out = r.array if in_place else np.array(t.array, order="C")
    if a.dtype.kind != "f" or not _add_by_blas(out.reshape(len(a), -1), beta, alpha, a, b):
        _combine(r, beta, t, alpha, np.matmul(a, b).reshape(t.sizes))
    elif not in_place:
        r.resize(t.sizes)
        r.array[...] = out


def _add_by_blas(out: Array, beta: float, alpha: float, a: Array, b: Array) -> bool:
    is_large = a.size * b.shape[1] >= 100 * LARGE
    with many_threads(get_threads()) if is_large else nullcontext():
        return add_product(out, beta, alpha, a, b)


def _mismatch(**tensors: Tensor) -> TorchError:
    shapes = ", ".join(f"{name}: {describe(t.sizes)}" for name, t in tensors.items())
    return TorchError(f"size mismatch, {shapes}")


def _check_vector(mat: Tensor, vec: Tensor) -> None:
    if mat.sizes[1] != vec.sizes[0]:
        raise TorchError(f"size mismatch, {describe(mat.sizes)}, {describe(vec.sizes)}")


def _add_product(
    name: str, kinds: str, ndim: int, implementation: Any, *, in_lua: bool = False
) -> None:
    """Add the rows of an operation r = beta * t + alpha * product.

    kinds: those of the factors of the product. ndim: the number of dimensions of t. The call may
    leave out beta and alpha, or alpha. in_lua: whether Lua computes products of few elements.
    """
    t = f"T~{ndim}D"
    small = f"linalg/blas.{name}" if in_lua else None
    without = _without_beta(implementation)
    small_without = f"{small}_without_beta" if in_lua else None
    op(name, f"*{t}* [{t}=1] [real=1] {kinds}", small=small_without)(without)
    op(name, f"*{t}* real [{t}=1] real {kinds}", small=small)(implementation)
    op(name, None, f"[*T*] [real=1] {t} [real=1] {kinds}", small=small)(implementation)


def _without_beta(implementation: Any) -> Any:
    def call(r: Tensor, t: Tensor, alpha: float, a: Tensor, b: Tensor) -> None:
        implementation(r, 1, t, alpha, a, b)

    call.__doc__ = implementation.__doc__
    return call


def addmv(r: Tensor, beta: float, t: Tensor, alpha: float, mat: Tensor, vec: Tensor) -> None:
    """r = beta * t + alpha * mat * vec."""
    _check_vector(mat, vec)
    if t.sizes[0] != mat.sizes[0]:
        raise _mismatch(t=t, mat=mat)
    if mat.nelement >= LARGE:
        _combine(r, beta, t, alpha, _matmul(mat.array, vec.array))
    else:
        _add_matrices(r, beta, t, alpha, mat.array, vec.array[:, None])


def addmm(r: Tensor, beta: float, t: Tensor, alpha: float, m1: Tensor, m2: Tensor) -> None:
    """r = beta * t + alpha * m1 * m2."""
    _check_factors(m1, m2)
    if t.sizes != (m1.sizes[0], m2.sizes[1]):
        raise _mismatch(t=t, m1=m1, m2=m2)
    _add_matrices(r, beta, t, alpha, m1.array, m2.array)


def _check_factors(m1: Tensor, m2: Tensor) -> None:
    if m1.sizes[1] != m2.sizes[0]:
        raise _mismatch(m1=m1, m2=m2)


def addr(r: Tensor, beta: float, t: Tensor, alpha: float, vec1: Tensor, vec2: Tensor) -> None:
    """r = beta * t + alpha * the outer product of two vectors."""
    if t.sizes != (vec1.sizes[0], vec2.sizes[0]):
        raise _mismatch(t=t, vec1=vec1, vec2=vec2)
    _add_matrices(r, beta, t, alpha, vec1.array[:, None], vec2.array[None])


def _check_batches(t: Tensor, sizes: tuple[int, ...], b1: Tensor, b2: Tensor) -> None:
    if b1.sizes[0] != b2.sizes[0]:
        message = f"equal number of batches expected, got {b1.sizes[0]}, {b2.sizes[0]}"
        raise ArgError(2, message)
    if b1.sizes[2] != b2.sizes[1]:
        first_sizes, two = (f"{b.sizes[1]}x{b.sizes[2]}" for b in (b1, b2))
        raise ArgError(2, f"wrong matrix size, batch1: {first_sizes}, batch2: {two}")
    _check_batch_result(t, sizes)


def _check_batch_result(t: Tensor, sizes: tuple[int, ...]) -> None:
    for d, size in enumerate(sizes):
        if d >= t.ndim:
            raise ArgError(2, f"dimension {d + 1} out of range of {t.ndim}D tensor")
        if t.sizes[d] != size:
            raise ArgError(1, "output tensor of incorrect size")
    if t.ndim > len(sizes):
        raise TorchError(f"matrix expected, got {t.ndim - 1}D tensor for t")


def addbmm(r: Tensor, beta: float, t: Tensor, alpha: float, b1: Tensor, b2: Tensor) -> None:
    """r = beta * t + alpha * the sum of the products of two batches of matrices."""
    _check_batches(t, (b1.sizes[1], b2.sizes[2]), b1, b2)
    product = _matmul(b1.array, b2.array).sum(axis=0, dtype=t.array.dtype)
    _combine(r, beta, t, alpha, product)


def baddbmm(r: Tensor, beta: float, t: Tensor, alpha: float, b1: Tensor, b2: Tensor) -> None:
    """r = beta * t + alpha * the products of two batches of matrices."""
    _check_batches(t, (b1.sizes[0], b1.sizes[1], b2.sizes[2]), b1, b2)
    _combine(r, beta, t, alpha, _matmul(b1.array, b2.array))


_add_product("addmv", "T~2D T~1D", 1, addmv, in_lua=True)
_add_product("addmm", "T~2D T~2D", 2, addmm, in_lua=True)
_add_product("addr", "T~1D T~1D", 2, addr, in_lua=True)
_add_product("addbmm", "T~3D T~3D", 2, addbmm)
_add_product("baddbmm", "T~3D T~3D", 3, baddbmm)


# -- products
#
# Torch7: a destination that the call passes is not resized: it must have the result's sizes. The
# functions `_new_…` are for calls without a destination; they give a new one these sizes.


def _multiply_into(r: Tensor, a: Tensor, b: Tensor) -> None:
    """r = a * b; a copy of the product is made only where r shares elements with a, b or itself."""
    if r.storage is a.storage or r.storage is b.storage or r.overlaps_itself:
        store(r, _matmul(a.array, b.array))
    else:
        _matmul(a.array, b.array, out=r.array)


def _new_mv(r: Tensor, mat: Tensor, vec: Tensor) -> None:
    _check_vector(mat, vec)
    r.resize(mat.sizes[:1])
    _matmul(mat.array, vec.array, out=r.array)


@op("mv", *with_destination("*T* T~2D T~1D"), fresh=_new_mv, small="linalg/blas.mv")
def mv(r: Tensor, mat: Tensor, vec: Tensor) -> None:
    """r = mat * vec."""
    _check_vector(mat, vec)
    if r.ndim != 1:
        raise TorchError(f"vector expected, got t: {r.ndim}D")
    if r.sizes[0] != mat.sizes[0]:
        raise _mismatch(t=r, mat=mat)
    _multiply_into(r, mat, vec)


def _new_mm(r: Tensor, m1: Tensor, m2: Tensor) -> None:
    _check_factors(m1, m2)
    r.resize((m1.sizes[0], m2.sizes[1]))
    _matmul(m1.array, m2.array, out=r.array)


@op("mm", *with_destination("*T* T~2D T~2D"), fresh=_new_mm, small="linalg/blas.mm")
def mm(r: Tensor, m1: Tensor, m2: Tensor) -> None:
    """r = m1 * m2."""
    _check_factors(m1, m2)
    if r.ndim != 2:
        raise TorchError(f"matrix expected, got {r.ndim}D tensor for t")
    if r.sizes != (m1.sizes[0], m2.sizes[1]):
        raise _mismatch(t=r, m1=m1, m2=m2)
    _multiply_into(r, m1, m2)


def _new_ger(r: Tensor, vec1: Tensor, vec2: Tensor) -> None:
    r.resize((vec1.sizes[0], vec2.sizes[0]))
    ger(r, vec1, vec2)


@op("ger", *with_destination("*T* T~1D T~1D"), fresh=_new_ger, small="linalg/blas.ger")
def ger(r: Tensor, vec1: Tensor, vec2: Tensor) -> None:
    """r = the outer product of two vectors."""
    if r.ndim != 2:
        raise TorchError(f"expected matrix, got {r.ndim}D tensor for t")
    if r.sizes != vec1.sizes + vec2.sizes:
        raise _mismatch(t=r, vec1=vec1, vec2=vec2)
    store(r, np.outer(vec1.array, vec2.array))


def _new_bmm(r: Tensor, b1: Tensor, b2: Tensor) -> None:
    r.resize((b1.sizes[0], b1.sizes[1], b2.sizes[2]))
    bmm(r, b1, b2)


@op("bmm", *with_destination("*T* T~3D T~3D"), fresh=_new_bmm)
def bmm(r: Tensor, b1: Tensor, b2: Tensor) -> None:
    """r = the products of two batches of matrices."""
    _check_batches(r, (b1.sizes[0], b1.sizes[1], b2.sizes[2]), b1, b2)
    _multiply_into(r, b1, b2)


@op("match", *with_destination("*T* T T [real=1]"))
def match(r: Tensor, m1: Tensor, m2: Tensor, gain: float) -> None:
    """r[i][j] = gain * the squared distance between row i of m1 and row j of m2."""
    if not m1.sizes or not m2.sizes:
        raise ArgError(1 if not m1.sizes else 2, "empty tensor")
    a, b = m1.flat.reshape(m1.sizes[0], -1), m2.flat.reshape(m2.sizes[0], -1)
    if a.shape[1] != b.shape[1]:
        raise ArgError(3, "m1 and m2 must have the same inner vector dim")
    result = np.empty((len(a), len(b)), a.dtype)
    for i, row in enumerate(a):
        difference = row - b
        result[i] = np.einsum("ij,ij->i", difference, difference)
    store(r, np.multiply(result, gain))


def multiply(a: Tensor, b: Tensor) -> Tensor | float:
    """a * b of two vectors (a number), a matrix and a vector, or two matrices."""
    result = type(a)()
    if (a.ndim, b.ndim) == (1, 1):
        return dot(a, b)
    if (a.ndim, b.ndim) == (2, 1):
        _new_mv(result, a, b)
    elif (a.ndim, b.ndim) == (2, 2):
        _new_mm(result, a, b)
    else:
        message = f"multiplication between {a.ndim}D and {b.ndim}D tensors not yet supported"
        raise TorchError(message)
    return result


@op("trace", method="T", function="T", small="reduce.trace")
def trace(t: Tensor) -> float:
    """The sum of the elements on the diagonal of a matrix."""
    if t.ndim != 2:
        raise ArgError(1, "expected a matrix")
    return np.trace(t.array, dtype=np.float64 if t.dtype.is_float else np.int64).item()  # type: ignore[no-any-return]
