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
from runtime.thnn.table import Call, thnn

_CLASSES = ", bool sizeAverage, weights?, total_weight, long ignore_index"


@thnn(
    "ClassNLLCriterion_updateOutput",
    "input, THIndexTensor *target, output" + _CLASSES,
    repeats=False,
)
def class_nll(call: Call) -> None:
    """output = minus the sum of the inputs, times the weights, of the targets' classes.

    total_weight gets the sum of the weights. Targets of ignore_index do not count.
    """
    check_size("output", call.output, 1, 0, 1)
    check_size("total_weight", call.total_weight, 1, 0, 1)
    shape = "" if call.weights is None else describe(call.weights.sizes)
    message = (
        f"weight tensor should be defined either for all {_classes(call.input)} classes or no "
        f"classes but got weight tensor of shape: {shape}"
    )
    rows, places = _targets(call.input, call.target, call.weights, call.ignore_index, message)
    weight = (
        np.ones(len(rows), call.input.dtype.numpy)
        if call.weights is None
        else call.weights.flat[places]
    )
    x = call.input.array.reshape(-1, call.input.sizes[-1])
    total = weight.sum()
    loss = 0 - np.dot(x[rows, places], weight)
    call.total_weight.array[0] = total
    call.output.array[0] = loss / total if call.sizeAverage and total else loss


@thnn(
    "ClassNLLCriterion_updateGradInput",
    "input, THIndexTensor *target, gradInput" + _CLASSES,
    repeats=False,
)
def class_nll_gradient(call: Call) -> None:
    """gradInput at the targets' classes = minus their weights; the others stay as they are."""
    classes = _classes(call.input)
    if not call.gradInput.is_contiguous:
        raise TorchError("gradInput must be contiguous")
    total = first_element("total_weight", call.total_weight)
    if not total > 0:
        return
    message = "weight tensor should be defined either for all or no classes"
    rows, places = _targets(call.input, call.target, call.weights, call.ignore_index, message)
    at = rows * classes + places
    if at.size and at.max() >= call.gradInput.nelement:
        raise TorchError(f"gradInput is too small: {describe(call.gradInput.sizes)}")
    values = (
        -np.ones(1, call.input.dtype.numpy) if call.weights is None else -call.weights.flat[places]
    )
    # Torch7: of one frame, the gradient does not count the weight where it is averaged.
    if call.input.ndim == 1 and call.sizeAverage:
        values = -np.ones(1, call.input.dtype.numpy)
    elif call.sizeAverage:
        values = values / total
    call.gradInput.array.reshape(-1)[at] = values


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


_MAPS = ", bool sizeAverage, weights?, total_weight"


@thnn(
    "SpatialClassNLLCriterion_updateOutput",
    "input, THIndexTensor *target, output" + _MAPS,
    repeats=False,
)
def spatial_nll(call: Call) -> None:
    """output = minus the sum of the inputs, times the weights, of the classes of all positions.

    input: frames x classes x rows x columns. total_weight gets the sum of the weights.
    """
    at = _checked_maps(call.input, call.target, call.weights)
    loss, total = (
        first_element("output", call.output),
        first_element("total_weight", call.total_weight),
    )
    x = call.input.flat.reshape(*call.input.sizes[:2], -1)
    picked = np.take_along_axis(x, at, 1)
    weight = np.ones(1, x.dtype) if call.weights is None else call.weights.flat[at]
    total[...] = at.size if call.weights is None else weight.sum()
    loss[...] = -(picked * weight).sum(dtype=np.float64)
    if call.sizeAverage and total:
        loss /= total


@thnn(
    "SpatialClassNLLCriterion_updateGradInput",
    "input, THIndexTensor *target, gradInput" + _MAPS,
    repeats=False,
)
def spatial_nll_gradient(call: Call) -> None:
    """gradInput at the targets' classes = minus their weights; the others stay as they are."""
    at = _checked_maps(call.input, call.target, call.weights)
    check(call.gradInput.is_contiguous, 4, "gradInput must be contiguous")
    total = first_element("total_weight", call.total_weight)
    if total <= 0:
        return
    if call.gradInput.nelement < call.input.nelement:
        raise TorchError(f"gradInput is too small: {describe(call.gradInput.sizes)}")
    values = -np.ones(1, call.input.dtype.numpy) if call.weights is None else -call.weights.flat[at]
    out = call.gradInput.array.reshape(-1)[: call.input.nelement].reshape(*call.input.sizes[:2], -1)
    np.put_along_axis(out, at, values / total if call.sizeAverage else values, 1)


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
