"""Windows of signals; and of Fourier transforms the frequencies, which need no complex numbers.

PyTorch's documentation: torch, Spectral Ops; torch.fft.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.core.dtypes import Array
from runtime.pytorch.base.dtypes import default_dtype
from runtime.pytorch.base.dtypes import dtype as DType
from runtime.pytorch.base.require import require
from runtime.pytorch.base.shapes import wrap_dim
from runtime.pytorch.calls.schema import NEW, OUT, IntsOrOne, Kind, Out
from runtime.pytorch.calls.table import op
from runtime.pytorch.compute.formulas import EXACT
from runtime.pytorch.compute.sums import give
from runtime.pytorch.ops.arithmetic import multiply
from runtime.pytorch.ops.creation import check_sizes, type_for
from runtime.pytorch.ops.rearranging import roll
from runtime.pytorch.tensors.tensor import Tensor, wrap

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


# -- frequencies


_MORE = f"{OUT}, torch.dtype dtype = None, {NEW}"


@op(f"fft_fftfreq(int n, float d = 1, *, {_MORE})")
def fftfreq(n: int, d: float = 1.0, *, dtype: Kind = None, out: Out = None) -> Tensor:
    """The frequencies of a transform of n numbers at distances d, the negative ones behind."""
    return _counted("fftfreq", n, n // 2, n * d, type_for(dtype, out), out)


@op(f"fft_rfftfreq(int n, float d = 1, *, {_MORE})")
def rfftfreq(n: int, d: float = 1.0, *, dtype: Kind = None, out: Out = None) -> Tensor:
    """The frequencies of a transform of n real numbers at distances d."""
    return _counted("rfftfreq", int(n / 2) + 1, 0, n * d, type_for(dtype, out), out)


def _counted(name: str, count: int, negative: int, length: float, kind: DType, out: Out) -> Tensor:
    """Whole numbers from 0 on, and then the negative ones, divided by a length."""
    require(kind.is_floating_point, "{} requires a floating point or complex dtype", name)
    require(count >= 0, "Trying to create tensor with negative dimension {}: [{}]", count, count)
    numbers = np.roll(np.arange(-negative, count - negative), -negative)
    with np.errstate(all="ignore"):
        parts = [wrap(x.astype(kind.numpy)) for x in (numbers, np.float64(1) / length)]
        return give(multiply(*parts), out)


@op("fft_fftshift(Tensor input, tuple of ints[1] dim = None)")
def fftshift(input: Tensor, dim: IntsOrOne | None = None) -> Tensor:
    """The elements in the order of their frequencies, the negative ones first."""
    return _moved(input, dim, 0)


@op("fft_ifftshift(Tensor input, tuple of ints[1] dim = None)")
def ifftshift(input: Tensor, dim: IntsOrOne | None = None) -> Tensor:
    """What `fftshift` has moved, in the order of before."""
    return _moved(input, dim, 1)


def _moved(input: Tensor, dim: IntsOrOne | None, more: int) -> Tensor:
    dims = range(len(input.sizes)) if dim is None else (dim,) if isinstance(dim, int) else dim
    sizes = [input.sizes[wrap_dim(one, len(input.sizes), takes_scalar=False)] for one in dims]
    return roll(input, [(size + more) // 2 for size in sizes], tuple(dims))
