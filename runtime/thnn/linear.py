"""Linear: products of matrices with a bias; and the recurrent layers that only GPUs have."""

from __future__ import annotations

from th_shell.runtime.core.dtypes import cast_scalar
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.ops._operands import check_counts
from th_shell.runtime.ops.linalg.blas import addmm, addmv, addr
from th_shell.runtime.thnn.table import Call, thnn


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
    "input, output, weight, bias?, addBuffer?",
    repeats=False,
)
def linear(call: Call) -> None:
    """output = weight * input + bias, of a vector or of each row of a matrix."""
    if call.input.ndim not in (1, 2):
        return
    if not call.weight.ndim:
        raise ArgError(2, "dimension 1 out of range of 0D tensor")
    rows = call.weight.sizes[0]
    start = call.output.new((rows,))
    if call.input.ndim == 1:
        if call.bias is not None:
            check_counts(tensor=start, src=call.bias)
        start.array[...] = 0 if call.bias is None else call.bias.flat
        _add_vector(call.output, 1, start, 1, call.weight, call.input)
    else:
        product = call.output.new((call.input.sizes[0], rows))
        _add_matrices(product, 0, 1, call.input, _turned(call.weight))
        call.output.resize(product.sizes)
        call.output.array[...] = product.array
        if call.addBuffer is not None:
            _ones(call.addBuffer, call.input.sizes[0])
        if call.bias is not None and call.addBuffer is not None:
            _add_outer(call.output, 1, call.addBuffer, call.bias)


@thnn(
    "Linear_updateGradInput",
    "input, gradOutput, gradInput?, weight",
    repeats=False,
)
def linear_backward(call: Call) -> None:
    """gradInput = the transpose of weight * gradOutput."""
    if call.gradInput is None:
        return
    result = call.gradInput.new(call.input.sizes)
    if call.input.ndim == 1:
        _add_vector(result, 0, result, 1, _turned(call.weight), call.gradOutput)
    elif call.input.ndim == 2:
        _add_matrices(result, 0, 1, call.gradOutput, call.weight)
    else:
        result.array[...] = 0
    call.gradInput.resize(call.input.sizes)
    call.gradInput.array[...] = result.array


@thnn(
    "Linear_accGradParameters",
    "input, gradOutput, gradInput?, weight?, "
    "bias?, gradWeight, gradBias?, addBuffer?, "
    "accreal scale",
    repeats=False,
)
def linear_accumulate(call: Call) -> None:
    """Add scale times the gradients of weight and bias to gradWeight and gradBias."""
    scale = call.scale
    scale = cast_scalar(scale, call.input.dtype)
    if call.input.ndim == 1:
        _add_outer(call.gradWeight, scale, call.gradOutput, call.input)
        if call.bias is not None and call.gradBias is not None:
            check_counts(r_=call.gradBias, t=call.gradBias, src=call.gradOutput)
            call.gradBias.array[...] += (scale * call.gradOutput.flat).reshape(call.gradBias.sizes)
    elif call.input.ndim == 2:
        upper = _turned(call.gradOutput)
        _add_matrices(call.gradWeight, 1, scale, upper, call.input)
        if call.bias is not None and call.gradBias is not None and call.addBuffer is not None:
            ones = _ones(call.addBuffer, call.input.sizes[0])
            _add_vector(call.gradBias, 1, call.gradBias, scale, upper, ones)


def _only_on_gpus(_: Call) -> None:
    """An error: the original has this function for GPUs alone."""
    raise TorchError("Assertion `false' failed. Not implemented for CPU")


_FUSED = {
    "GRUFused_updateOutput": "input hidden bias1? bias2? hx output storage",
    "GRUFused_updateGradInput": "gradInInput gradInHidden gradOutput gradInputHx storage",
    "LSTMFused_updateOutput": "input hidden bias1? bias2? cell output outputCell",
    "LSTMFused_updateGradInput": "storage gradInGates cx cy gradOutput gradOutputCell gradInputCx",
}
for _name, _parameters in _FUSED.items():
    thnn(_name, ", ".join(_parameters.split()), repeats=False)(_only_on_gpus)
