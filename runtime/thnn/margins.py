"""Criterions by margins: the scores of classes against those of one target, or of several.

Classes are counted from 1. A loss is written to a tensor of one element. sizeAverage divides it,
and the gradient, by the number of frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Tensor, describe
from runtime.thnn.checks import check
from runtime.thnn.table import Call, thnn

Labels = list[tuple[Array, Array]]  # of the first targets, second ones …: frames, classes


def _frames(input: Tensor) -> Array:
    """The scores as frames x classes."""
    check(input.ndim in (1, 2), 2, "vector or matrix expected")
    return input.flat.reshape(-1, input.sizes[-1])


_MARGIN = ", bool sizeAverage, int p, weights?, accreal margin"


@thnn(
    "MultiMarginCriterion_updateOutput",
    "input, THIndexTensor *target, output" + _MARGIN,
    repeats=False,
)
def multi_margin(call: Call) -> None:
    """output = the sum of (margin - target's score + other score)^p where that is positive.

    Divided by the number of classes; p is 1 or 2.
    """
    excess, weight, _ = _excesses(call.input, call.target, call.weights, call.margin)
    check(call.output.ndim == 1, 1, "tensor must have one dimension")
    terms = np.where(excess > 0, (excess if call.p == 1 else excess * excess) * weight, 0)
    loss = terms.sum(dtype=np.float64)
    loss /= excess.shape[1] * (len(excess) if call.sizeAverage else 1)
    call.output.array[0] = loss


@thnn(
    "MultiMarginCriterion_updateGradInput",
    "input, THIndexTensor *target, gradInput" + _MARGIN,
    repeats=False,
)
def multi_margin_gradient(call: Call) -> None:
    """gradInput = the derivative of each excess, and minus their sum at the target."""
    excess, weight, at = _excesses(call.input, call.target, call.weights, call.margin)
    norm = 1 / (excess.size if call.sizeAverage else excess.shape[1])
    slopes = np.where(excess > 0, weight * norm if call.p == 1 else 2 * norm * excess * weight, 0)
    slopes[np.arange(len(at)), at] = -slopes.sum(axis=1)
    call.gradInput.resize(call.input.sizes)
    call.gradInput.array[...] = slopes.reshape(call.input.sizes)


def _excesses(
    input: Tensor, target: Tensor, weights: Tensor | None, margin: float
) -> tuple[Array, Array, Array]:
    """By how much scores exceed the targets' less the margin; the targets' weights; their places.

    0 at the target itself, and where a score does not exceed it.
    """
    x = _frames(input)
    frames, classes = x.shape
    check(input.ndim == 1 or target.sizes == (frames,), 3, "inconsistent target size")
    check(target.ndim == 1, 1, "tensor must have one dimension")
    at = target.flat[:frames] - 1
    check(bool(((at >= 0) & (at < classes)).all()), 3, "target out of range")
    if weights is not None and weights.nelement <= at.max():
        raise TorchError(f"a weight for each class is needed, got {describe(weights.sizes)}")
    rows = np.arange(frames)
    z = cast_scalar(margin, input.dtype) - x[rows, at][:, None] + x
    z[rows, at] = 0
    weight = np.ones((1, 1), x.dtype) if weights is None else weights.flat[at][:, None]
    return np.where(z > 0, z, 0), weight, at


@thnn(
    "MultiLabelMarginCriterion_updateOutput",
    "input, THIndexTensor *target, output, isTarget, bool sizeAverage",
    repeats=False,
)
def multi_label(call: Call) -> None:
    """output = the sum of 1 - target's score + other score where that is positive.

    For each target of a frame, which end with the first 0, and each class that is no target of it.
    Divided by the number of classes. isTarget becomes 1 at the targets, 0 elsewhere.
    """
    x, labels = _labels(call.input, call.target)
    check(call.output.ndim == 1, 1, "tensor must have one dimension")
    marks = np.zeros(x.shape, x.dtype)
    for rows, at in labels:
        marks[rows, at] = 1
    loss = sum(float(z.sum(dtype=np.float64)) for _, _, z in _margins(x, labels, marks != 0))
    call.isTarget.resize(call.target.sizes)
    call.isTarget.array[...] = marks.reshape(call.target.sizes)
    call.output.array[0] = loss / x.shape[1] / (len(x) if call.sizeAverage else 1)


@thnn(
    "MultiLabelMarginCriterion_updateGradInput",
    "input, THIndexTensor *target, gradInput, isTarget, bool sizeAverage",
    repeats=False,
)
def multi_label_gradient(call: Call) -> None:
    """gradInput = the derivatives; isTarget is what the loss has left there."""
    x, labels = _labels(call.input, call.target, call.isTarget)
    marks = call.isTarget.flat.reshape(x.shape)
    check(bool((marks >= 0).all()), 3, "isTarget out of range")
    check(bool((marks <= 1).all()), 3, "isTarget out of range")
    counts = np.zeros(x.shape, np.int64)
    for rows, at, z in _margins(x, labels, marks != 0):
        counts[rows] += z > 0
        counts[rows, at] -= np.count_nonzero(z, axis=1)
    call.gradInput.resize(call.input.sizes)
    norm = x.dtype.type(1 / (x.size if call.sizeAverage else x.shape[1]))
    call.gradInput.array[...] = (counts * norm).reshape(call.input.sizes)


def _labels(input: Tensor, target: Tensor, is_target: Tensor | None = None) -> tuple[Array, Labels]:
    """The scores, and the targets of the frames, from 0."""
    x = _frames(input)
    check(target.sizes == input.sizes, 3, "inconsistent target size")
    if is_target is not None:
        check(is_target.sizes == input.sizes, 3, "inconsistent isTarget size")
    at = target.flat.reshape(x.shape) - 1
    if at.size and (at.min() < -1 or at.max() >= x.shape[1]):
        raise ArgError(3, "target out of range")
    rows, labels = np.arange(len(x)), Labels()
    for place in count():
        rows = rows[at[rows, place] >= 0] if place < x.shape[1] else rows[:0]
        if not rows.size:
            return x, labels
        labels.append((rows, at[rows, place]))
    raise AssertionError


def _margins(x: Array, labels: Labels, marked: Array) -> Iterator[tuple[Array, Array, Array]]:
    """The frames, targets and positive margins of the first targets, of the second ones …"""
    for rows, at in labels:
        z = 1 - x[rows, at][:, None] + x[rows]
        yield rows, at, np.where((z > 0) & ~marked[rows], z, 0)
