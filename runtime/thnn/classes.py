"""Criterions of classes: losses of scores, or logarithms of probabilities, and targets' numbers.

Classes are counted from 1. A loss is written to a tensor of one element. sizeAverage divides it,
and the gradient, by the weights of the targets, or by the number of frames. The loops are jobs of
``thnn/classes.lua``.
"""

import math

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor, describe
from th_shell.runtime.thnn._jobs import check_range, is_recording, refuse_recording, run
from th_shell.runtime.thnn.checks import check, check_size, first_element
from th_shell.runtime.thnn.table import Call, thnn

_WRONG_CLASS = "Assertion `cur_target >= 0 && cur_target < n_classes' failed. "
_INPUT = "input, THIndexTensor *target"


def _run(job: str, **parameters: object) -> None:
    """Do a job, which raises the error where a target is no class."""
    try:
        run(job, 1, **parameters)  # type: ignore[arg-type]
    except IndexError:
        raise TorchError(_WRONG_CLASS) from None


# -- ClassNLLCriterion

_CLASSES = "bool sizeAverage, weights?, total_weight, long ignore_index"


@thnn("ClassNLLCriterion_updateOutput", f"{_INPUT}, output, {_CLASSES}")
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
    _add_up(call, _check_frames(call, message), call.input.sizes[-1], 1, call.ignore_index)


@thnn("ClassNLLCriterion_updateGradInput", f"{_INPUT}, gradInput, {_CLASSES}")
def class_nll_gradient(call: Call) -> None:
    """gradInput at the targets' classes = minus their weights; the others stay as they are."""
    classes = _classes(call.input)
    if not call.gradInput.is_contiguous:
        raise TorchError("gradInput must be contiguous")
    if _weighs_nothing(call):
        return
    frames = _check_frames(call, "weight tensor should be defined either for all or no classes")
    # Torch7: of one frame, the gradient does not count the weight where it is averaged.
    plain = call.input.ndim == 1 and call.sizeAverage
    _spread(call, frames, classes, 1, call.ignore_index, plain)


def _classes(input: Tensor) -> int:
    if not input.ndim:
        raise ArgError(2, "dimension 0 out of range of 0D tensor")
    return input.sizes[-1]


def _check_frames(call: Call, message: str) -> int:
    """Count the frames. message: the error of another number of weights than classes."""
    input, target = call.input, call.target
    if target.ndim > 1:
        raise TorchError("multi-target not supported")
    if input.ndim > 2:
        raise TorchError("input tensor should be 1D or 2D")
    if call.weights is not None and call.weights.nelement != _classes(input):
        raise TorchError(message)
    frames = input.sizes[0] if input.ndim == 2 else 1
    if not target.ndim:
        raise ArgError(2, "dimension 1 out of range of 0D tensor")
    if input.ndim == 2 and target.nelement != frames:
        raise TorchError("Assertion `THIndexTensor_(size)(target, 0) == batch_size' failed. ")
    return frames


# -- SpatialClassNLLCriterion

_MAPS = "bool sizeAverage, weights?, total_weight"


@thnn("SpatialClassNLLCriterion_updateOutput", f"{_INPUT}, output, {_MAPS}")
def spatial_nll(call: Call) -> None:
    """output = minus the sum of the inputs, times the weights, of the classes of all positions.

    input: frames x classes x rows x columns. total_weight gets the sum of the weights.
    """
    _check_maps(call)
    frames, classes, h, w = call.input.sizes
    _add_up(call, frames, classes, h * w, math.nan)


@thnn("SpatialClassNLLCriterion_updateGradInput", f"{_INPUT}, gradInput, {_MAPS}")
def spatial_nll_gradient(call: Call) -> None:
    """gradInput at the targets' classes = minus their weights; the others stay as they are."""
    _check_maps(call)
    check(call.gradInput.is_contiguous, 4, "gradInput must be contiguous")
    if _weighs_nothing(call):
        return
    frames, classes, h, w = call.input.sizes
    _spread(call, frames, classes, h * w, math.nan)


def _check_maps(call: Call) -> None:
    input, target = call.input, call.target
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
    if call.weights is not None and call.weights.nelement != input.sizes[1]:
        raise TorchError("weight tensor should be defined either for all or no classes")
    frames, _, *maps = input.sizes
    if (frames, *maps) != target.sizes:
        raise TorchError(
            "Assertion `input0 == target0 && input2 == target1 && input3 == target2' failed. "
            f"size mismatch (got input: {'x'.join(map(str, input.sizes))}, "
            f"target: {'x'.join(map(str, target.sizes))})"
        )


# -- both


def _add_up(call: Call, frames: int, classes: int, inner: int, ignored: float) -> None:
    """output and total_weight, of `inner` positions in each frame."""
    first_element("output", call.output)
    first_element("total_weight", call.total_weight)
    x, target, weights = call.read(call.input), call.read(call.target), call.given(call.weights)
    _run(
        "nn_class_loss",
        input=x,
        target=target,
        output=call.change(call.output),
        total=call.change(call.total_weight),
        weights=weights,
        average=call.sizeAverage,
        ignored=ignored,
        frames=frames,
        classes=classes,
        inner=inner,
    )


def _weighs_nothing(call: Call) -> bool:
    """Tell whether no target counts, so that the gradient stays; of a recorded call a job asks."""
    total = first_element("total_weight", call.total_weight)
    return not (is_recording() or total > 0)


def _spread(
    call: Call, frames: int, classes: int, inner: int, ignored: float, plain: bool = False
) -> None:
    """gradInput at the targets. plain: whether all weights are 1."""
    if call.gradInput.nelement < frames * classes * inner:
        raise TorchError(f"gradInput is too small: {describe(call.gradInput.sizes)}")
    target, total = call.read(call.target), call.read(call.total_weight)
    weights = call.given(None if plain else call.weights)
    _run(
        "nn_class_back",
        target=target,
        gradient=call.change(call.gradInput),
        total=total,
        weights=weights,
        average=call.sizeAverage and not plain,
        ignored=ignored,
        frames=frames,
        classes=classes,
        inner=inner,
    )


# -- margins


def _frames(input: Tensor) -> tuple[int, int]:
    """Count the frames and classes of scores."""
    check(input.ndim in (1, 2), 2, "vector or matrix expected")
    classes = input.sizes[-1]
    return input.nelement // classes, classes


def _targets(call: Call, count: int, least: int, most: int) -> Array:
    """The first targets, which must be in a range."""
    target = call.read(call.target, count)
    try:
        check_range(target, least, most)
    except IndexError:
        raise ArgError(3, "target out of range") from None
    return target


def _check_loss(call: Call) -> None:
    check(call.output.ndim == 1, 1, "tensor must have one dimension")


_MARGIN = "bool sizeAverage, int p, weights?, accreal margin"


@thnn("MultiMarginCriterion_updateOutput", f"{_INPUT}, output, {_MARGIN}")
@thnn("MultiMarginCriterion_updateGradInput", f"{_INPUT}, gradInput, {_MARGIN}")
def multi_margin(call: Call) -> None:
    """output = the sum of (margin - target's score + other score)^p where that is positive.

    Divided by the number of classes; p is 1 or 2. gradInput = the derivative of each excess, and
    minus their sum at the target.
    """
    back = hasattr(call, "gradInput")
    frames, classes = _frames(call.input)
    check(call.input.ndim == 1 or call.target.sizes == (frames,), 3, "inconsistent target size")
    check(call.target.ndim == 1, 1, "tensor must have one dimension")
    _check_weights(call, frames, classes)
    if not back:
        _check_loss(call)
    x, weights = call.read(call.input), call.given(call.weights)
    target = _targets(call, frames, 1, classes)
    run(
        "nn_margins",
        1,
        size=x.itemsize,
        input=x,
        target=target,
        output=call.write(call.gradInput, call.input.sizes) if back else call.change(call.output),
        weights=weights,
        average=call.sizeAverage,
        power=call.p,
        margin=call.margin,
        back=back,
        frames=frames,
        classes=classes,
    )


def _check_weights(call: Call, frames: int, classes: int) -> None:
    """Raise an error where a target's class has no weight; others need none."""
    if call.weights is not None and call.weights.nelement < classes:
        refuse_recording("which weights are needed depends on elements")
        if call.weights.nelement < call.target.flat[:frames].max():
            shape = describe(call.weights.sizes)
            raise TorchError(f"a weight for each class is needed, got {shape}")


@thnn("MultiLabelMarginCriterion_updateOutput", f"{_INPUT}, output, isTarget, bool sizeAverage")
def multi_label(call: Call) -> None:
    """output = the sum of 1 - target's score + other score where that is positive.

    For each target of a frame, which end with the first 0, and each class that is no target of it.
    Divided by the number of classes. isTarget becomes 1 at the targets, 0 elsewhere.
    """
    frames, classes = _check_labels(call)
    _check_loss(call)
    x, target = call.read(call.input), _targets(call, frames * classes, 0, classes)
    run(
        "nn_labels",
        1,
        size=x.itemsize,
        input=x,
        target=target,
        output=call.change(call.output),
        marks=call.write(call.isTarget, call.target.sizes),
        count=frames if call.sizeAverage else 1,
        frames=frames,
        classes=classes,
    )


@thnn(
    "MultiLabelMarginCriterion_updateGradInput",
    f"{_INPUT}, gradInput, isTarget, bool sizeAverage",
)
def multi_label_gradient(call: Call) -> None:
    """gradInput = the derivatives; isTarget is what the loss has left there."""
    frames, classes = _check_labels(call)
    check(call.isTarget.sizes == call.input.sizes, 3, "inconsistent isTarget size")
    x, marks = call.read(call.input), call.read(call.isTarget)
    target = _targets(call, frames * classes, 0, classes)
    fits = is_recording() or bool((marks >= 0).all() and (marks <= 1).all())
    check(fits, 3, "isTarget out of range")
    run(
        "nn_labels_back",
        1,
        size=x.itemsize,
        input=x,
        target=target,
        output=call.write(call.gradInput, call.input.sizes),
        marks=marks,
        norm=float(x.dtype.type(1 / (x.size if call.sizeAverage else classes))),
        frames=frames,
        classes=classes,
    )


def _check_labels(call: Call) -> tuple[int, int]:
    """Count the frames and classes of the input. Check the target's sizes."""
    counts = _frames(call.input)
    check(call.target.sizes == call.input.sizes, 3, "inconsistent target size")
    return counts
