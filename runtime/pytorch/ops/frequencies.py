"""The frequencies of Fourier transforms and their order, which need no complex numbers.

PyTorch's documentation: torch.fft.
"""

from __future__ import annotations

import numpy as np

from runtime.pytorch.base.dtypes import dtype
from runtime.pytorch.base.shapes import wrap_dim
from runtime.pytorch.calls.schema import NEW, OUT, IntsOrOne, Kind, Out
from runtime.pytorch.calls.table import op
from runtime.pytorch.ops.arithmetic import multiply
from runtime.pytorch.ops.creation import finish, type_for
from runtime.pytorch.ops.rearranging import roll
from runtime.pytorch.tensors.tensor import Tensor, wrap

_MORE = f"{OUT}, torch.dtype dtype = None, {NEW}"


@op(f"fft_fftfreq(int n, float d = 1, *, {_MORE})")
def fftfreq(n: int, d: float = 1.0, *, dtype: Kind = None, out: Out = None) -> Tensor:
    """The frequencies of a transform of n numbers at distances d, the negative ones behind."""
    return _counted("fftfreq", n, n // 2, n * d, type_for(dtype, out), out)


@op(f"fft_rfftfreq(int n, float d = 1, *, {_MORE})")
def rfftfreq(n: int, d: float = 1.0, *, dtype: Kind = None, out: Out = None) -> Tensor:
    """The frequencies of a transform of n real numbers at distances d."""
    return _counted("rfftfreq", int(n / 2) + 1, 0, n * d, type_for(dtype, out), out)


def _counted(name: str, count: int, negative: int, length: float, kind: dtype, out: Out) -> Tensor:
    """Whole numbers from 0 on, and then the negative ones, divided by a length."""
    if not kind.is_floating_point:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    numbers = np.roll(np.arange(-negative, count - negative), -negative)
    with np.errstate(all="ignore"):
        parts = [wrap(x.astype(kind.numpy)) for x in (numbers, np.float64(1) / length)]
        return finish(multiply(*parts).array, out)


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
