"""Unpooling: elements go to the places that indices of max pooling tell; all others are 0."""

from __future__ import annotations

import math

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor, describe
from runtime.thnn._jobs import contiguous, is_recording, result
from runtime.thnn._planes import places_in_volume, scatter, take
from runtime.thnn._shapes import Numbers, positive, size_of
from runtime.thnn.checks import check, check_size
from runtime.thnn.table import Call, thnn

_FORWARD = "THTensor *input, THTensor *output, THIndexTensor *indices"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices"
_IMAGE = ", int owidth, int oheight"
_VOLUME = ", int oT, int oW, int oH, int dT, int dW, int dH, int pT, int pW, int pH"


def _check_indices(input: Tensor, indices: Tensor) -> None:
    if input.sizes != indices.sizes:
        raise TorchError(
            f"input and indices shapes do not match: input {describe(input.sizes)}, "
            f"indices {describe(indices.sizes)}"
        )


# -- images


@thnn("SpatialMaxUnpooling_updateOutput", _FORWARD + _IMAGE, repeats=True)
def spatial(call: Call) -> None:
    """output = each element at the place, from 1, that its index tells in a plane of zeros."""
    check(
        call.input.ndim in (3, 4),
        2,
        "3D or 4D (batch mode) tensor expected for input, but got: %s",
        call.input,
    )
    _check_indices(call.input, call.indices)
    positive(5, "output size", "oheight owidth", (call.oheight, call.owidth))
    places = contiguous(call.indices)
    wrong = _last(places, call.oheight * call.owidth, _batch(call.input, 3))
    if wrong is not None:
        raise TorchError(
            f"found an invalid max index {places[wrong] - 1} "
            f"(output volumes are of size {call.oheight}x{call.owidth})"
        )
    _store(call.input, call.output, places, (call.oheight, call.owidth))


@thnn("SpatialMaxUnpooling_updateGradInput", _BACKWARD + _IMAGE, repeats=True)
def spatial_backward(call: Call) -> None:
    """gradInput = the elements of gradOutput at the places that indices tell."""
    _check_indices(call.input, call.indices)
    _check_dimensions(call.input, 2)
    h, w = (size_of(call.gradOutput, call.input.ndim - k) for k in (2, 1))
    if (h, w) != (call.oheight, call.owidth):
        raise TorchError(
            f"Inconsistent gradOutput size. oheight= {call.oheight}, owidth= {call.owidth}, "
            f"gradOutput: {h}x{w}"
        )
    places = contiguous(call.indices)
    wrong = _first(places, call.oheight * call.owidth)
    if wrong is not None:
        raise TorchError(
            f"invalid max index {places[wrong] - 1}, owidth= {call.owidth}, oheight= {call.oheight}"
        )
    _take(call.input, call.gradOutput, call.gradInput, places, (call.oheight, call.owidth))


# -- volumes


@thnn("VolumetricMaxUnpooling_updateOutput", _FORWARD + _VOLUME, repeats=True)
def volumetric(call: Call) -> None:
    """output = each element at the place that its index tells in its window: see pooling."""
    _check_volume(call.input, call.indices, (call.dT, call.dH, call.dW))
    sizes = call.oT, call.oH, call.oW
    positive(5, "output size", "oT oH oW", sizes)
    numbers = (call.dT, call.dH, call.dW), (call.pT, call.pH, call.pW)
    found = contiguous(call.indices)
    places = places_in_volume(found, sizes, call.input.sizes[-3:], *numbers, strict=True)
    wrong = _last(places, math.prod(sizes), _batch(call.input, 4))
    if wrong is not None:
        t, h, w = _in_volume(found, wrong, call.input, *numbers)
        plane = wrong // math.prod(call.input.sizes[-3:]) % call.input.sizes[-4]
        raise TorchError(
            f"found an invalid max index {((plane * call.oT + t) * call.oH + h) * call.oW + w} "
            f"(output volumes are of size {call.oT}x{call.oH}x{call.oW})"
        )
    _store(call.input, call.output, places, sizes)


@thnn("VolumetricMaxUnpooling_updateGradInput", _BACKWARD + _VOLUME, repeats=True)
def volumetric_backward(call: Call) -> None:
    """gradInput = the elements of gradOutput at the places that indices tell."""
    _check_volume(call.input, call.indices, (call.dT, call.dH, call.dW))
    sizes = call.oT, call.oH, call.oW
    found = tuple(size_of(call.gradOutput, call.input.ndim - k) for k in (3, 2, 1))
    if found != sizes:
        raise TorchError(
            f"Inconsistent gradOutput size. oT= {call.oT}, oH= {call.oH}, oW= {call.oW}, "
            f"gradOutput: {'x'.join(map(str, found))}"
        )
    check_size(
        "gradOutput", call.gradOutput, call.input.ndim, call.input.ndim - 4, call.input.sizes[-4]
    )
    numbers = (call.dT, call.dH, call.dW), (call.pT, call.pH, call.pW)
    values = contiguous(call.indices)
    places = places_in_volume(values, sizes, call.input.sizes[-3:], *numbers, strict=True)
    wrong = _first(places, math.prod(sizes))
    if wrong is not None:
        t, h, w = _in_volume(values, wrong, call.input, *numbers)
        raise TorchError(
            f"invalid max index z= {t}, y= {h}, x= {w}, oT= {call.oT}, oW= {call.oW}, oH= {call.oH}"
        )
    _take(call.input, call.gradOutput, call.gradInput, places, sizes)


def _check_volume(input: Tensor, indices: Tensor, stride: Numbers) -> None:
    check(
        input.ndim in (4, 5),
        2,
        "4D or 5D (batch mode) tensor expected for input, but got: %s",
        input,
    )
    _check_indices(input, indices)
    positive(10, "stride", "dT dH dW", stride)


def _in_volume(
    indices: Array, at: int, input: Tensor, stride: Numbers, pad: Numbers
) -> tuple[int, ...]:
    """Where an element goes along time, height and width."""
    number, sizes = int(indices[at]), input.sizes[-3:]
    window = np.unravel_index(at % math.prod(sizes), sizes)
    return tuple((number >> 8 * k & 0xFF) + int(window[k]) * stride[k] - pad[k] for k in range(3))


# -- both


def _batch(input: Tensor, dims: int) -> int:
    """How many samples there are, each of so many dimensions."""
    return input.sizes[0] if input.ndim > dims else 1


def _check_dimensions(input: Tensor, dims: int) -> None:
    if input.ndim not in (dims + 1, dims + 2):
        raise TorchError(f"{dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")


def _first(places: Array, count: int) -> int | None:
    """The first place outside of a plane; none of a recorded call, whose jobs check places."""
    if is_recording():
        return None
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


def _store(input: Tensor, output: Tensor, places: Array, sizes: Sizes) -> None:
    x, leading = contiguous(input), input.sizes[: -len(sizes)]
    with result(output, (*leading, *sizes)) as out:
        scatter(x, places, math.prod(leading), out, add=False)


def _take(
    input: Tensor, grad_output: Tensor, gradient: Tensor, places: Array, sizes: Sizes
) -> None:
    planes, count = math.prod(input.sizes[: -len(sizes)]), math.prod(sizes)
    if grad_output.ndim != input.ndim or grad_output.nelement < planes * count:
        raise TorchError(f"gradOutput has too few elements: {describe(grad_output.sizes)}")
    g = contiguous(grad_output, planes * count)
    with result(gradient, input.sizes) as out:
        take(g, places, planes, out)
