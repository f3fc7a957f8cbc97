"""Criterions of classes: losses of scores, or logarithms of probabilities, and targets' numbers.

Classes are counted from 1. A loss is written to a tensor of one element. sizeAverage divides it,
and the gradient, by the weights of the targets, or by the number of frames.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from runtime.core.dtypes import Array, cast_scalar
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Tensor, describe
from runtime.thnn.checks import check, check_size, first_element
from runtime.thnn.table import thnn

__all__: list[str] = []

_CLASSES = ", bool sizeAverage, THTensor *weights?, THTensor *total_weight, long ignore_index"


@thnn(
    "ClassNLLCriterion_updateOutput",
    "THTensor *input, THIndexTensor *target, THTensor *output" + _CLASSES,
)
def class_nll(
    input: Tensor,
    target: Tensor,
    output: Tensor,
    size_average: bool,
    weights: Tensor | None,
    total_weight: Tensor,
    ignore_index: int,
) -> None:
    """output = minus the sum of the inputs, times the weights, of the targets' classes.

    total_weight gets the sum of the weights. Targets of ignore_index do not count.
    """
    check_size("output", output, 1, 0, 1)
    check_size("total_weight", total_weight, 1, 0, 1)
    rows, places = _targets(input, target, weights, ignore_index)
    weight = np.ones(len(rows), input.dtype.numpy) if weights is None else weights.flat[places]
    x = input.array.reshape(-1, input.sizes[-1])
    total = weight.sum()
    loss = -np.dot(x[rows, places], weight)
    total_weight.array[0] = total
    output.array[0] = loss / total if size_average and total else loss


@thnn(
    "ClassNLLCriterion_updateGradInput",
    "THTensor *input, THIndexTensor *target, THTensor *gradInput" + _CLASSES,
)
def class_nll_gradient(
    input: Tensor,
    target: Tensor,
    gradient: Tensor,
    size_average: bool,
    weights: Tensor | None,
    total_weight: Tensor,
    ignore_index: int,
) -> None:
    """gradInput at the targets' classes = minus their weights; the others stay as they are."""
    if not gradient.is_contiguous:
        raise TorchError("gradInput must be contiguous")
    total = total_weight.array[0]
    if not total > 0:
        return
    rows, places = _targets(input, target, weights, ignore_index)
    values = -np.ones(1, input.dtype.numpy) if weights is None else -weights.flat[places]
    # Torch7: of one frame, the gradient does not count the weight where it is averaged.
    if input.ndim == 1 and size_average:
        values = -np.ones(1, input.dtype.numpy)
    elif size_average:
        values = values / total
    gradient.array.reshape(-1, gradient.sizes[-1])[rows, places] = values


def _targets(
    input: Tensor, target: Tensor, weights: Tensor | None, ignore_index: int
) -> tuple[Array, Array]:
    """The rows of the input that count, from 0, and the classes of their targets, from 0."""
    classes = input.sizes[-1] if input.sizes else 0
    if target.ndim > 1:
        raise TorchError("multi-target not supported")
    if input.ndim > 2:
        raise TorchError("input tensor should be 1D or 2D")
    if weights is not None and weights.nelement != classes:
        raise TorchError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {describe(weights.sizes)}"
        )
    count = input.sizes[0] if input.ndim == 2 else 1
    if input.ndim == 2 and target.nelement != count:
        raise TorchError("Assertion `THIndexTensor_(size)(target, 0) == batch_size' failed. ")
    places = target.flat[:count] - 1
    rows = np.flatnonzero(places != ignore_index - 1)
    places = places[rows]
    if places.size and not (places.min() >= 0 and places.max() < classes):
        raise TorchError("Assertion `cur_target >= 0 && cur_target < n_classes' failed. ")
    return rows, places


_MAPS = ", bool sizeAverage, THTensor *weights?, THTensor *total_weight"


@thnn(
    "SpatialClassNLLCriterion_updateOutput",
    "THTensor *input, THIndexTensor *target, THTensor *output" + _MAPS,
)
def spatial_nll(
    input: Tensor,
    target: Tensor,
    output: Tensor,
    size_average: bool,
    weights: Tensor | None,
    total_weight: Tensor,
) -> None:
    """output = minus the sum of the inputs, times the weights, of the classes of all positions.

    input: frames x classes x rows x columns. total_weight gets the sum of the weights.
    """
    at = _checked_maps(input, target, weights)
    loss, total = first_element("output", output), first_element("total_weight", total_weight)
    x = input.flat.reshape(*input.sizes[:2], -1)
    picked = np.take_along_axis(x, at, 1)
    weight = np.ones(1, x.dtype) if weights is None else weights.flat[at]
    total[...] = at.size if weights is None else weight.sum()
    loss[...] = -(picked * weight).sum(dtype=np.float64)
    if size_average and total:
        loss /= total


@thnn(
    "SpatialClassNLLCriterion_updateGradInput",
    "THTensor *input, THIndexTensor *target, THTensor *gradInput" + _MAPS,
)
def spatial_nll_gradient(
    input: Tensor,
    target: Tensor,
    gradient: Tensor,
    size_average: bool,
    weights: Tensor | None,
    total_weight: Tensor,
) -> None:
    """gradInput at the targets' classes = minus their weights; the others stay as they are."""
    at = _checked_maps(input, target, weights)
    check(gradient.is_contiguous, 4, "gradInput must be contiguous")
    total = first_element("total_weight", total_weight)
    if total <= 0:
        return
    if gradient.nelement < input.nelement:
        raise TorchError(f"gradInput is too small: {describe(gradient.sizes)}")
    values = -np.ones(1, input.dtype.numpy) if weights is None else -weights.flat[at]
    out = gradient.array.reshape(-1)[: input.nelement].reshape(*input.sizes[:2], -1)
    np.put_along_axis(out, at, values / total if size_average else values, 1)


def _checked_maps(input: Tensor, target: Tensor, weights: Tensor | None) -> Array:
    """The classes of the positions, from 0: frames x 1 x positions."""
    check(
        target.ndim == 3,
        3,
        "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
        f"{target.ndim}",
    )
    check(
        input.ndim == 4,
        2,
        "only batches of spatial inputs supported (4D tensors), but got input of dimension: "
        f"{input.ndim}",
    )
    if weights is not None and weights.nelement != input.sizes[1]:
        raise TorchError("weight tensor should be defined either for all or no classes")
    frames, classes, *maps = input.sizes
    if (frames, *maps) != target.sizes:
        raise TorchError(
            "Assertion `input0 == target0 && input2 == target1 && input3 == target2' failed. "
            f"size mismatch (got input: {'x'.join(map(str, input.sizes))}, "
            f"target: {'x'.join(map(str, target.sizes))})"
        )
    at = target.flat.reshape(frames, 1, -1) - 1
    if at.min() < 0 or at.max() >= classes:
        raise TorchError("Assertion `cur_target >= 0 && cur_target < n_classes' failed. ")
    return at


def _frames(input: Tensor) -> Array:
    """The scores as frames x classes."""
    check(input.ndim in (1, 2), 2, "vector or matrix expected")
    return input.flat.reshape(-1, input.sizes[-1])


_MARGIN = ", bool sizeAverage, int p, THTensor *weights?, accreal margin"


@thnn(
    "MultiMarginCriterion_updateOutput",
    "THTensor *input, THIndexTensor *target, THTensor *output" + _MARGIN,
)
def multi_margin(
    input: Tensor,
    target: Tensor,
    output: Tensor,
    size_average: bool,
    p: int,
    weights: Tensor | None,
    margin: float,
) -> None:
    """output = the sum of (margin - target's score + other score)^p where that is positive.

    Divided by the number of classes; p is 1 or 2.
    """
    excess, weight, _ = _excesses(input, target, weights, margin)
    check(output.ndim == 1, 1, "tensor must have one dimension")
    loss = ((excess if p == 1 else excess * excess) * weight).sum(dtype=np.float64)
    loss /= excess.shape[1] * (len(excess) if size_average else 1)
    output.array[0] = loss


@thnn(
    "MultiMarginCriterion_updateGradInput",
    "THTensor *input, THIndexTensor *target, THTensor *gradInput" + _MARGIN,
)
def multi_margin_gradient(
    input: Tensor,
    target: Tensor,
    gradient: Tensor,
    size_average: bool,
    p: int,
    weights: Tensor | None,
    margin: float,
) -> None:
    """gradInput = the derivative of each excess, and minus their sum at the target."""
    excess, weight, at = _excesses(input, target, weights, margin)
    norm = 1 / (excess.size if size_average else excess.shape[1])
    slopes = (excess > 0) * weight * norm if p == 1 else 2 * norm * excess * weight
    slopes[np.arange(len(at)), at] = -slopes.sum(axis=1)
    gradient.resize(input.sizes)
    gradient.array[...] = slopes.reshape(input.sizes)


def _excesses(
    input: Tensor, target: Tensor, weights: Tensor | None, margin: float
) -> tuple[Array, Array, Array]:
    """By how much scores exceed the targets' less the margin; the targets' weights; their places.

    0 at the target itself, and where a score does not exceed it.
    """
    x = _frames(input)
    frames, classes = x.shape
    check(
        input.ndim == 1 or target.sizes == (frames,), 3, "inconsistent target size"
    )
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
    "THTensor *input, THIndexTensor *target, THTensor *output, THTensor *isTarget, "
    "bool sizeAverage",
)
def multi_label(
    input: Tensor, target: Tensor, output: Tensor, is_target: Tensor, size_average: bool
) -> None:
    """output = the sum of 1 - target's score + other score where that is positive.

    For each target of a frame, which end with the first 0, and each class that is no target of it.
    Divided by the number of classes. isTarget becomes 1 at the targets, 0 elsewhere.
    """
    x, labels = _labels(input, target)
    check(output.ndim == 1, 1, "tensor must have one dimension")
    marks = np.zeros(x.shape, x.dtype)
    for rows, at in labels:
        marks[rows, at] = 1
    loss = sum(float(z.sum(dtype=np.float64)) for _, _, z in _margins(x, labels, marks != 0))
    is_target.resize(target.sizes)
    is_target.array[...] = marks.reshape(target.sizes)
    output.array[0] = loss / x.shape[1] / (len(x) if size_average else 1)


@thnn(
    "MultiLabelMarginCriterion_updateGradInput",
    "THTensor *input, THIndexTensor *target, THTensor *gradInput, THTensor *isTarget, "
    "bool sizeAverage",
)
def multi_label_gradient(
    input: Tensor, target: Tensor, gradient: Tensor, is_target: Tensor, size_average: bool
) -> None:
    """gradInput = the derivatives; isTarget is what the loss has left there."""
    x, labels = _labels(input, target, is_target)
    marks = is_target.flat.reshape(x.shape)
    check(bool((marks >= 0).all()), 3, "isTarget out of range")
    check(bool((marks <= 1).all()), 3, "isTarget out of range")
    counts = np.zeros(x.shape, np.int64)
    for rows, at, z in _margins(x, labels, marks != 0):
        counts[rows] += z > 0
        counts[rows, at] -= np.count_nonzero(z, axis=1)
    gradient.resize(input.sizes)
    norm = x.dtype.type(1 / (x.size if size_average else x.shape[1]))
    gradient.array[...] = (counts * norm).reshape(input.sizes)


Labels = list[tuple[Array, Array]]  # of the first targets, second ones …: frames, classes


def _labels(
    input: Tensor, target: Tensor, is_target: Tensor | None = None
) -> tuple[Array, Labels]:
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


def _margins(x: Array, labels: Labels, marked: Array):  # type: ignore[no-untyped-def]
    """The frames, targets and positive margins of the first targets, of the second ones …"""
    for rows, at in labels:
        z = 1 - x[rows, at][:, None] + x[rows]
        yield rows, at, np.where((z > 0) & ~marked[rows], z, 0)
