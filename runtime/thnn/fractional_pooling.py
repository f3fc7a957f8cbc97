"""Fractional max pooling: windows of one size at places that random samples tell, for each plane.

Indices tell the largest element's place in its plane, from 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from runtime.core.errors import TorchError
from runtime.core.tensor import Sizes, Tensor, contiguous_strides
from runtime.thnn._jobs import all_positive, contiguous, result, run, working
from runtime.thnn._largest import indices_of
from runtime.thnn._planes import find_largest, scatter
from runtime.thnn._shapes import Numbers, check_like, positive, size_of
from runtime.thnn._windows import plan_of_places
from runtime.thnn.checks import check
from runtime.thnn.table import Call, thnn

_FORWARD = "THTensor *input, THTensor *output"
_BACKWARD = "THTensor *input, THTensor *gradOutput, THTensor *gradInput"
_IMAGE = ", int outputW, int outputH, int poolSizeW, int poolSizeH, THIndexTensor *indices"
_VOLUME = (
    ", int outputT, int outputW, int outputH, int poolSizeT, int poolSizeW, int poolSizeH, "
    "THIndexTensor *indices"
)
_SAMPLES = ", THTensor *randomSamples"


@thnn("SpatialFractionalMaxPooling_updateOutput", _FORWARD + _IMAGE + _SAMPLES, repeats=True)
def spatial(call: Call) -> None:
    """output = the largest element of each window, and indices its place in the plane.

    randomSamples: for each plane one sample for the width, and one for the height.
    """
    check(
        call.input.ndim in (3, 4),
        2,
        "3D or 4D (batch mode) tensor expected for input, but got: %s",
        call.input,
    )
    windows, pool = (call.outputH, call.outputW), (call.poolSizeH, call.poolSizeW)
    _check_pools(("height", "width"), 7, call.input, windows, pool)
    _store(call.input, call.output, call.indices, call.randomSamples, windows, pool, (1, 0))


@thnn("VolumetricFractionalMaxPooling_updateOutput", _FORWARD + _VOLUME + _SAMPLES, repeats=True)
def volumetric(call: Call) -> None:
    """Likewise; a volume is height x width x time here, and samples are for time first."""
    check(
        call.input.ndim in (4, 5),
        2,
        "4D or 5D (batch mode) tensor expected for input, but got: %s",
        call.input,
    )
    windows, pool = (
        (call.outputH, call.outputW, call.outputT),
        (call.poolSizeH, call.poolSizeW, call.poolSizeT),
    )
    _check_pools(("height", "width", "time"), 9, call.input, windows, pool)
    _store(call.input, call.output, call.indices, call.randomSamples, windows, pool, (2, 1, 0))


def _check_pools(
    names: tuple[str, ...], position: int, input: Tensor, windows: Numbers, pool: Numbers
) -> None:
    sizes = input.sizes[-len(names) :]
    for k, (name, size) in enumerate(zip(names, sizes, strict=True)):
        check(
            windows[k] + pool[k] - 1 < size,
            position - k,
            f"poolSize{name[0].upper()} ({pool[k]}) too large relative to input {name} ({size})",
        )
    letters = " ".join(f"output{name[0].upper()}" for name in names)
    positive(4, "output size", letters, windows)
    positive(6, "pool size", letters.replace("output", "poolSize"), pool)


def _store(
    input: Tensor,
    output: Tensor,
    indices: Tensor,
    samples: Tensor,
    windows: Sizes,
    pool: Numbers,
    order: Numbers,
) -> None:
    """order: which of a plane's samples is for which dimension."""
    dims = len(windows)
    sizes = input.sizes[-dims:]
    planes = math.prod(input.sizes[:-dims])
    if samples.nelement < planes * dims:
        raise TorchError(
            f"randomSamples must have {planes * dims} elements, but has {samples.nelement}"
        )
    drawn = contiguous(samples, planes * dims)
    plan = plan_of_places(sizes, windows, pool)
    step = len(plan.table) + 3 * plan.out_plane
    plans, right = working(planes * step, np.int32), working(planes * dims, np.int64)
    run(
        "nn_fractions",
        planes,
        out=plans,
        right=right,
        source=drawn,
        size=drawn.itemsize,
        dims=dims,
        head=plan.table,
        length=len(plan.table),
        order=_filled(order),
        windows=_filled(windows),
        room=_filled([size - width for size, width in zip(sizes, pool, strict=True)]),
        stride=_filled(contiguous_strides(sizes)),
    )
    if not all_positive(right):
        wrong = (right.reshape(planes, dims) == 0).any(axis=0)
        name = "hwt"[int(np.argmax(wrong))]
        raise TorchError(f"Assertion `{name}2 >= 0 && {name}2 < input{name.upper()}' failed. ")
    x, all_sizes = contiguous(input), (*input.sizes[:-dims], *windows)
    with result(output, all_sizes) as values, result(indices, all_sizes) as places:
        find_largest(x, plan, values, places, plans=plans.reshape(planes, step))
        if not all_positive(places):
            raise TorchError("Assertion `maxVal != -THInf' failed. ")


def _filled(numbers: Sequence[int]) -> list[int]:
    """Numbers for three dimensions, of which there may be only two."""
    return [*numbers, *(1,) * (3 - len(numbers))]


@thnn("SpatialFractionalMaxPooling_updateGradInput", _BACKWARD + _IMAGE, repeats=True)
def spatial_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows = {"width": (-1, call.outputW), "height": (-2, call.outputH)}
    _add(call.input, call.gradOutput, call.gradInput, call.indices, windows, "inputW * inputH")


@thnn("VolumetricFractionalMaxPooling_updateGradInput", _BACKWARD + _VOLUME, repeats=True)
def volumetric_backward(call: Call) -> None:
    """Likewise."""
    windows = {
        "time": (-1, call.outputT),
        "width": (-2, call.outputW),
        "height": (-3, call.outputH),
    }
    _add(
        call.input,
        call.gradOutput,
        call.gradInput,
        call.indices,
        windows,
        "inputT * inputW * inputH",
    )


def _add(
    input: Tensor,
    grad_output: Tensor,
    gradient: Tensor,
    indices: Tensor,
    windows: dict[str, tuple[int, int]],
    all_of_plane: str,
) -> None:
    dims = len(windows)
    if input.ndim not in (dims + 1, dims + 2):
        raise TorchError(f"{dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
    for name, (dim, count) in windows.items():
        found = size_of(grad_output, input.ndim + dim)
        check(found == count, 3, f"gradOutput {name} unexpected")
    sizes = grad_output.sizes[input.ndim - dims : input.ndim]
    check_like(input, sizes, gradOutput=grad_output, indices=indices)
    places = indices_of(indices, input, sizes)
    g = contiguous(grad_output, len(places))
    try:
        with result(gradient, input.sizes) as out:
            scatter(g, places, math.prod(input.sizes[:-dims]), out, add=True)
    except IndexError:
        raise TorchError(f"Assertion `index >= 0 && index < {all_of_plane}' failed. ") from None
