"""Tables of connections between planes: their groups, and the checks of layers that have them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Sizes, Tensor, describe
from runtime.thnn._convolution import covering_windows, plain_windows
from runtime.thnn._geometry import Windows
from runtime.thnn.checks import check

#: Numbers of the kernels, of their input planes and of their output planes: (kernels, from, to).
Group = tuple[Array, Array, Array]


def groups_of(table: Tensor, planes: int, maps: int, full: bool = False) -> Iterator[Group]:
    """The maps that have the same planes, these, and the numbers of the kernels: maps x planes.

    full: whether the input planes of the table are the maps.
    """
    connections = table.array.astype(np.int64) - 1
    if ((connections < 0) | (connections >= (planes, maps))).any():
        raise TorchError(f"connTable needs numbers of planes from 1 to {planes} and {maps}")
    from_, to = connections.T if not full else connections.T[::-1]
    found: dict[tuple[int, ...], list[tuple[int, Array]]] = {}
    for map_ in np.unique(to):
        kernels = np.flatnonzero(to == map_)
        kernels = kernels[np.argsort(from_[kernels], kind="stable")]
        found.setdefault(tuple(from_[kernels]), []).append((int(map_), kernels))
    for sources, members in found.items():
        kernels = np.array([numbers for _, numbers in members])
        yield kernels, np.array(sources), np.array([number for number, _ in members])


def check_table(weight: Tensor, table: Tensor, position: int, name: str) -> None:
    fits = weight.ndim == 3 and table.ndim > 0 and table.sizes[0] == weight.sizes[0]
    check(fits, position, f"3D {name} tensor expected (connTable:size(1) x kH x kW)")
    if table.ndim != 2 or table.sizes[1] != 2:
        raise TorchError(f"connTable of 2 columns expected, got {describe(table.sizes)}")


def check_planes(
    name: str, tensor: Tensor, ndim: int, planes: int, size: Sizes, more: bool = False
) -> None:
    """more: whether there may be planes that no connection names, behind the others."""
    expected = (planes, *size)
    fits = tensor.ndim == ndim and ndim in (3, 4) and tensor.sizes[-2:] == size
    if not fits or tensor.sizes[-3] < planes or (tensor.sizes[-3] > planes and not more):
        raise TorchError(f"{name} of size {describe(expected)} expected: {describe(tensor.sizes)}")


def packed(images: Array, planes: int) -> Array:
    """Contiguous images (a batch) as if they had no more than these planes.

    The original finds image n behind n times these planes, be there more or not.
    """
    sizes = (len(images), planes, *images.shape[2:])
    return images.reshape(-1)[: math.prod(sizes)].reshape(sizes)


def check_count(bias: Tensor, count: int) -> None:
    if bias.nelement < count:
        raise TorchError(f"{count} elements of bias expected, got {describe(bias.sizes)}")


def windows_on(size: Sizes, kernel: Sizes, stride: Sizes, exact: bool = False) -> Windows:
    _check_stride(stride)
    if len(size) != 2 or size[0] < kernel[0] or size[1] < kernel[1]:
        raise ArgError(2, "input image smaller than kernel size")
    return plain_windows(size, kernel, stride, exact)


def windows_of_full(count: Sizes, kernel: Sizes, stride: Sizes) -> Windows:
    _check_stride(stride)
    return covering_windows(count, kernel, stride)


def _check_stride(stride: Sizes) -> None:
    if min(stride) < 1:
        raise TorchError(f"stride should be greater than zero, but got {describe(stride)}")
