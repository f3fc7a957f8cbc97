"""Criterions of classes: losses of scores, or logarithms of probabilities, and targets' numbers.

Classes are counted from 1. A loss is written to a tensor of one element. sizeAverage divides it,
and the gradient, by the weights of the targets, or by the number of frames.
"""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Tensor, describe
from runtime.thnn.checks import check, check_size, first_element
from runtime.thnn.table import thnn

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
    shape = "" if weights is None else describe(weights.sizes)
    message = (
        f"weight tensor should be defined either for all {_classes(input)} classes or no classes "
        f"but got weight tensor of shape: {shape}"
    )
    rows, places = _targets(input, target, weights, ignore_index, message)
    weight = np.ones(len(rows), input.dtype.numpy) if weights is None else weights.flat[places]
    x = input.array.reshape(-1, input.sizes[-1])
    total = weight.sum()
    loss = 0 - np.dot(x[rows, places], weight)
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
    classes = _classes(input)
    if not gradient.is_contiguous:
        raise TorchError("gradInput must be contiguous")
    total = first_element("total_weight", total_weight)
    if not total > 0:
        return
    message = "weight tensor should be defined either for all or no classes"
    rows, places = _targets(input, target, weights, ignore_index, message)
    at = rows * classes + places
    if at.size and at.max() >= gradient.nelement:
        raise TorchError(f"gradInput is too small: {describe(gradient.sizes)}")
    values = -np.ones(1, input.dtype.numpy) if weights is None else -weights.flat[places]
    # Torch7: of one frame, the gradient does not count the weight where it is averaged.
    if input.ndim == 1 and size_average:
        values = -np.ones(1, input.dtype.numpy)
    elif size_average:
        values = values / total
    gradient.array.reshape(-1)[at] = values


def _classes(input: Tensor) -> int:
    if not input.ndim:
        raise ArgError(2, "dimension 0 out of range of 0D tensor")
    return input.sizes[-1]


def _targets(
    input: Tensor, target: Tensor, weights: Tensor | None, ignore_index: int, message: str
) -> tuple[Array, Array]:
    """The rows of the input that count, from 0, and the classes of their targets, from 0.

    message: what is raised where weights are not as many as there are classes.
    """
    classes = _classes(input)
    if target.ndim > 1:
        raise TorchError("multi-target not supported")
    if input.ndim > 2:
        raise TorchError("input tensor should be 1D or 2D")
    if weights is not None and weights.nelement != classes:
        raise TorchError(message)
    count = input.sizes[0] if input.ndim == 2 else 1
    if not target.ndim:
        raise ArgError(2, "dimension 1 out of range of 0D tensor")
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
