"""Windows of signals. PyTorch's documentation: torch, Spectral Ops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.dtypes import default_dtype
from runtime.pytorch.base.dtypes import dtype as DType
from runtime.pytorch.calls.schema import NEW
from runtime.pytorch.calls.table import op
from runtime.pytorch.compute.formulas import EXACT
from runtime.pytorch.ops.creation import check_sizes
from runtime.pytorch.tensors.tensor import Tensor, wrap

_OPTIONS = f"*, torch.dtype dtype = None, {NEW}"
_cos = EXACT[np.cos]


def _window(
    name: str, length: int, periodic: bool, dtype: DType | None, compute: Callable[..., Array]
) -> Tensor:
    """A window. compute: gets 0, 1 … and the last of these; a periodic window has one more."""
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
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


def _kaiser(beta: float) -> Callable[[Array, int], Array]:
    def compute(at: Array, last: int) -> Array:
        from scipy.special import i0  # loaded at the first use

        x = at.astype(np.float64) * (2 / last) - 1
        found: Array = i0(beta * np.sqrt(np.maximum(0, 1 - x * x))) / i0(beta)
        return found.astype(at.dtype)

    return compute


for _name, _compute in (
    ("hann", _raised(0.5, 0.5)),
    ("bartlett", _bartlett),
    ("blackman", _blackman),
):

    @op(
        f"{_name}_window(int window_length, {_OPTIONS})",
        f"{_name}_window(int window_length, bool periodic, {_OPTIONS})",
    )
    def window(
        window_length: int,
        periodic: bool = True,
        *,
        dtype: Any = None,
        name: str = f"{_name}_window",
        compute: Any = _compute,
    ) -> Tensor:
        """A window of this name; a periodic one is the first part of one that is symmetric."""
        return _window(name, window_length, periodic, dtype, compute)


@op(
    f"hamming_window(int window_length, {_OPTIONS})",
    f"hamming_window(int window_length, bool periodic, {_OPTIONS})",
    f"hamming_window(int window_length, bool periodic, float alpha, {_OPTIONS})",
    f"hamming_window(int window_length, bool periodic, float alpha, float beta, {_OPTIONS})",
)
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
) -> Tensor:
    """Hamming's window: ``alpha - beta * cos(2 * pi * n / (window_length - 1))``."""
    return _window("hamming_window", window_length, periodic, dtype, _raised(alpha, beta))


@op(
    f"kaiser_window(int window_length, {_OPTIONS})",
    f"kaiser_window(int window_length, bool periodic, {_OPTIONS})",
    f"kaiser_window(int window_length, bool periodic, float beta, {_OPTIONS})",
)
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None
) -> Tensor:
    """Kaiser's window, of the Bessel function of order 0; beta tells how narrow it is."""
    return _window("kaiser_window", window_length, periodic, dtype, _kaiser(beta))
