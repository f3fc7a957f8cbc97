"""Linear: products of matrices with a bias; and the recurrent layers that only GPUs have."""

from __future__ import annotations

from typing import Any

from runtime.core.dtypes import cast_scalar
from runtime.core.errors import ArgError, TorchError
from runtime.core.tensor import Tensor
from runtime.ops._operands import check_counts
from runtime.ops.linalg.blas import addmm, addmv, addr
from runtime.thnn.table import thnn


def _ones(buffer: Tensor, frames: int) -> Tensor:
    """The buffer, with a 1 for each frame; as it is where it has as many elements."""
    if buffer.nelement != frames:
        buffer.resize((frames,))
        buffer.array[...] = 1
    return buffer


def _turned(matrix: Tensor) -> Tensor:
    """The matrix with its first two dimensions exchanged."""
    if matrix.ndim < 2:
        raise ArgError(2 if matrix.ndim else 1, "out of range")
    return matrix.transpose(0, 1)


def _add_matrices(r: Tensor, beta: float, alpha: float, m1: Tensor, m2: Tensor) -> None:
    """r = beta * r + alpha * m1 * m2."""
    if m1.ndim != 2 or m2.ndim != 2:
        raise TorchError(f"matrices expected, got {m1.ndim}D, {m2.ndim}D tensors")
    if m1.sizes[1] == m2.sizes[0] and r.ndim != 2:
        raise TorchError(f"matrix expected, got {r.ndim}D tensor for t")
    addmm(r, beta, r, alpha, m1, m2)


def _add_vector(r: Tensor, beta: float, t: Tensor, alpha: float, mat: Tensor, vec: Tensor) -> None:
    """r = beta * t + alpha * mat * vec."""
    if mat.ndim != 2 or vec.ndim != 1:
        raise TorchError(f"matrix and vector expected, got {mat.ndim}D, {vec.ndim}D")
    if mat.sizes[1] == vec.sizes[0] and t.ndim != 1:
        raise TorchError(f"vector expected, got t: {t.ndim}D")
    addmv(r, beta, t, alpha, mat, vec)


def _add_outer(r: Tensor, alpha: float, vec1: Tensor, vec2: Tensor) -> None:
    """r += alpha * the outer product of two vectors."""
    if vec1.ndim != 1 or vec2.ndim != 1:
        raise TorchError(f"vector and vector expected, got {vec1.ndim}D, {vec2.ndim}D tensors")
    if r.ndim != 2:
        raise TorchError(f"expected matrix, got {r.ndim}D tensor for t")
    addr(r, 1, r, alpha, vec1, vec2)


@thnn(
    "Linear_updateOutput",
    "THTensor *input, THTensor *output, THTensor *weight, THTensor *bias?, THTensor *addBuffer?",
)
def linear(
    input: Tensor, output: Tensor, weight: Tensor, bias: Tensor | None, buffer: Tensor | None
) -> None:
    """output = weight * input + bias, of a vector or of each row of a matrix."""
    if input.ndim not in (1, 2):
        return
    if not weight.ndim:
        raise ArgError(2, "dimension 1 out of range of 0D tensor")
    rows = weight.sizes[0]
    start = output.new((rows,))
    if input.ndim == 1:
        if bias is not None:
            check_counts(tensor=start, src=bias)
        start.array[...] = 0 if bias is None else bias.flat
        _add_vector(output, 1, start, 1, weight, input)
    else:
        product = output.new((input.sizes[0], rows))
        _add_matrices(product, 0, 1, input, _turned(weight))
        output.resize(product.sizes)
        output.array[...] = product.array
        if buffer is not None:
            _ones(buffer, input.sizes[0])
        if bias is not None and buffer is not None:
            _add_outer(output, 1, buffer, bias)


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
    result = gradient.new(input.sizes)
    if input.ndim == 1:
        _add_vector(result, 0, result, 1, _turned(weight), grad_output)
    elif input.ndim == 2:
        _add_matrices(result, 0, 1, grad_output, weight)
    else:
        result.array[...] = 0
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
    if input.ndim == 1:
        _add_outer(grad_weight, scale, grad_output, input)
        if bias is not None and grad_bias is not None:
            check_counts(r_=grad_bias, t=grad_bias, src=grad_output)
            grad_bias.array[...] += (scale * grad_output.flat).reshape(grad_bias.sizes)
    elif input.ndim == 2:
        upper = _turned(grad_output)
        _add_matrices(grad_weight, 1, scale, upper, input)
        if bias is not None and grad_bias is not None and buffer is not None:
            ones = _ones(buffer, input.sizes[0])
            _add_vector(grad_bias, 1, grad_bias, scale, upper, ones)


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
