"""Criterions: losses of an input and a target, and their gradients.

A loss is written to a tensor of one element. sizeAverage divides it, and the gradient, by the
number of elements, or by the weights of the targets where classes have weights.
"""

from __future__ import annotations

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor, describe
from runtime.thnn._elements import compute_each
from runtime.thnn.checks import check_counts, check_size
from runtime.thnn.table import thnn

__all__: list[str] = []

_LOSS = "THTensor *input, THTensor *target, THTensor *output, bool sizeAverage"
_GRADIENT = "THTensor *input, THTensor *target, THTensor *gradInput, bool sizeAverage"


@thnn("MSECriterion_updateOutput", _LOSS)
def mse(input: Tensor, target: Tensor, output: Tensor, size_average: bool) -> None:
    """output = the sum of (input - target)^2."""
    check_counts(input=input, target=target)
    check_size("output", output, 1, 0, 1)
    difference = input.flat - target.flat
    total = np.dot(difference, difference)
    output.array[0] = total / input.nelement if size_average else total


@thnn("MSECriterion_updateGradInput", _GRADIENT)
def mse_gradient(input: Tensor, target: Tensor, gradient: Tensor, size_average: bool) -> None:
    """gradInput = 2 * (input - target)."""
    check_counts(input=input, target=target)
    factor = input.dtype.numpy.type(2 / input.nelement if size_average else 2)

    def compute(x: Array, y: Array, out: Array) -> None:
        np.multiply(np.subtract(x, y, out=out), factor, out=out)

    compute_each(gradient, compute, input, target)


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
