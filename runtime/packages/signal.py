"""The Python half of the package ``signal``: Fourier and cosine transforms by scipy.

Complex numbers are pairs: a last dimension of size 2. Transforms are those of FFTW: a forward one
is not normalized, and an inverse one divides by the number of points.
"""

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor

_COMPLEX = {"Float": np.complex64, "Double": np.complex128}


def _fft() -> Any:
    import scipy.fft  # late: it takes long to load

    return scipy.fft


def _values(tensor: Tensor, is_complex: bool) -> Array:
    """Return a tensor's numbers, which are complex ones where it has pairs."""
    if not is_complex:
        return tensor.array
    return np.ascontiguousarray(tensor.array).view(_COMPLEX[tensor.dtype.name])[..., 0]


def _result(like: Tensor, values: Array) -> Tensor:
    """Return a new tensor of numbers, of the type of `like`; complex ones become pairs."""
    real = like.dtype.numpy
    if np.iscomplexobj(values):
        values = np.ascontiguousarray(values, _COMPLEX[like.dtype.name])
        values = values.view(real).reshape(*values.shape, 2)
    return TENSOR_CLASSES[like.dtype.index].of(np.ascontiguousarray(values, real))


def transform(tensor: Tensor, rank: float, is_complex: bool, inverse: bool) -> Tensor:
    """Return the transform of complex or real points over the last `rank` dimensions of points."""
    values = _values(tensor, is_complex)
    axes = tuple(range(-int(rank), 0))
    transform = _fft().ifftn if inverse else _fft().fftn
    return _result(tensor, transform(values, axes=axes))


def transform_real(tensor: Tensor, rank: float) -> Tensor:
    """Return the transform of real points, without the last dimension's negative frequencies."""
    return _result(tensor, _fft().rfftn(tensor.array, axes=tuple(range(-int(rank), 0))))


def real_inverse(tensor: Tensor, rank: float, size: float) -> Tensor:
    """Return the real points whose transform a tensor has; size: of their last dimension."""
    values = _values(tensor, True)
    size = int(size)
    if size < 1 or size // 2 + 1 > values.shape[-1]:
        raise TorchError(
            f"{values.shape[-1]} frequencies are not enough for a signal of {size} points"
        )
    sizes = (*values.shape[values.ndim - int(rank) : -1], size)
    return _result(tensor, _fft().irfftn(values, sizes, axes=tuple(range(-int(rank), 0))))


def cosine(tensor: Tensor, inverse: bool) -> Tensor:
    """Return the cosine transform over all dimensions (FFTW's REDFT10), or its inverse."""
    transform = _fft().idctn if inverse else _fft().dctn
    return _result(tensor, transform(tensor.array, type=2))


def windows(tensor: Tensor, shape: Tensor | None, step: float, out: Tensor, real: bool) -> None:
    """Fill each row of `out` with the transform of a window of a signal.

    shape: what each window is multiplied with.
    """
    count, size = out.sizes[0], out.sizes[1]
    size = size if shape is None else shape.sizes[0]
    rows = np.lib.stride_tricks.sliding_window_view(tensor.array, size)[:: int(step)][:count]
    if shape is not None:
        rows = (rows * shape.array).astype(tensor.dtype.numpy)
    transform = _fft().rfft if real else _fft().fft
    pairs = _result(out, transform(rows, axis=-1))
    out.array[...] = pairs.array
