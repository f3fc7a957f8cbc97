"""Unpooling: elements go to the places that indices of max pooling tell; all others are 0."""

import math

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, describe
from th_shell.runtime.thnn._planes import places_in_volume, scatter, take
from th_shell.runtime.thnn.checks import (
    Numbers,
    check_batch,
    check_shapes,
    check_size,
    in_order,
    positive,
    size_of,
)
from th_shell.runtime.thnn.table import BACKWARD, FORWARD, Call, unrepeated

_IMAGE = "THIndexTensor *indices, int owidth, int oheight"
_VOLUME = (
    "THIndexTensor *indices, int oT, int oW, int oH, int dT, int dW, int dH, int pT, int pW, int pH"
)

# -- images


@unrepeated("SpatialMaxUnpooling_updateOutput", f"{FORWARD}, {_IMAGE}")
def to_images(call: Call) -> None:
    """output = each element at the place, from 1, that its index tells in a plane of zeros."""
    check_batch(call.input, 2)
    check_shapes(input=call.input, indices=call.indices)
    sizes = h, w = call.oheight, call.owidth
    positive(5, "output size", "oheight owidth", sizes)
    places = call.read(call.indices).reshape(-1)
    wrong = _last(places, h * w, _batch(call, 3))
    if wrong is not None:
        raise TorchError(
            f"found an invalid max index {places[wrong] - 1} (output volumes are of size {h}x{w})"
        )
    _store(call, places, sizes)


@unrepeated("SpatialMaxUnpooling_updateGradInput", f"{BACKWARD}, {_IMAGE}")
def from_images(call: Call) -> None:
    """gradInput = the elements of gradOutput at the places that indices tell."""
    check_shapes(input=call.input, indices=call.indices)
    if call.input.ndim not in (3, 4):
        raise TorchError("3D or 4D (batch mode) tensor expected for input")
    sizes = h, w = call.oheight, call.owidth
    plane_sizes = tuple(size_of(call.gradOutput, call.input.ndim - k) for k in (2, 1))
    if plane_sizes != sizes:
        raise TorchError(
            f"Inconsistent gradOutput size. oheight= {h}, owidth= {w}, "
            f"gradOutput: {plane_sizes[0]}x{plane_sizes[1]}"
        )
    places = call.read(call.indices).reshape(-1)
    wrong = _first(places, h * w)
    if wrong is not None:
        raise TorchError(f"invalid max index {places[wrong] - 1}, owidth= {w}, oheight= {h}")
    _take(call, places, sizes)


# -- volumes


@unrepeated("VolumetricMaxUnpooling_updateOutput", f"{FORWARD}, {_VOLUME}")
def to_volumes(call: Call) -> None:
    """output = each element at the place that its index tells in its window: see pooling."""
    sizes, *numbers = _check_volume(call)
    positive(5, "output size", "o", sizes)
    indices = call.read(call.indices).reshape(-1)
    places = places_in_volume(indices, sizes, call.input.sizes[-3:], *numbers, strict=True)
    wrong = _last(places, math.prod(sizes), _batch(call, 4))
    if wrong is not None:
        at = _in_volume(indices, wrong, call, *numbers)
        plane = wrong // math.prod(call.input.sizes[-3:]) % call.input.sizes[-4]
        for place, size in zip(at, sizes, strict=True):
            plane = plane * size + place
        raise TorchError(
            f"found an invalid max index {plane} "
            f"(output volumes are of size {call.oT}x{call.oH}x{call.oW})"
        )
    _store(call, places, sizes)


@unrepeated("VolumetricMaxUnpooling_updateGradInput", f"{BACKWARD}, {_VOLUME}")
def from_volumes(call: Call) -> None:
    """gradInput = the elements of gradOutput at the places that indices tell."""
    sizes, *numbers = _check_volume(call)
    ndim = call.input.ndim
    volume_sizes = tuple(size_of(call.gradOutput, ndim - k) for k in (3, 2, 1))
    if volume_sizes != sizes:
        raise TorchError(
            f"Inconsistent gradOutput size. oT= {call.oT}, oH= {call.oH}, oW= {call.oW}, "
            f"gradOutput: {'x'.join(map(str, volume_sizes))}"
        )
    check_size("gradOutput", call.gradOutput, ndim, ndim - 4, call.input.sizes[-4])
    values = call.read(call.indices).reshape(-1)
    places = places_in_volume(values, sizes, call.input.sizes[-3:], *numbers, strict=True)
    wrong = _first(places, math.prod(sizes))
    if wrong is not None:
        t, h, w = _in_volume(values, wrong, call, *numbers)
        raise TorchError(
            f"invalid max index z= {t}, y= {h}, x= {w}, oT= {call.oT}, oW= {call.oW}, oH= {call.oH}"
        )
    _take(call, places, sizes)


def _check_volume(call: Call) -> list[Numbers]:
    """The sizes of an output's volumes, strides and paddings."""
    check_batch(call.input, 3)
    check_shapes(input=call.input, indices=call.indices)
    numbers = in_order(call.numbers, 3)
    positive(10, "stride", "d", numbers[1])
    return numbers


def _in_volume(
    indices: Array, at: int, call: Call, stride: Numbers, pad: Numbers
) -> tuple[int, ...]:
    """Return the place of an element along time, height and width."""
    number, sizes = int(indices[at]), call.input.sizes[-3:]
    window = np.unravel_index(at % math.prod(sizes), sizes)
    return tuple((number >> 8 * k & 0xFF) + int(window[k]) * stride[k] - pad[k] for k in range(3))


# -- both


def _batch(call: Call, dims: int) -> int:
    """Count the samples, each of `dims` dimensions."""
    return call.input.sizes[0] if call.input.ndim > dims else 1


def _first(places: Array, count: int) -> int | None:
    """The first place outside of a plane."""
    wrong = np.flatnonzero((places < 1) | (places > count))
    return int(wrong[0]) if wrong.size else None


def _last(places: Array, count: int, batch: int) -> int | None:
    """The last such one of the first sample that has any, as the reference finds it."""
    first = _first(places, count)
    if first is None:
        return None
    sample = len(places) // batch
    start = first // sample * sample
    wrong = (places[start : start + sample] < 1) | (places[start : start + sample] > count)
    return start + int(np.flatnonzero(wrong)[-1])


def _store(call: Call, places: Array, sizes: Sizes) -> None:
    x, leading = call.read(call.input), call.input.sizes[: -len(sizes)]
    scatter(x, places, math.prod(leading), call.write(call.output, (*leading, *sizes)), add=False)


def _take(call: Call, places: Array, sizes: Sizes) -> None:
    planes, count = math.prod(call.input.sizes[: -len(sizes)]), math.prod(sizes)
    g = call.gradOutput
    if g.ndim != call.input.ndim or g.nelement < planes * count:
        raise TorchError(f"gradOutput has too few elements: {describe(g.sizes)}")
    values = call.read(g, planes * count)
    take(values, places, planes, call.write(call.gradInput, call.input.sizes))
