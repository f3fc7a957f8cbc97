"""Tensors of numbers in equal steps, and the unit matrix. PyTorch's documentation: Creation Ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from th_shell.runtime.compute.bulk import write_steps
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import Category, default_dtype, dtype, int64
from th_shell.torch.base.quiet import calmly
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import listed
from th_shell.torch.base.warn import warn
from th_shell.torch.calls.schema import NEW, OUT, Kind, Number, Out
from th_shell.torch.calls.table import op
from th_shell.torch.compute.elementwise import ALL, NUMBERS, check_types
from th_shell.torch.compute.promotion import number_as
from th_shell.torch.compute.reductions import give
from th_shell.torch.ops.creation import check_sizes, fill_number, type_for
from th_shell.torch.tensors.large_arrays import empty_tensor, threads
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast

_OPTIONS = f"torch.dtype dtype = None, {NEW}"
_WITH_OUT = f"{OUT}, {_OPTIONS}"


def _check_bounds(start: Any, end: Any, step: Any) -> None:
    require(step != 0, "step must be nonzero")
    if not math.isfinite(step):
        raise RuntimeError(f"step must be finite but got {_shown(step)}")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {_shown(start)} -> {_shown(end)}")
    if (end - start) * (1 if step > 0 else -1) < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def _shown(number: Any) -> str:
    return f"{number:.6g}"


@op(
    f"arange(Number end, *, {_WITH_OUT})",
    f"arange(Number start, Number end, *, {_OPTIONS})",
    f"arange(Number start, Number end, Number step = 1, *, {_WITH_OUT})",
)
def arange(
    start: Any = 0, end: Any = None, step: Any = 1, *, out: Out = None, dtype: Kind = None
) -> Tensor:
    """Return the numbers from start on, in steps, that come before end."""
    if end is None:
        start, end = 0, start
    if _is_plain_range(start, end, step) and out is None and dtype is None:
        return wrap(np.arange(start, end, step, dtype=np.int64))
    whole = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    kind = type_for(dtype, out, int64 if whole else default_dtype())
    check_types("arange_cpu", NUMBERS, kind.numpy)
    _check_bounds(start, end, step)
    count = _count(start, end, step, whole and kind is int64)
    if kind.category is Category.INTEGER:
        first, by = (int(number_as(n, np.dtype(np.int64))) for n in (start, step))
        whole_numbers: Any = np.arange(count) * by + first
        return give(whole_numbers.astype(kind.numpy, copy=False), out, warns=False)
    return give(_in_steps(count, kind, float(step), float(start)), out, warns=False)


def _in_steps(count: int, kind: dtype, step: float, start: float, end: Any = None) -> Tensor:
    """Return numbers in equal steps, computed in float64.

    end: the last one, if it is given; then the second half is counted from there.
    """
    if count >= LARGE and kind.numpy.kind == "f" and kind.itemsize >= 4:
        return _shared_steps(count, kind, step, start, end)
    at = np.arange(count, dtype=np.float64)
    if end is not None:
        at[count // 2 :] -= count - 1
    at *= step
    if end is None:
        at += start
    else:
        at[: count // 2] += start
        at[count // 2 :] += end
    return wrap(cast(at, kind.numpy))


def _shared_steps(count: int, kind: dtype, step: float, start: float, end: Any) -> Tensor:
    tensor = empty_tensor((count,), kind.numpy)
    half = count if end is None else count // 2
    with threads.active():
        write_steps(tensor.array[:half], start, step, 0)
        if end is not None:
            write_steps(tensor.array[half:], end, step, count - 1 - half)
    return tensor


def _is_plain_range(start: Any, end: Any, step: Any) -> bool:
    """Tell whether numpy makes the same numbers for sure."""
    if not start.__class__ is end.__class__ is step.__class__ is int or not step:
        return False
    low, high = (start, end) if step > 0 else (end, start)
    return -(2**40) < low <= high < 2**40


def _count(start: Any, end: Any, step: Any, whole: bool) -> int:
    count = (
        -(-(end - start) // step) if whole else math.ceil((float(end) - float(start)) / float(step))
    )
    require(count < 2**63, "invalid size, possible overflow?")
    if count > 2**60:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={listed([count])}")
    return int(count)


@op(name="range", more=NEW.replace("bool pin_memory = False, ", ""))
def range_(
    start: Number, end: Number, step: Number = 1, *, out: Out = None, dtype: Kind = None
) -> Tensor:
    """Return the numbers from start to end in steps; end itself is one, unlike in `arange`."""
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end)."
    )
    kind = type_for(dtype, out)
    _check_bounds(start, end, step)
    check_types("range_cpu", NUMBERS, kind.numpy)
    count = int((end - start) / step) + 1
    if kind.category is Category.INTEGER:
        start, step = (fill_number(n, kind).item() for n in (start, step))
    values = start + np.arange(count) * step
    return give(cast(np.asarray(values), kind.numpy), out)


def _type_of_steps(function: str, steps: int, out: Out, dtype: Kind) -> dtype:
    """Return the type of numbers in equal steps. Raises RuntimeError for a wrong count."""
    kind = type_for(dtype, out)
    require(steps >= 0, "number of steps must be non-negative")
    check_sizes((steps,))
    if steps > 1:
        check_types(f"{function}_cpu", NUMBERS, kind.numpy)
    return kind


@op(f"linspace(Number start, Number end, int steps, *, {_WITH_OUT})")
def linspace(start: Any, end: Any, steps: int, *, out: Out = None, dtype: Kind = None) -> Tensor:
    """Return numbers from start to end in equal steps."""
    kind = _type_of_steps("linspace", steps, out, dtype)
    return give(_between(start, end, steps, kind), out)


def _between(start: Any, end: Any, steps: int, kind: dtype) -> Any:
    """Return equal steps, counted from the nearer end."""
    is_whole = kind.category is Category.INTEGER
    numpy = _STEP_TYPES.get(kind.name, np.dtype(np.float64) if is_whole else kind.numpy)
    first, last = fill_number(start, kind), fill_number(end, kind)
    if steps < 2:
        return np.full(steps, first, kind.numpy)
    if numpy is not kind.numpy:
        first, last = number_as(first.item(), numpy), number_as(last.item(), numpy)
    step = float((last - first) / numpy.type(steps - 1))
    return _in_steps(steps, kind, step, float(first), float(last))


#: The type in which the steps between elements of another one are computed.
_STEP_TYPES = {"float16": np.dtype(np.float32)}


@op(f"logspace(Number start, Number end, int steps, float base = 10.0, *, {_WITH_OUT})")
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, out: Out = None, dtype: Kind = None
) -> Tensor:
    """Return powers of a base, whose exponents go from start to end in equal steps."""
    kind = _type_of_steps("logspace", steps, out, dtype)
    return give(calmly(_powers, start, end, steps, base, kind), out)


def _powers(start: Any, end: Any, steps: int, base: float, kind: dtype) -> Array:
    if steps < 2:
        return cast(np.full(steps, np.power(base, float(start))), kind.numpy)
    is_whole = kind.category is Category.INTEGER
    numpy = np.dtype(np.float32) if is_whole else _STEP_TYPES.get(kind.name, kind.numpy)
    first, last = (number_as(fill_number(n, kind).item(), numpy) for n in (start, end))
    step = (last - first) / numpy.type(steps - 1)
    at = np.arange(steps).astype(numpy)
    if is_whole:
        return cast(np.power(base, first + step * at, dtype=np.float64), kind.numpy)
    exponents = np.where(np.arange(steps) < steps // 2, first + step * at, last - step * at[::-1])
    powers: Array = np.power(base, exponents.astype(np.float64)).astype(kind.numpy)
    return powers


@op(f"eye(int n, *, {_WITH_OUT})", f"eye(int n, int m, *, {_WITH_OUT})")
def eye(n: int, m: int | None = None, *, out: Out = None, dtype: Kind = None) -> Tensor:
    """Return the matrix that is one on its diagonal, zero elsewhere."""
    for name, size in (("n", n), ("m", m)):
        if size is not None and size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    kind = type_for(dtype, out)
    check_types("eye", ALL, kind.numpy)
    return give(np.eye(n, m, dtype=kind.numpy), out)
