"""Criterions that go element by element: losses of an input and a target, and their gradients.

A loss is written to a tensor of one element. sizeAverage divides it, and the gradient, by the
number of elements.
"""

from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.thnn._formulas import formula
from th_shell.runtime.thnn._jobs import is_recording
from th_shell.runtime.thnn.checks import check_counts, check_size
from th_shell.runtime.thnn.table import Call

_LOSS = "input, target, output, bool sizeAverage"
_GRADIENT = "input, target, gradInput, bool sizeAverage"


def _check_loss(call: Call) -> None:
    check_counts(input=call.input, target=call.target)
    check_size("output", call.output, 1, 0, 1)


def _check_gradient(call: Call) -> None:
    check_counts(input=call.input, target=call.target)


def _loss(name: str, terms: str, more: str = "") -> None:
    """Add the row of a loss: the sum of terms."""
    formula(f"{name}_updateOutput", _LOSS + more, f"TOTAL = {terms}", check=_check_loss)


def _gradient(name: str, text: str, more: str = "") -> None:
    """Add the row of its gradient."""
    formula(
        f"{name}_updateGradInput", _GRADIENT + more, f"gradInput = {text}", check=_check_gradient
    )


_loss("MSECriterion", "(input - target) * (input - target)")
_gradient("MSECriterion", "(input - target) * NORM * 2")


def _check_absolute(call: Call) -> None:
    check_counts(input=call.input, target=call.target)
    if call.output.ndim != 1:
        raise ArgError(1, "tensor must have one dimension")


formula(
    "AbsCriterion_updateOutput",
    _LOSS,
    "TOTAL = absolute(input - target)",
    check=_check_absolute,
)
_gradient("AbsCriterion", "input - target >= 0 and NORM or -NORM")

# 1e-12 keeps logarithms and divisors away from 0.
_BCE = "-(log({x} + 1e-12) * {y} + log(1 - {x} + 1e-12) * (1 - {y}))".format(
    x="double(input)", y="double(target)"
)
_VALID = "minimum(input, 1 - input) >= 0"
_BCE_SLOPE = (
    "cast((double(target) - double(input)) * -NORM"
    " / ((1 - double(input) + 1e-12) * (double(input) + 1e-12)))"
)


def _check_weights(call: Call) -> None:
    _check_gradient(call)
    check_counts(input=call.input, weights=call.weights)


def _check_bce(call: Call) -> None:
    _check_weights(call)
    check_size("output", call.output, 1, 0, 1)
    x = call.input.flat
    valid = (x >= 0) & (x <= 1)
    if not (is_recording() or valid.all()):  # where Lua repeats the call, a nan in the sum tells
        raise TorchError(
            "Assertion `x >= 0. && x <= 1.' failed. input value should be between 0~1, "
            f"but got {x[valid.argmin()]:f}"
        )


formula(
    "BCECriterion_updateOutput",
    _LOSS + ", weights?",
    f"TOTAL = {_VALID} and {_BCE} or NAN if weights is None"
    f" else {_VALID} and {_BCE} * double(weights) or NAN",
    check=_check_bce,
)
formula(
    "BCECriterion_updateGradInput",
    _GRADIENT + ", weights?",
    f"gradInput = {_BCE_SLOPE} if weights is None else {_BCE_SLOPE} * weights",
    check=_check_weights,
)

_loss("DistKLDivCriterion", "target > 0 and target * (log(target) - input) or 0")
_gradient("DistKLDivCriterion", "target > 0 and target * -NORM or 0")

_MARGIN = ", accreal margin"
_loss("MarginCriterion", "fmax(margin - input * target, 0)", _MARGIN)
_gradient("MarginCriterion", "input * target < margin and target * -NORM or 0", _MARGIN)

_loss("SoftMarginCriterion", "cast(log(1 + exp(double(-input * target))))")
_SOFT = "cast(exp(double(-target * input)))"
_gradient(
    "SoftMarginCriterion",
    f"cast(double(target * -NORM * {_SOFT}) / (1 + double({_SOFT})))",
)

_DISTANCE = "absolute(input - target)"
_loss(
    "SmoothL1Criterion",
    f"({_DISTANCE} - 0.5 * minimum({_DISTANCE}, 1)) * minimum({_DISTANCE}, 1)",
)
_gradient("SmoothL1Criterion", "minimum(maximum(input - target, -1), 1) * NORM")

formula(
    "L1Cost_updateOutput",
    "input, output",
    "TOTAL = absolute(input)",
    check=lambda call: check_size("output", call.output, 1, 0, 1),
)
formula(
    "L1Cost_updateGradInput",
    "input, gradOutput?, gradInput",
    "gradInput = input > 0 and 1 or input < 0 and -1 or 0",
    check=lambda call: check_counts(input=call.input, gradOutput=call.gradOutput),
)
