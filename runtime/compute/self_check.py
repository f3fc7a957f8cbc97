"""Checks that C functions which are called by their addresses compute what numpy computes.

An address may lead to another function than the one meant: a later numpy may lay out its objects
otherwise, and a library may pass its arguments otherwise. So each function is tried once, before
its first use, on a few numbers. They are such that no result is rounded: libraries may add up in
any order. Among them are nan, infinities and both zeros; elements lie one after the other and
two apart.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.process import note

# Each operand starts three numbers further on: -0.0 meets itself.
_NUMBERS = (1.5, -0.0, np.nan, np.inf, -0.0, -2.25, 0.0, -np.inf, 3.0, 0.25, -7.0, 64.0)
_WHOLE = (1, 2, 3, 5, 7, 11, 13, 100, 4, 9, 6, 8)
_FINITE = (1.5, 2.0, -0.5, 4.0, -3.0, 0.25, 8.0, -1.0, 0.5, 6.0, -2.0, 3.0)

_COUNT = len(_NUMBERS)
_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_ssize_t
_LOOP = ctypes.CFUNCTYPE(None, _POINTER, _POINTER, _POINTER, _POINTER)


def is_right(what: str, check: Callable[..., bool], *args: Any) -> bool:
    """Return the result of a check. If it fails, a line for TH_DEBUG names the function."""
    with np.errstate(all="ignore"):
        right = check(*args)
    if not right:
        note(f"{what} is done without: it does not compute what numpy does")
    return right


def same(a: Array, b: Array) -> bool:
    """Tell whether numbers are the same, signs of zeros too; any nan is the same as any other."""
    equal = (a == b) & (np.signbit(a) == np.signbit(b))
    return bool((equal | (np.isnan(a) & np.isnan(b))).all())


# -- numpy's inner loops


def loop_is_right(ufunc: np.ufunc, signature: str, function: int, data: int) -> bool:
    """Tell whether an inner loop computes a ufunc, or a row times a column for matmul."""
    run = _LOOP(function)
    kinds, _, result = signature.partition("->")
    if ufunc.signature is not None:
        return all(_product_is_right(run, data, np.array(x, result)) for x in (_FINITE, _NUMBERS))
    for step in (1, 2):
        inputs = [_operand(kind, k, step) for k, kind in enumerate(kinds)]
        expected, results = (np.zeros(_COUNT * step, result)[::step] for _ in range(2))
        ufunc(*inputs, out=expected)
        arrays = [*inputs, results]
        _call_loop(run, arrays, [_COUNT], [x.strides[0] for x in arrays], data)
        if expected.tobytes() != results.tobytes():
            return False
    return True


def _operand(kind: str, k: int, step: int) -> Array:
    numbers = _NUMBERS if kind in "efdg" else _WHOLE
    array = np.zeros(_COUNT * step, kind)[::step]
    array[...] = numbers[3 * k :] + numbers[: 3 * k]
    return array


def _product_is_right(run: Any, data: int, a: Array) -> bool:
    b, result = np.roll(a, 3), np.zeros(1, a.dtype)
    steps = [0, 0, 0, 0, a.itemsize, b.itemsize, 0, 0, 0]  # as lua/tensor/formulas.lua has them
    _call_loop(run, [a, b, result], [1, 1, len(a), 1], steps, data)
    return same(result, np.matmul(a.reshape(1, -1), b.reshape(-1, 1))[0])


def _call_loop(
    run: Any, arrays: list[Array], sizes: list[int], steps: list[int], data: int
) -> None:
    operands = (_POINTER * len(arrays))(*[x.ctypes.data for x in arrays])
    run(operands, (_SIZE * len(sizes))(*sizes), (_SIZE * len(steps))(*steps), data)


def sort_is_right(function: int, last: int) -> bool:
    """Tell whether a function sorts doubles of which no two are equal."""
    run = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, _SIZE, _POINTER)(function)
    for count in (1, 2, 7, 100, 1000):
        numbers = np.arange(count, dtype=np.float64) * 7919 % 1009 - 500
        sorted_numbers = numbers.copy()
        if (
            run(sorted_numbers.ctypes.data, count, last) != 0
            or (sorted_numbers != np.sort(numbers)).any()
        ):
            return False
    return True


# -- BLAS and LAPACK, for floats of a number of bytes


def conversion_is_right(widens: bool, function: int) -> bool:
    """Tell whether a function copies floats as doubles, or back, as numpy does."""
    kinds = (np.float32, np.float64) if widens else (np.float64, np.float32)
    # Each has room for doubles: the function may be the one that copies the other way.
    numbers, converted = (np.zeros(_COUNT).view(kind)[:_COUNT] for kind in kinds)
    numbers[...] = _NUMBERS
    if not widens:
        numbers[np.isinf(numbers)] = 1e-42
    cells = np.array([_COUNT, 1, 0], np.int64)
    count, columns, too_large = cells[:1], cells[1:2], cells[2:]
    call_fortran(function, count, columns, numbers, count, converted, count, too_large)
    return not cells[2] and converted.tobytes() == numbers.astype(kinds[1]).tobytes()


def blas_is_right(name: str, itemsize: int, function: int) -> bool:
    """Tell whether a function does what BLAS's or LAPACK's of that name does."""
    return _CHECKS[name](function, np.dtype(f"f{itemsize}"))


def as_pointer(value: Any) -> Any:
    """An argument as Fortran takes it: the address of the value; bytes are an address in C."""
    if isinstance(value, np.ndarray):
        return value.ctypes.data
    return ctypes.byref(ctypes.c_int64(value)) if isinstance(value, int) else value


def call_fortran(function: int, *args: Any, result: Any = None) -> Any:
    """Call a function with addresses of arrays, whole numbers and bytes."""
    prototype = ctypes.CFUNCTYPE(result, *[_POINTER] * len(args))
    return prototype(function)(*map(as_pointer, args))


def _axpy_is_right(function: int, dtype: Any) -> bool:
    x, factor = np.array(_NUMBERS, dtype), np.array(0.5, dtype)
    r = np.roll(x, 3)
    for step in (1, 2):
        result, count = r.copy(), -(-_COUNT // step)
        expected = r.copy()
        expected[::step] += factor * x[::step]
        call_fortran(function, count, factor, x, step, result, step)
        if not same(result, expected):
            return False
    return True


def _gemv_is_right(function: int, dtype: Any) -> bool:
    rows, columns = 6, 5
    matrix = np.resize(np.array(_FINITE, dtype), (rows, columns))
    matrix[1, 2], matrix[3, 4], matrix[4, 0] = np.nan, np.inf, -np.inf
    vector = np.array(_FINITE[:columns], dtype)
    unit, nothing = np.array(1, dtype), np.array(0, dtype)
    for kind, m in ((b"T", np.ascontiguousarray(matrix)), (b"N", np.asfortranarray(matrix))):
        result = np.full(rows, np.nan, dtype)  # what was there does not count
        sizes = (columns, rows) if kind == b"T" else (rows, columns)
        operands = unit, m, sizes[0], vector, 1
        call_fortran(function, kind, *sizes, *operands, nothing, result, 1)
        if not same(result, np.matmul(matrix, vector)):
            return False
    return True


def _asum_is_right(function: int, dtype: Any) -> bool:
    result = ctypes.c_float if dtype.itemsize == 4 else ctypes.c_double

    def total(x: Array) -> float:
        return float(call_fortran(function, len(x), x, 1, result=result))

    numbers = np.resize(np.array(_FINITE, dtype), 5 * _COUNT)
    right = total(numbers) == np.abs(numbers).sum()
    for at in range(len(numbers)):  # none is passed over
        for special in (np.nan, -np.inf):
            negated = numbers.copy()
            negated[at] = special
            right &= not np.isfinite(total(negated))
    return bool(right)


def _gemm_is_right(function: int, dtype: Any) -> bool:
    m, n, k = 2, 3, 4
    a, b = (
        np.resize(np.roll(np.array(_FINITE, dtype), i), s) for i, s in ((0, (m, k)), (3, (k, n)))
    )
    a[1, 2], b[0, 1] = np.nan, np.inf
    factor, unit = np.array(0.5, dtype), np.array(1, dtype)
    for kind_a, kind_b in ((b"N", b"N"), (b"T", b"N"), (b"N", b"T"), (b"T", b"T")):
        stored = [
            np.ascontiguousarray(x.T) if t == b"N" else x for t, x in ((kind_a, a), (kind_b, b))
        ]
        result = np.resize(np.array(_FINITE, dtype), (n, m))  # by columns, as all matrices here
        expected = np.matmul(a, b) * factor + result.T
        left, two = ((x, x.shape[1]) for x in stored)
        call_fortran(function, kind_a, kind_b, m, n, k, factor, *left, *two, unit, result, m)
        if not same(result.T, expected):
            return False
    return True


def _getrs_is_right(function: int, dtype: Any) -> bool:
    factors = np.array([[2, 1, -4], [0.5, 4, 2], [-0.25, 0.5, 0.5]], dtype, order="F")
    pivots = np.array([2, 3, 3], np.int32)  # rows 1 and 2 change places, then 2 and 3
    lower, upper = np.tril(factors, -1) + np.eye(3, dtype=dtype), np.triu(factors)
    matrix = (lower @ upper)[[2, 0, 1]]
    solution, code = np.asfortranarray(np.eye(3, dtype=dtype)), np.array([-1], np.int32)
    call_fortran(function, b"N", 3, 3, factors, 3, pivots, solution, 3, code)
    return not code[0] and bool((matrix @ solution == np.eye(3)).all())


_CHECKS = {
    "asum": _asum_is_right,
    "axpy": _axpy_is_right,
    "gemm": _gemm_is_right,
    "gemv": _gemv_is_right,
    "getrs": _getrs_is_right,
}
