"""Linear: products of matrices with a bias; and the recurrent layers that only GPUs have."""

from __future__ import annotations

from typing import Any

from runtime.core.dtypes import cast_scalar
from runtime.core.errors import TorchError
from runtime.core.tensor import Tensor, describe
from runtime.ops._operands import check_counts
from runtime.ops.linalg.blas import addmm, addmv, addr
from runtime.thnn.table import thnn

__all__: list[str] = []


def _ones(buffer: Tensor, frames: int) -> Tensor:
    """The buffer, with a 1 for each frame; as it is where it has as many elements."""
    if buffer.nelement != frames:
        buffer.resize((frames,))
        buffer.array[...] = 1
    return buffer


def _check_matrix(name: str, tensor: Tensor) -> None:
    if tensor.ndim != 2:
        raise TorchError(f"{name} must be a matrix, but is of shape: {describe(tensor.sizes)}")


def _check_vector(name: str, tensor: Tensor | None) -> None:
    if tensor is not None and tensor.ndim != 1:
        raise TorchError(f"{name} must be a vector, but is of shape: {describe(tensor.sizes)}")


@thnn(
    "Linear_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias?, THTensor *addBuffer?",
)
def linear(
    input: Tensor, output: Tensor, weight: Tensor, bias: Tensor | None, buffer: Tensor | None
) -> None:
    """output = weight * input + bias, of a vector or of each row of a matrix."""
    _check_matrix("weight", weight)
    _check_vector("bias", bias)
    rows = weight.sizes[0]
    start = output.new((rows,))
    if input.ndim == 1:
        start.array[...] = 0 if bias is None else bias.array
        addmv(output, 1, start, 1, weight, input)
    elif input.ndim == 2:
        product = output.new((input.sizes[0], rows))
        addmm(product, 0, product, 1, input, weight.transpose(0, 1))
        output.resize(product.sizes)
        output.array[...] = product.array
        if buffer is not None:
            _ones(buffer, input.sizes[0])
        if bias is not None and buffer is not None:
            addr(output, 1, output, 1, buffer, bias)


@thnn(
    "Linear_updateGradInput",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput?, THTensor *weight",
)
def linear_backward(
    input: Tensor, grad_output: Tensor, gradient: Tensor | None, weight: Tensor
) -> None:
    """gradInput = the transpose of weight * gradOutput."""
    if gradient is None:
        return
    _check_matrix("weight", weight)
    result = gradient.new(input.sizes)
    if input.ndim == 1:
        _check_vector("gradOutput", grad_output)
        addmv(result, 0, result, 1, weight.transpose(0, 1), grad_output)
    elif input.ndim == 2:
        _check_matrix("gradOutput", grad_output)
        addmm(result, 0, result, 1, grad_output, weight)
    gradient.resize(input.sizes)
    gradient.array[...] = result.array


@thnn(
    "Linear_accGradParameters",
    "THTensor *input, THTensor *gradOutput, THTensor *gradInput?, THTensor *weight?, "
    "THTensor *bias?, THTensor *gradWeight, THTensor *gradBias?, THTensor *addBuffer?, "
    "accreal scale",
)
def linear_accumulate(
    input: Tensor,
    grad_output: Tensor,
    _gradient: Tensor | None,
    _weight: Tensor | None,
    bias: Tensor | None,
    grad_weight: Tensor,
    grad_bias: Tensor | None,
    buffer: Tensor | None,
    scale: float,
) -> None:
    """Add scale times the gradients of weight and bias to gradWeight and gradBias."""
    scale = cast_scalar(scale, input.dtype)
    _check_matrix("gradWeight", grad_weight)
    if input.ndim == 1:
        _check_vector("gradOutput", grad_output)
        addr(grad_weight, 1, grad_weight, scale, grad_output, input)
        if bias is not None and grad_bias is not None:
            check_counts(r_=grad_bias, t=grad_bias, src=grad_output)
            grad_bias.array[...] += (scale * grad_output.flat).reshape(grad_bias.sizes)
    elif input.ndim == 2:
        _check_matrix("gradOutput", grad_output)
        upper = grad_output.transpose(0, 1)
        addmm(grad_weight, 1, grad_weight, scale, upper, input)
        if bias is not None and grad_bias is not None and buffer is not None:
            addmv(grad_bias, 1, grad_bias, scale, upper, _ones(buffer, input.sizes[0]))


def _only_on_gpus(*_: Any) -> None:
    """An error: the original has this function for GPUs alone."""
    raise TorchError("Assertion `false' failed. Not implemented for CPU")


_FUSED = {
    "GRUFused_updateOutput": "input hidden bias1? bias2? hx output storage",
    "GRUFused_updateGradInput": "gradInInput gradInHidden gradOutput gradInputHx storage",
    "LSTMFused_updateOutput": "input hidden bias1? bias2? cell output outputCell",
    "LSTMFused_updateGradInput": "storage gradInGates cx cy gradOutput gradOutputCell gradInputCx",
}
for _name, _parameters in _FUSED.items():
    thnn(_name, ", ".join(f"THTensor *{name}" for name in _parameters.split()))(_only_on_gpus)
