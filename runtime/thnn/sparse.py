"""SparseLinear: products of a matrix with sparse rows, which are lists of places and values.

Entries are rows of three numbers: the row, the column (both from 1) and the value. The older form
has two numbers for each entry, column and value, and as many entries in each row of the batch.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from th_shell.runtime.core.dtypes import Array, cast_scalar
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, describe
from th_shell.runtime.thnn._jobs import blas, run
from th_shell.runtime.thnn.checks import check
from th_shell.runtime.thnn.table import Call, unrepeated

_LONG = 64  # elements of rows that are worth cutting


def add_rows(target: Array, to: Array, source: Array, at: Array, values: Array) -> None:
    """Add multiples of rows of a matrix to rows of another one, one row after the other.

    to, at: the numbers of the rows, in range. The matrices are of one floating-point type, and do
    not overlap; their strides are positive multiples of an element's size.
    """
    size, length = target.itemsize, target.shape[1]
    if not len(to):
        return
    step, apart = target.strides[0] // size, source.strides[0] // size
    run(
        "axpys",
        length,
        work=length * len(to) // 10 if length >= _LONG else 0,
        run=blas("axpy", size),
        size=size,
        count=len(to),
        target=target,
        toStep=target.strides[1] // size,
        source=source,
        fromStep=source.strides[1] // size,
        values=np.ascontiguousarray(values, np.float64),
        to=to.astype(np.int64) * step,
        at=at.astype(np.int64) * apart,
    )


_COO = "input must be in coo format, nnz x 3"
_PAIRS = "input size must be batchsize x nnz x 2"


class _Entries:
    """The entries of a sparse batch, with rows and columns from 0."""

    def __init__(self, rows: Array, columns: Array, values: Array) -> None:
        self.rows, self.columns, self.values = rows, columns, values

    def chosen(self, at: Array) -> _Entries:
        return _Entries(self.rows[at], self.columns[at], self.values[at])

    @property
    def used(self) -> _Entries:
        """Return the entries whose value is not 0."""
        return self.chosen(self.values != 0)

    def check(self, count: int, who: str) -> None:
        """Raise the error about the first column that is none of so many."""
        wrong = (self.columns < 0) | (self.columns >= count)
        if wrong.any():
            raise TorchError(
                f"index out of bound. {who}: {self.columns[wrong.argmax()] + 1} not between 1 and "
                f"{count}"
            )

    @property
    def different_columns(self) -> Array:
        return np.unique(self.columns)


def _read(input: Tensor) -> _Entries:
    """The entries of the form with three numbers."""
    x = input.array
    return _Entries(x[:, 0].astype(np.int64) - 1, x[:, 1].astype(np.int64) - 1, x[:, 2])


def _read_pairs(input: Tensor, by_place: bool = False) -> _Entries:
    """The entries of the older form, row by row; by_place: place by place."""
    x = input.array
    rows = np.broadcast_to(np.arange(len(x))[:, None], x.shape[:2])
    parts: Iterable[Array] = (rows, x[:, :, 0].astype(np.int64) - 1, x[:, :, 1])
    return _Entries(*((part.T if by_place else part).ravel() for part in parts))


def _check_coo(input: Tensor, position: int) -> None:
    check(input.ndim == 2 and input.sizes[1] == 3, position, _COO)


def _check_pairs(input: Tensor, position: int) -> None:
    check(input.ndim == 3 and input.sizes[2] == 2, position, _PAIRS)


def _matrix(weight: Tensor) -> Sizes:
    if weight.ndim != 2:
        raise TorchError(f"weight must be a matrix, but is of shape: {describe(weight.sizes)}")
    return weight.sizes


def _in_order(places: Array, count: int) -> tuple[Array, Array]:
    """For each of so many rows, or columns, its entries, which lie side by side.

    Returns entries' numbers, and the rows that they count for. Torch7: which entries a row has
    follows from where the number of the row changes, so that entries out of order count for others.
    """
    following = np.append(places[1:], count) if len(places) else places
    ends = np.zeros(count + 1, np.int64)
    for i in np.flatnonzero(places < following):
        if places[i] < -1 or following[i] > count:
            raise ArgError(2, "out of range")
        ends[places[i] + 1 : following[i] + 1] = i + 1
    counts = np.maximum(np.diff(ends), 0)
    skipped = np.repeat(ends[:-1] - (np.cumsum(counts) - counts), counts)
    return np.arange(counts.sum()) + skipped, np.repeat(np.arange(count), counts)


_FORWARD = "input, output, weight, bias"


@unrepeated("SparseLinear_updateOutput", _FORWARD)
def sparse_linear(call: Call) -> None:
    """output = input * the transpose of weight + bias; output has a row for each of the batch."""
    outputs, inputs = _matrix(call.weight)
    if not call.output.ndim:
        raise ArgError(2, "dimension 1 out of range of 0D tensor")
    _check_coo(call.input, 2)
    check(call.output.is_contiguous, 3, "output must be contiguous")
    check(call.bias.sizes == (outputs,), 5, "bias size wrong")
    if call.output.sizes[1:] != (outputs,):
        raise TorchError(
            f"output has {outputs} columns, but is of shape: {describe(call.output.sizes)}"
        )
    entries = _read(call.input)
    order, rows = _in_order(entries.rows, call.output.sizes[0])
    entries = entries.chosen(order)
    entries.rows = rows
    _multiply(call.output, entries, call.weight, call.bias, inputs)


@unrepeated("SparseLinear_legacyUpdateOutput", _FORWARD)
def sparse_linear_of_pairs(call: Call) -> None:
    """output = input * the transpose of weight + bias."""
    outputs, inputs = _matrix(call.weight)
    _check_pairs(call.input, 2)
    check(call.output.is_contiguous, 3, "output must be contiguous")
    check(call.bias.sizes == (outputs,), 5, "bias size wrong")
    entries = _read_pairs(call.input)
    entries.used.check(inputs, "updateOutput")
    call.output.resize((call.input.sizes[0], outputs))
    _multiply(call.output, entries, call.weight, call.bias, inputs)


def _multiply(output: Tensor, entries: _Entries, weight: Tensor, bias: Tensor, inputs: int) -> None:
    entries = entries.used
    entries.check(inputs, "updateOutput")
    sums = np.zeros(output.sizes, weight.dtype.numpy)
    add_rows(sums, entries.rows, weight.array.T, entries.columns, entries.values)
    output.array[...] = sums + bias.array


_GRADIENTS = (
    "input, gradOutput, gradWeight, gradBias, weight, bias, accreal weightDecay, accreal scale"
)


def _check_gradients(call: Call) -> None:
    outputs, inputs = call.weight.sizes
    check(call.gradWeight.sizes == (outputs, inputs), 4, "gradWeight size wrong")
    check(call.gradBias.sizes == (outputs,), 5, "gradBias size wrong")
    check(call.gradOutput.is_contiguous, 1, "gradOutput must be contiguous")


def _accumulate(call: Call, entries: _Entries) -> None:
    weight, g = call.weight, call.gradOutput.array
    decay, scale = (cast_scalar(x, weight.dtype) for x in (call.weightDecay, call.scale))
    entries.check(weight.sizes[1], "accGradParameters")
    if g.ndim != 2 or g.shape[1] != weight.sizes[0]:
        raise TorchError(f"gradOutput is of shape: {describe(call.gradOutput.sizes)}")
    if ((entries.rows < 0) | (entries.rows >= len(g))).any():
        raise TorchError(f"input has rows that gradOutput has not, of {len(g)} rows")
    add_rows(call.gradWeight.array.T, entries.columns, g, entries.rows, scale * entries.values)
    call.gradBias.array[...] += scale * g.sum(axis=0)
    if decay != 0:
        call.gradWeight.array[...] += decay * weight.array


@unrepeated("SparseLinear_accGradParameters", _GRADIENTS)
def sparse_linear_gradients(call: Call) -> None:
    """Add the gradients, times scale, and the weight times weightDecay; entries by columns."""
    inputs = _matrix(call.weight)[1]
    _check_coo(call.input, 2)
    _check_gradients(call)
    entries = _read(call.input)
    entries = entries.chosen(_in_order(entries.columns, inputs)[0])
    _accumulate(call, entries)


@unrepeated("SparseLinear_legacyAccGradParameters", _GRADIENTS)
def sparse_linear_gradients_of_pairs(call: Call) -> None:
    """Add the gradients for input in the older form; gradOutput is resized to the batch."""
    outputs, inputs = _matrix(call.weight)
    _check_pairs(call.input, 2)
    _check_gradients(call)
    entries = _read_pairs(call.input, by_place=True).used
    entries.check(inputs, "accGradParameters")
    call.gradOutput.resize((call.input.sizes[0], outputs))
    _accumulate(call, entries)


_UPDATE = "weight, bias, gradWeight, gradBias, lastInput, accreal learningRate"


def _update(call: Call, entries: _Entries) -> None:
    """Subtract the gradients, times the rate, from the bias and the columns that entries have."""
    entries.check(call.weight.sizes[1], "updateParameters")
    rate, columns = cast_scalar(call.learningRate, call.weight.dtype), entries.different_columns
    call.bias.array[...] -= rate * call.gradBias.array
    call.weight.array[:, columns] -= rate * call.gradWeight.array[:, columns]


def _check_update(call: Call) -> None:
    outputs, inputs = _matrix(call.weight)
    check(call.gradWeight.sizes == (outputs, inputs), 4, "gradWeight size wrong")
    check(call.bias.sizes == (outputs,), 3, "bias size wrong")
    check(call.gradBias.sizes == (outputs,), 5, "gradBias size wrong")


def _used(call: Call, position: int, pairs: bool) -> _Entries:
    """The entries of the last input that are not 0, of one of the two forms."""
    (_check_pairs if pairs else _check_coo)(call.lastInput, position)
    return (_read_pairs if pairs else _read)(call.lastInput).used


_ZERO = "gradWeight, gradBias, lastInput"


def _add_updates(*names: str, pairs: bool = False) -> None:
    """Add the rows of two functions for a form of entries."""

    @unrepeated(f"SparseLinear_{names[0]}", _UPDATE)
    def update(call: Call) -> None:
        """weight and bias -= learningRate times their gradients, in the last input's columns."""
        _check_update(call)
        entries = _used(call, 6, pairs)
        if pairs or len(entries.columns):  # Torch7: otherwise the bias stays, too
            _update(call, entries)

    @unrepeated(f"SparseLinear_{names[1]}", _ZERO)
    def zero(call: Call) -> None:
        """gradBias, and gradWeight in the columns of the last input, become 0."""
        outputs, inputs = _matrix(call.gradWeight)
        check(call.gradBias.sizes == (outputs,), 3, "gradBias size wrong")
        entries = _used(call, 4, pairs)
        entries.check(inputs, "zeroGradParameters")
        call.gradBias.array[...] = 0
        call.gradWeight.array[:, entries.different_columns] = 0


_add_updates("updateParameters", "zeroGradParameters")
_add_updates("legacyUpdateParameters", "legacyZeroGradParameters", pairs=True)
