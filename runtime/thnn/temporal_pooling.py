"""Max pooling of sequences: indices tell in which frame of its window the largest element is.

Frames count from 0 there. A sequence is frames x features. A window without an element above the
lowest finite number has the index -1.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.tensor import Tensor
from runtime.thnn._jobs import run, working
from runtime.thnn._largest import add_by_place, indices_of, store_largest
from runtime.thnn._shapes import check_like
from runtime.thnn._windows import Plan, dilated, make_plan
from runtime.thnn.checks import check
from runtime.thnn.table import Call, thnn


@thnn(
    "TemporalMaxPooling_updateOutput",
    "THTensor *input, THTensor *output, THIndexTensor *indices, int kW, int dW",
    repeats=True,
)
def temporal(call: Call) -> None:
    """output = the largest element of each feature in each window of frames."""
    windows = _count(call.input, call.kW, call.dW)
    frames, features = call.input.sizes[-2:]
    plan = _plan(frames, features, windows, call.kW, call.dW)
    store_largest(call.input, call.output, call.indices, plan, (windows, features), none=-1)


@thnn(
    "TemporalMaxPooling_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices, int kW, "
    "int dW",
    repeats=True,
)
def temporal_backward(call: Call) -> None:
    """gradInput = the sums of gradOutput by indices."""
    windows = _count(call.input, call.kW, call.dW)
    frames, features = call.input.sizes[-2:]
    sizes = windows, features
    check_like(call.input, sizes, planes=False, gradOutput=call.gradOutput, indices=call.indices)
    frame = indices_of(call.indices, call.input, sizes)
    places = working(len(frame), np.int64)
    run(
        "nn_places",
        len(frame),
        out=places,
        first=frame,
        apart=0,
        factors=(features, 0),
        starts=_starts(features, windows, call.dW),
        count=windows * features,
        skip=1,
    )
    add_by_place(places, call.input, call.gradOutput, call.gradInput, 2)


@lru_cache(maxsize=32)
def _starts(features: int, windows: int, d: int) -> Array:
    """The place of the first element of each window, from 1."""
    starts = np.arange(windows)[:, None] * d * features + np.arange(features) + 1
    return starts.ravel().astype(np.float64)


def _count(input: Tensor, k: int, d: int) -> int:
    """How many windows there are; raises the errors of all numbers."""
    check(k > 0, 5, f"kernel size should be greater than zero, but got kW: {k}")
    check(d > 0, 6, f"stride should be greater than zero, but got dW: {d}")
    check(
        input.ndim in (2, 3),
        2,
        "2D or 3D (batch mode) tensor expected for input, but got: %s",
        input,
    )
    frames = input.sizes[-2]
    check(frames >= k, 2, f"input sequence smaller than kernel size. Got: {frames}, Expected: {k}")
    return (frames - k) // d + 1


@lru_cache(maxsize=32)
def _plan(frames: int, features: int, windows: int, k: int, d: int) -> Plan:
    axes = dilated(frames, windows, k, d, 0, 1), dilated(features, features, 1, 1, 0, 1)
    return make_plan(axes, "order")
