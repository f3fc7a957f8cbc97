"""Layers whose input names rows of the weight: LookupTable and IndexLinear.

LookupTable has the gradient of rows of a matrix, and the limit of their norms. IndexLinear has
products with sparse rows whose entries are keys, which name rows of the weight: the entries of all
samples lie in one vector of keys and one of values; `sizes` tells how many each sample has. A row
of the weight may begin with numbers that normalize the values of its key (thnn/index.lua, which has
the loops, tells which).
"""

import numpy as np

from th_shell.runtime.core.dtypes import Array, cast_scalar
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Tensor, describe
from th_shell.runtime.thnn._jobs import blas, check_range, is_recording, refuse_recording, run
from th_shell.runtime.thnn.checks import check
from th_shell.runtime.thnn.table import Call, thnn, unrepeated

# -- LookupTable


_LONG = 64  # elements of rows that are worth cutting


@thnn(
    "LookupTable_accGradParameters",
    "THIndexTensor *input, gradOutput, gradWeight, THIntegerTensor *count, sorted?, "
    "THIndexTensor *indices?, bool scaleGradByFreq, int paddingValue, accreal scale",
)
def accumulate(call: Call) -> None:
    """Add scale times each row of gradOutput to the row of gradWeight that input names.

    scale_by_frequency: divided by how often the row is named; count gets these numbers.
    padding: rows that input names by this number get nothing.
    """
    weight, count, length = call.gradWeight, call.input.nelement, _length_of_rows(call)
    factors: Array | int = 0
    if not is_recording():
        rows = _checked_rows("inputs need", call.input, weight)
        if call.scaleGradByFreq:
            factors = call.scale / _frequencies(call, rows)
    elif call.scaleGradByFreq:
        refuse_recording("how often rows are named depends on elements")
    at, g = call.read(call.input), call.read(call.gradOutput)
    if is_recording():
        check_range(at, most=weight.sizes[0])
    gradients = call.change(weight)
    run(
        "nn_add_to_named",
        length,
        work=length * count // 10 if length >= _LONG else 0,
        run=blas("axpy", g.itemsize),
        at=at,
        grads=g,
        gradients=gradients,
        scale=call.scale,
        factors=factors,
        count=count,
        rows=weight.sizes[0],
        length=length,
        padding=call.paddingValue,
    )


def _length_of_rows(call: Call) -> int:
    """The length of a row."""
    weight, input = call.gradWeight, call.input
    if not weight.is_contiguous:
        raise TorchError("gradWeight must be contiguous")
    if not input.is_contiguous:
        raise TorchError("input must be contiguous")
    if input.ndim not in (1, 2):
        raise TorchError(
            f"input must be a vector or matrix, but is of shape: {describe(input.sizes)}"
        )
    if not weight.ndim:
        raise ArgError(2, "dimension 1 out of range of 0D tensor")
    length: int = weight.nelement // weight.sizes[0]
    if call.gradOutput.nelement < input.nelement * length:
        raise TorchError(f"gradOutput has too few elements: {describe(call.gradOutput.sizes)}")
    return length


def _frequencies(call: Call, rows: Array) -> Array:
    """Count how often each of the rows is named; `count` gets the numbers of all rows."""
    counts = np.bincount(rows, minlength=call.gradWeight.sizes[0])
    call.count.resize((len(counts),))
    call.count.array[rows] = counts[rows]
    return counts[rows]


@unrepeated("LookupTable_renorm", "THIndexTensor *idx, weight, accreal maxNorm, accreal normType")
def renorm(call: Call) -> None:
    """Scale the rows of weight that idx names down to a norm of max_norm where it is greater.

    Torch7: idx is sorted.
    """
    if not call.weight.is_contiguous:
        raise TorchError("weight must be contiguous")
    if not call.idx.is_contiguous:
        raise TorchError("input must be contiguous")
    if call.idx.ndim != 1:
        raise TorchError("idx must be a vector")
    if call.normType <= 0:
        raise TorchError("non-positive-norm not supported")
    rows = np.unique(_checked_rows("input need", call.idx, call.weight))
    call.idx.array.sort()
    call.idx.array[: len(rows)] = rows + 1
    values = call.weight.array.reshape(call.weight.sizes[0], -1)
    norms = (np.abs(values[rows]) ** call.normType).sum(axis=1) ** (1 / call.normType)
    large = norms > call.maxNorm
    values[rows[large]] *= (call.maxNorm / (norms[large] + 1e-7))[:, None].astype(values.dtype)


def _checked_rows(message: str, input: Tensor, weight: Tensor) -> Array:
    """The numbers of rows of weight, from 0, in the order of input's elements."""
    if not weight.ndim:
        raise ArgError(2, "dimension 1 out of range of 0D tensor")
    count = weight.sizes[0]
    rows = input.flat - 1
    wrong = (rows < 0) | (rows >= count)
    if wrong.any():
        value = int(rows[wrong.argmax()]) + 1
        raise TorchError(
            f"{message} to be in the range 1 <= input < {count + 1}, but got input of value: "
            f"{value}"
        )
    return rows


# -- IndexLinear


class _Shape:
    """The sizes of the weight's rows: `outputs` weights behind `extra` other numbers."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        if weight.ndim != 2 or bias.ndim != 1:
            raise TorchError(
                "a matrix of weights and a vector of biases are needed, but they are of shape: "
                f"{describe(weight.sizes)}, {describe(bias.sizes)}"
            )
        self.rows, self.width = weight.sizes
        self.outputs = bias.sizes[0]
        self.extra = self.width - self.outputs
        if self.extra and self.extra < 4:
            raise TorchError(f"weights of {self.width} columns do not suit {self.outputs} outputs")
        #: What all jobs get of it.
        self.layout = {"outputs": self.outputs, "extra": self.extra}

    def places(self, keys: Tensor, offset: int) -> Array:
        """Return the start of the keys' rows, in elements."""
        rows = keys.flat + offset
        if rows.size and (rows.min() < 0 or rows.max() >= self.rows):
            raise TorchError(f"keys are not among the {self.rows} rows of the weight")
        return rows * self.width


def _check_dense(call: Call, described: str) -> None:
    """Raise an error unless tensors are contiguous.

    described: the tensors, with commas between them. Each is the position for the error, the field
    of the call, and words that the message adds to the field's name ("1 keys vector"), or says in
    place of it ("5 runningKeys as keys vector").
    """
    for text in described.split(", "):
        position, field, *words = text.split()
        name = " ".join(words[1:] if words[:1] == ["as"] else [field, *words])
        tensor: Tensor = getattr(call, field)
        check(tensor.is_contiguous, int(position), f"{name} must be contiguous")


def _check_entries(keys: Tensor, values: Tensor) -> None:
    same = keys.ndim == 1 and values.ndim == 1 and keys.nelement == values.nelement
    check(same, 1, "Keys and values should have the same number of elements")


def _starts(sizes: Tensor, starts: Array, count: int) -> tuple[Array, Array]:
    """Return the first entry of each sample and the number of its entries, as new arrays.

    starts: the cumulative sums of the sizes. count: the number of all entries. Raises TorchError
    where a sample reaches beyond them.
    """
    lengths = np.maximum(sizes.flat, 0)
    if len(starts) < len(lengths):
        raise TorchError(f"cumSumSizes has {len(starts)} elements for {len(lengths)} samples")
    starts = np.concatenate(([0], starts[: len(lengths) - 1])).astype(np.int64)
    used = lengths > 0
    if (starts[used] < 0).any() or (starts + lengths)[used].max(initial=0) > count:
        raise TorchError(f"sizes name more entries than there are: {count}")
    return starts, lengths


_ENTRIES = (
    "THIndexTensor *keys, long keysOffset, values, THIndexTensor *sizes, THIndexTensor *cumSumSizes"
)
_ACCUMULATED = "accreal weightDecay, accreal scale"
#: The first tensors of both gradients, as `_check_dense` takes them.
_UPPER = "1 keys vector, 3 values vector, 6 gradOutput vector"


@unrepeated(
    "IndexLinear_updateOutput", f"{_ENTRIES}, output, weight, bias, normalizedValues, int train"
)
def index_linear(call: Call) -> None:
    """output = bias + the sum over a sample's entries of value times the weights of the key.

    With normalization the values are first scaled to -1 to 1. normalizedValues gets the scaled
    ones, and in training the rows of the weight keep the greatest value of their key.
    """
    shape = _Shape(call.weight, call.bias)
    _check_dense(call, "1 keys vector, 3 values vector, 7 weight matrix, 8 bias vector")
    _check_entries(call.keys, call.values)
    at = shape.places(call.keys, call.keysOffset)
    starts, lengths = _starts(call.sizes, call.cumSumSizes.flat, call.keys.nelement)
    if shape.extra:
        call.normalizedValues.resize((call.keys.nelement,))
    call.output.resize((len(lengths), shape.outputs))
    _check_dense(call, "6 output vector, 9 normalizedValues vector")
    trains = shape.extra and call.train
    run(
        "index_forward",
        len(lengths),
        work=0 if trains else call.keys.nelement * shape.outputs,
        at=at,
        starts=starts,
        sizes=lengths,
        values=call.values.array,
        weight=call.weight.array,
        bias=call.bias.array,
        output=call.output.array,
        kept=call.normalizedValues.array if shape.extra else 0,
        train=call.train,
        **shape.layout,
    )


@unrepeated(
    "IndexLinear_accGradParameters",
    f"{_ENTRIES}?, gradOutput, gradWeight, gradBias, weight, bias, valuesBuffer, {_ACCUMULATED}",
)
def index_linear_gradients(call: Call) -> None:
    """gradWeight = a row for each entry: scale * gradOutput * value; gradBias gets its part added.

    With normalization, scale * gradOutput stands before it in each row.
    """
    shape = _Shape(call.weight, call.bias)
    _check_entries(call.keys, call.values)
    _check_dense(call, f"{_UPPER}, 8 gradBias vector, 9 weight, 10 bias vector, 11 valuesBuffer")
    starts, lengths = _all_starts(call)
    g = _gradients(call.gradOutput, len(lengths), shape.outputs)
    if call.gradBias.nelement < shape.outputs:
        raise TorchError(f"gradBias is too small: {describe(call.gradBias.sizes)}")
    scaled = g * g.dtype.type(cast_scalar(call.scale, call.weight.dtype))
    call.gradWeight.resize((call.keys.nelement, shape.outputs * (2 if shape.extra else 1)))
    run(
        "index_gradients",
        len(lengths),
        work=int(lengths.sum()) * shape.outputs,
        starts=starts,
        sizes=lengths,
        values=call.values.array,
        gradients=scaled,
        output=call.gradWeight.array,
        **shape.layout,
    )
    call.gradBias.array.reshape(-1)[: shape.outputs] += scaled.sum(axis=0)


def _all_starts(call: Call) -> tuple[Array, Array]:
    """Return the same for samples whose entries lie one behind the other."""
    lengths = np.maximum(call.sizes.flat, 0)
    return _starts(call.sizes, np.cumsum(lengths), call.keys.nelement)


def _gradients(grad_output: Tensor, samples: int, outputs: int) -> Array:
    if grad_output.nelement < samples * outputs:
        raise TorchError(
            f"gradOutput is too small for {samples} samples of {outputs} outputs: "
            f"{describe(grad_output.sizes)}"
        )
    return grad_output.flat[: samples * outputs].reshape(samples, outputs)


@unrepeated(
    "IndexLinear_accUpdateGradParameters", f"{_ENTRIES}?, gradOutput, weight, bias, {_ACCUMULATED}"
)
def index_linear_accumulate(call: Call) -> None:
    """weight and bias -= scale times their gradients, and weightDecay times the keys' weights."""
    shape = _Shape(call.weight, call.bias)
    _check_entries(call.keys, call.values)
    _check_dense(call, f"{_UPPER}, 7 weight matrix, 8 bias matrix")
    at = shape.places(call.keys, call.keysOffset)
    starts, lengths = _all_starts(call)
    g = _gradients(call.gradOutput, len(lengths), shape.outputs)
    scale = cast_scalar(call.scale, call.weight.dtype)
    call.bias.array[...] -= scale * g.sum(axis=0)
    run(
        "index_accumulate",
        len(lengths),
        at=at,
        starts=starts,
        sizes=lengths,
        values=call.values.array,
        weight=call.weight.array,
        gradients=g,
        decay=cast_scalar(call.weightDecay, call.weight.dtype),
        scale=scale,
        **shape.layout,
    )
    if shape.extra and shape.outputs == 1:  # Torch7: only then
        used = at[: int(lengths.sum())]
        call.weight.array.reshape(-1)[used + shape.extra - 2] = 0


@unrepeated(
    "IndexLinear_updateParameters",
    "gradWeight, gradBias, weight, bias, THIndexTensor *runningKeys, THIndexTensor *cumSumSizes?, "
    "long keysOffset, accreal weightDecay, accreal learningRate",
)
def index_linear_update(call: Call) -> None:
    """weight and bias -= learningRate times their gradients; gradWeight has a row for each key."""
    shape = _Shape(call.weight, call.bias)
    expected = "3 weight as gradBias vector, 4 bias as gradBias vector"
    _check_dense(call, f"1 gradWeight, 2 gradBias vector, {expected}, 5 runningKeys as keys vector")
    at = shape.places(call.runningKeys, call.keysOffset)
    needed = len(at) * shape.outputs * (2 if shape.extra else 1)
    if call.gradWeight.nelement < needed or call.gradBias.nelement < shape.outputs:
        actual = f"{describe(call.gradWeight.sizes)}, {describe(call.gradBias.sizes)}"
        raise TorchError(f"gradients are too small: {actual}")
    rate = cast_scalar(call.learningRate, call.weight.dtype)
    call.bias.array[...] -= rate * call.gradBias.flat[: shape.outputs]
    run(
        "index_update",
        len(at),
        at=at,
        gradients=call.gradWeight.array,
        weight=call.weight.array,
        decay=cast_scalar(call.weightDecay, call.weight.dtype),
        rate=rate,
        **shape.layout,
    )
