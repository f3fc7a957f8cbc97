"""Fractional max pooling: windows of one size at places that random samples tell, for each plane.

Indices tell the largest element's place in its plane, from 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Sizes, contiguous_strides
from th_shell.runtime.thnn._jobs import all_positive, run, working
from th_shell.runtime.thnn._planes import find_largest, scatter
from th_shell.runtime.thnn._windows import plan_of_places
from th_shell.runtime.thnn.checks import Numbers, check, check_batch, check_like, positive, size_of
from th_shell.runtime.thnn.pooling import given_indices
from th_shell.runtime.thnn.table import BACKWARD, FORWARD, Call, thnn

_IMAGE = "int outputW, int outputH, int poolSizeW, int poolSizeH, THIndexTensor *indices"
_VOLUME = (
    "int outputT, int outputW, int outputH, int poolSizeT, int poolSizeW, int poolSizeH, "
    "THIndexTensor *indices"
)


@thnn("SpatialFractionalMaxPooling_updateOutput", f"{FORWARD}, {_IMAGE}, randomSamples")
@thnn("VolumetricFractionalMaxPooling_updateOutput", f"{FORWARD}, {_VOLUME}, randomSamples")
def forward(call: Call) -> None:
    """output = the largest element of each window, and indices its place in the plane.

    A volume is height x width x time here. randomSamples: for each plane one sample for the width,
    and one for the height; of volumes, one for the time before these.
    """
    dims = len(call.numbers) // 2
    check_batch(call.input, dims)
    windows, pool = call.numbers[dims - 1 :: -1], call.numbers[: dims - 1 : -1]
    _check_pools(call, windows, pool)
    _store(call, windows, pool)


def _check_pools(call: Call, windows: Numbers, pool: Numbers) -> None:
    dims = len(windows)
    names = ("height", "width", "time")[:dims]
    for k, (name, size) in enumerate(zip(names, call.input.sizes[-dims:], strict=True)):
        check(
            windows[k] + pool[k] - 1 < size,
            2 * dims + 3 - k,
            f"poolSize{name[0].upper()} ({pool[k]}) too large relative to input {name} ({size})",
        )
    letters = " ".join(f"output{name[0].upper()}" for name in names)
    positive(4, "output size", letters, windows)
    positive(6, "pool size", letters.replace("output", "poolSize"), pool)


def _store(call: Call, windows: Sizes, pool: Numbers) -> None:
    input, samples = call.input, call.randomSamples
    dims = len(windows)
    sizes = input.sizes[-dims:]
    planes = math.prod(input.sizes[:-dims])
    if samples.nelement < planes * dims:
        raise TorchError(
            f"randomSamples must have {planes * dims} elements, but has {samples.nelement}"
        )
    drawn = call.read(samples, planes * dims)
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
        order=_filled(range(dims - 1, -1, -1)),
        windows=_filled(windows),
        room=_filled([size - width for size, width in zip(sizes, pool, strict=True)]),
        stride=_filled(contiguous_strides(sizes)),
    )
    if not all_positive(right):
        wrong = (right.reshape(planes, dims) == 0).any(axis=0)
        name = "hwt"[int(np.argmax(wrong))]
        raise TorchError(f"Assertion `{name}2 >= 0 && {name}2 < input{name.upper()}' failed. ")
    x, all_sizes = call.read(input), (*input.sizes[:-dims], *windows)
    values, places = call.write(call.output, all_sizes), call.write(call.indices, all_sizes)
    find_largest(x, plan, values, places, plans=plans.reshape(planes, step))
    if not all_positive(places):
        raise TorchError("Assertion `maxVal != -THInf' failed. ")


def _filled(numbers: Sequence[int]) -> list[int]:
    """Numbers for three dimensions, of which there may be only two."""
    return [*numbers, *(1,) * (3 - len(numbers))]


@thnn("SpatialFractionalMaxPooling_updateGradInput", f"{BACKWARD}, {_IMAGE}")
@thnn("VolumetricFractionalMaxPooling_updateGradInput", f"{BACKWARD}, {_VOLUME}")
def backward(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    input, dims = call.input, len(call.numbers) // 2
    if input.ndim not in (dims + 1, dims + 2):
        raise TorchError(f"{dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
    names = ("time", "width", "height")[-dims:]
    for k, name in enumerate(names):
        width = size_of(call.gradOutput, input.ndim - k - 1)
        check(width == call.numbers[k], 3, f"gradOutput {name} unexpected")
    windows = call.gradOutput.sizes[input.ndim - dims : input.ndim]
    check_like(input, windows, gradOutput=call.gradOutput, indices=call.indices)
    places = given_indices(call, windows)
    g, planes = call.read(call.gradOutput, len(places)), math.prod(input.sizes[:-dims])
    try:
        scatter(g, places, planes, call.write(call.gradInput, input.sizes), add=True)
    except IndexError:
        limit = " * ".join(f"input{name[0].upper()}" for name in names)
        raise TorchError(f"Assertion `index >= 0 && index < {limit}' failed. ") from None
