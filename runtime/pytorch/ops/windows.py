"""Windows of signals. PyTorch's documentation: torch, Spectral Ops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import default_dtype
from th_shell.torch.base.dtypes import dtype as DType
from th_shell.torch.base.require import require
from th_shell.torch.calls.schema import NEW
from th_shell.torch.calls.table import op
from th_shell.torch.compute.formulas import EXACT
from th_shell.torch.ops.creation import check_sizes
from th_shell.torch.tensors.tensor import Tensor, wrap

_OPTIONS = f"*, torch.dtype dtype = None, {NEW}"
_cos = EXACT[np.cos]


def _window(
    name: str, length: int, periodic: bool, dtype: DType | None, compute: Callable[..., Array]
) -> Tensor:
    """A window. compute: gets 0, 1 … and the last of these; a periodic window has one more."""
    require(
        length >= 0, "{} requires non-negative window_length, got window_length={}", name, length
    )
    kind = dtype or default_dtype()
    if not kind.is_floating_point:
        raise RuntimeError(
            f"{name} expects floating point dtypes, got: TensorOptions(dtype={kind.real}, "
            f"device=cpu, layout=Strided (default), requires_grad=false (default), "
            f"pinned_memory=false, memory_format=(nullopt))"
        )
    if length < 2:
        return wrap(np.ones(length, kind.numpy))
    last = length - 1 + periodic
    check_sizes((last,))
    return wrap(compute(np.arange(last + 1).astype(kind.numpy), last)[:length])


def _raised(alpha: float, beta: float) -> Callable[[Array, int], Array]:
    """alpha - beta cos(2 pi at / last)."""

    def compute(at: Array, last: int) -> Array:
        kind = at.dtype.type
        found: Array = _cos(at * kind(2 * math.pi / last)) * kind(-beta) + kind(alpha)
        return found

    return compute


def _bartlett(at: Array, last: int) -> Array:
    rising = at * at.dtype.type(2 / last)
    falling = at.dtype.type(2) - rising
    return np.asarray(np.where(np.arange(len(at)) <= last // 2, rising, falling))


def _blackman(at: Array, last: int) -> Array:
    kind = at.dtype.type
    angle = at * kind(math.pi / last)
    waves = [_cos(angle * kind(n)) * kind(size) for n, size in ((4, 0.08), (2, 0.5))]
    found: Array = waves[0] - waves[1] + kind(0.42)
    return found


def _kaiser(beta: float = 12.0) -> Callable[[Array, int], Array]:
    def compute(at: Array, last: int) -> Array:
        from scipy.special import i0  # loaded at the first use

        x = at.astype(np.float64) * (2 / last) - 1
        found: Array = i0(beta * np.sqrt(np.maximum(0, 1 - x * x))) / i0(beta)
        return found.astype(at.dtype)

    return compute


def _register(name: str, form: Callable[..., Callable[[Array, int], Array]], *numbers: str) -> None:
    """Register a window by its signatures. numbers: those that may tell more of its form.

    form: makes of them what computes the window.
    """
    known = ["int window_length", "bool periodic", *(f"float {number}" for number in numbers)]
    texts = [", ".join([*known[: n + 1], _OPTIONS]) for n in range(len(known))]

    @op(*[f"{name}_window({text})" for text in texts])
    def window(
        window_length: int, periodic: bool = True, *given: float, dtype: Any = None, **named: float
    ) -> Tensor:
        compute = form(*given, **named)
        return _window(f"{name}_window", window_length, periodic, dtype, compute)

    window.__doc__ = f"A {name} window; a periodic one is the first part of a symmetric one."


_register("hann", lambda: _raised(0.5, 0.5))
_register("hamming", lambda alpha=0.54, beta=0.46: _raised(alpha, beta), "alpha", "beta")
_register("bartlett", lambda: _bartlett)
_register("blackman", lambda: _blackman)
_register("kaiser", _kaiser, "beta")
