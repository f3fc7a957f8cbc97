"""Padding by an image's or volume's own elements: its edges repeated, or mirrored.

Paddings may be negative, and cut elements off.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor, contiguous_strides
from runtime.thnn._jobs import contiguous, result
from runtime.thnn._planes import add_by_table, copy_by_table
from runtime.thnn._shapes import size_of
from runtime.thnn.checks import check
from runtime.thnn.table import Call, thnn

_FORWARD = "THTensor *input, THTensor *output"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput"
_IMAGE = ", int pad_l, int pad_r, int pad_t, int pad_b"
_VOLUME = ", int pleft, int pright, int ptop, int pbottom, int pfront, int pback"

Pads = tuple[tuple[int, int], ...]  # before and after, for each dimension of a plane
Places = Callable[[int, int, int], Array]  # of size, padding before, and elements of the result


def _mirrored(size: int, before: int, count: int) -> Array:
    """Where the elements of a dimension come from; its ends are not repeated."""
    at = np.arange(count) - before
    return np.where(at < 0, -at, np.where(at < size, at, 2 * (size - 1) - at))


def _repeated(size: int, before: int, count: int) -> Array:
    return np.clip(np.arange(count) - before, 0, size - 1)


@thnn("SpatialReflectionPadding_updateOutput", _FORWARD + _IMAGE, repeats=True)
def reflection(call: Call) -> None:
    """output = each plane with a border that mirrors what is next to it."""
    _pad(call.input, call.output, ((call.pad_t, call.pad_b), (call.pad_l, call.pad_r)), _mirrored)


@thnn("SpatialReflectionPadding_updateGradInput", _BACKWARD + _IMAGE, repeats=True)
def reflection_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput where each element was copied to."""
    _pad_backward(
        call.input,
        call.gradOutput,
        call.gradInput,
        ((call.pad_t, call.pad_b), (call.pad_l, call.pad_r)),
        _mirrored,
    )


@thnn("SpatialReplicationPadding_updateOutput", _FORWARD + _IMAGE, repeats=True)
def replication(call: Call) -> None:
    """output = each plane with a border that repeats the elements at its edges."""
    _pad(call.input, call.output, ((call.pad_t, call.pad_b), (call.pad_l, call.pad_r)), _repeated)


@thnn("SpatialReplicationPadding_updateGradInput", _BACKWARD + _IMAGE, repeats=True)
def replication_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput where each element was copied to."""
    _pad_backward(
        call.input,
        call.gradOutput,
        call.gradInput,
        ((call.pad_t, call.pad_b), (call.pad_l, call.pad_r)),
        _repeated,
    )


@thnn("VolumetricReplicationPadding_updateOutput", _FORWARD + _VOLUME, repeats=True)
def replication_3d(call: Call) -> None:
    """output = each volume with a border that repeats the elements at its sides."""
    _pad(
        call.input,
        call.output,
        ((call.pfront, call.pback), (call.ptop, call.pbottom), (call.pleft, call.pright)),
        _repeated,
    )


@thnn("VolumetricReplicationPadding_updateGradInput", _BACKWARD + _VOLUME, repeats=True)
def replication_3d_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput where each element was copied to."""
    pads = (call.pfront, call.pback), (call.ptop, call.pbottom), (call.pleft, call.pright)
    _pad_backward(call.input, call.gradOutput, call.gradInput, pads, _repeated)


def _pad(input: Tensor, output: Tensor, pads: Pads, places: Places) -> None:
    table, padded = _table(input, pads, places)
    x, leading = contiguous(input), input.sizes[: -len(pads)]
    with result(output, (*leading, *padded)) as out:
        copy_by_table(x, table, math.prod(leading), out)


def _pad_backward(
    input: Tensor, grad_output: Tensor, gradient: Tensor, pads: Pads, places: Places
) -> None:
    table, padded = _table(input, pads, places)
    # Torch7 does not look at the gradient of volumes, nor at the planes of images.
    names = "width", "height", "depth"
    for k in range(1, len(pads) + 1):
        found, size = size_of(grad_output, input.ndim - k), padded[-k]
        text = f"gradOutput {names[k - 1]} unexpected. Expected: {size}, Got: {found}"
        check(found == size, 3, text)
    leading = input.sizes[: -len(pads)]
    planes, count = math.prod(leading), math.prod(padded)
    if grad_output.ndim != input.ndim or grad_output.nelement < planes * count:
        raise TorchError(f"gradOutput must have {planes} planes")
    g = contiguous(grad_output, planes * count)
    with result(gradient, input.sizes) as out:
        add_by_table(g, table, planes, out)


def _table(input: Tensor, pads: Pads, places: Places) -> tuple[Array, Sizes]:
    """Where the elements of a padded plane come from, and the sizes of such a plane."""
    dims = len(pads)
    kinds = f"{dims + 1}D or {dims + 2}D"
    check(
        input.ndim in (dims + 1, dims + 2),
        2,
        f"{kinds} (batch mode) tensor expected for input, but got: %s",
        input,
    )
    sizes = input.sizes[-dims:]
    padded = tuple(size + sum(pad) for size, pad in zip(sizes, pads, strict=True))
    if min(padded) < 1:
        if dims == 2:
            before, after = "H: {}, W: {}".format(*sizes), "H: {} W: {}".format(*padded)
        else:
            before, after = "D: {} H: {}, W: {}".format(*sizes), "D: {} H: {} W: {}".format(*padded)
        check(False, 2, f"input ({before})is too small. Calculated output {after}")
    return grid_table(sizes, padded, tuple(pad[0] for pad in pads), places), padded


@lru_cache(maxsize=32)
def grid_table(sizes: Sizes, results: Sizes, before: Sizes, places: Places) -> Array:
    """The place in a plane of each element of its result, by the places along each dimension.

    Raises an error where there is no such place.
    """
    count = math.prod(results)
    if max(math.prod(sizes), count) > np.iinfo(np.int32).max:
        raise TorchError(f"planes of {count} elements are too large")
    table = np.zeros(1, np.int64)
    numbers = zip(sizes, before, results, contiguous_strides(sizes), strict=True)
    for size, first, count, stride in numbers:
        at = places(size, first, count)
        if not (at.min() >= 0 and at.max() < size):
            raise TorchError(f"padding is too large for a size of {size}")
        table = np.add.outer(table, at * stride).ravel()
    return table.astype(np.int32)
