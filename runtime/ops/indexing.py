"""Manual, Tensor: index, indexCopy, indexAdd, indexFill, gather, scatter, nonzero; masked*.

Torch7: an operation of this module that changes its self, or a destination that the call passes,
returns its last argument; gather, scatter and maskedCopy return the destination. `_overlapping.py`
tells what it means that a destination shares elements with what is read.
"""

from __future__ import annotations

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.calls.table import ALL, checked, op
from th_shell.runtime.compute.bulk import take_along, take_rows
from th_shell.runtime.core.dtypes import BYTE, LONG, Array
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.tensor import Sizes, Tensor, describe
from th_shell.runtime.ops._operands import check_counts, enumerate_words, store, usage_error
from th_shell.runtime.ops._overlapping import (
    check_apart,
    contiguous,
    move,
    move_lines,
    ones,
    resized,
    share_elements,
    unchanged_by_errors,
)

# -- by a vector of indices along one dimension


def _check_index(index: Tensor, t: Tensor, dim: int) -> None:
    if index.ndim != 1:
        raise ArgError(3, "Index is supposed to be a vector")
    if not 0 <= dim < t.ndim:
        raise ArgError(4, f"Indexing dim {dim + 1} is out of bounds of tensor")


def _from_zero(index: Tensor, size: int, error: TorchError) -> Array:
    """Positions that count from 0, in memory that no program can write to.

    Raises the error where one is not below size.
    """
    at: Array = index.array - 1
    # As numbers without a sign, negative ones are larger than any size: one search is enough.
    if at.size and at.view(np.uint64).max() >= size:
        raise error
    return at


def _positions(index: Tensor, t: Tensor, dim: int) -> Array:
    """The indices as positions from 0 in a dimension; raises ArgError where one is outside."""
    return _from_zero(index, t.sizes[dim], _out_of_range(t))


def _out_of_range(t: Tensor) -> ArgError:
    # Torch7: the message counts the arguments of the C function that is called then.
    return ArgError(3 if t.ndim > 1 else 2, "out of range")


@checked("index", method="[*T*] T index LongTensor", types=ALL, small="indexing.index")
def index_select(call: Call) -> Tensor:
    """A copy of the slices at the given indices of one dimension.

    Raises ArgError or TorchError for an index outside of the dimension.
    """
    if len(call) == 3:
        src, dim, index = call.tensor(1), call.long(2) - 1, call.tensor(3, LONG)
        r = type(src)()
    elif len(call) == 4:
        src, dim, index = call.tensor(2), call.long(3) - 1, call.tensor(4, LONG)
        r = call.tensor(1)
    else:
        raise usage_error(
            call, "T, number, torch.LongTensor | T, T, number, torch.LongTensor expected"
        )
    _check_index(index, src, dim)
    sizes = (*src.sizes[:dim], index.nelement, *src.sizes[dim + 1 :])
    target = resized(r, sizes)
    if share_elements(r, index) or share_elements(target, src, index):
        _select_in_turn(r, sizes, src, dim, index)
        return index
    try:
        at = _positions(index, src, dim)
    except ArgError as error:
        if dim == 0 and src.is_contiguous:
            raise TorchError("index out of range") from error
        raise
    if dim == 0 and src.is_contiguous and target.is_contiguous:
        source = src.array
        r.resize(sizes)
        take_rows(source, at, r.array)
    else:
        store(r, np.take(src.array, at, axis=dim))
    return r if len(call) == 3 else index


def _select_in_turn(r: Tensor, sizes: Sizes, src: Tensor, dim: int, index: Tensor) -> None:
    with unchanged_by_errors(r, sizes):
        is_flat = dim == 0 and src.is_contiguous and r.is_contiguous
        wrong = TorchError("index out of range") if is_flat else _out_of_range(src)
        to, source = (np.moveaxis(t.array, dim, 0) for t in (r, src))
        move(contiguous(index)[: sizes[dim]], to, source, wrong)


def _index_arguments(call: Call, last: str) -> tuple[Tensor, int, Tensor]:
    if len(call) != 4:
        raise usage_error(call, f"T, number, torch.LongTensor, {last} expected")
    return call.tensor(1), call.long(2) - 1, call.tensor(3, LONG)


def _check_source(index: Tensor, t: Tensor, src: Tensor, dim: int) -> None:
    _check_index(index, src, dim)
    if index.nelement != src.sizes[dim]:
        raise ArgError(4, "Number of indices should be equal to source:size(dim)")
    if not t.ndim or (t.ndim == 1 and src.ndim > 1):
        raise ArgError(1, "tensor must have one dimension")
    if dim >= t.ndim:
        raise ArgError(2, "out of range")
    if src.ndim < 2 <= t.ndim:
        raise ArgError(1, "cannot select on a vector")


def _slices(t: Tensor, src: Tensor, dim: int, add: bool) -> tuple[Array, Array]:
    """The elements of both tensors as arrays whose first axis is the dimension.

    Slices of the source may have another shape than those of t, with as many elements; the
    array then has the shape of t's.
    """
    target, source = np.moveaxis(t.array, dim, 0), np.moveaxis(src.array, dim, 0)
    if target.shape[1:] != source.shape[1:]:
        slice_of_t = t.select(dim, 0)
        written = {"r_": slice_of_t, "t": slice_of_t} if add else {"tensor": slice_of_t}
        check_counts(**written, src=src.select(dim, 0))
        source = source.reshape(source.shape[0], *target.shape[1:])
    return target, source


def _set_slices(call: Call, add: bool) -> Tensor:
    t, dim, index = _index_arguments(call, "T")
    src = call.tensor(4)
    _check_source(index, t, src, dim)
    at = None if share_elements(t, index, src) else _positions(index, t, dim)
    target, source = _slices(t, src, dim, add)
    if at is None:
        with unchanged_by_errors(t, t.sizes):
            slices = np.moveaxis(src.array, dim, 0)
            move(contiguous(index), target, slices, _out_of_range(t), into=True, add=add)
    elif add:
        np.add.at(target, at, source)
    else:
        target[at] = source
    return src


@checked("indexCopy", method="T index LongTensor *T*", types=ALL, small="indexing.indexCopy")
def index_copy(call: Call) -> Tensor:
    """Copy the slices of a tensor to the given indices; of several with one index the last stays.

    self is written, not resized. Raises ArgError or TorchError where sizes do not fit or an index
    is outside of the dimension.
    """
    return _set_slices(call, add=False)


@checked("indexAdd", method="T index LongTensor *T*", types=ALL, small="indexing.indexAdd")
def index_add(call: Call) -> Tensor:
    """Add the slices of a tensor to those at the given indices; see indexCopy."""
    return _set_slices(call, add=True)


def _dimension_of_vector(t: Tensor) -> int:
    # Torch7: of a vector the elements are set, whatever the number of the dimension.
    if t.ndim == 1:
        return 0
    raise ArgError(2, "out of range") if t.ndim else ArgError(1, "tensor must have one dimension")


@checked("indexFill", method="T index LongTensor *real*", types=ALL, small="indexing.indexFill")
def index_fill(call: Call) -> float:
    """Set the slices at the given indices to a number; self is not resized."""
    t, dim, index = _index_arguments(call, "number")
    value = call.real(4)
    if index.ndim == 1 and dim < 0:
        dim = _dimension_of_vector(t)
    _check_index(index, t, dim)
    slices = np.moveaxis(t.array, dim, 0)
    if share_elements(t, index):
        values = np.broadcast_to(value, (index.nelement, *slices.shape[1:]))
        with unchanged_by_errors(t, t.sizes):
            move(contiguous(index), slices, values, _out_of_range(t), into=True)
    else:
        slices[_positions(index, t, dim)] = value
    return call.number(4)  # Torch7: the number as the call has it, not converted


# -- by a tensor of indices


def _check_gather(dim: int, **tensors: Tensor) -> None:
    """Raise TorchError unless all tensors have the same sizes in the dimensions other than dim."""
    ndim = next(iter(tensors.values())).ndim
    for d in range(ndim):
        if d != dim and len({t.sizes[d] for t in tensors.values()}) > 1:
            listed = enumerate_words([f"{k} {describe(t.sizes)}" for k, t in tensors.items()])
            raise TorchError(f"Expected {listed} to have the same size in dimension {dim}")


def _check_gather_call(r: Tensor, src: Tensor, dim: int, index: Tensor) -> None:
    if src.ndim != r.ndim:
        raise ArgError(2, "Input tensor must have same dimensions as output tensor")
    if dim >= r.ndim:
        raise ArgError(3, "Index dimension is out of bounds")
    if index.ndim != src.ndim:
        raise ArgError(4, "Index tensor must have same dimensions as input tensor")
    _check_dim(index, dim)
    _check_gather(dim, tensor=r, src=src, index=index)


def _gathered(src: Tensor, dim: int, index: Tensor, out: Array | None = None) -> Array:
    try:
        return take_along(src.array, index.array, dim, out=out, first=1)
    except IndexError:
        raise TorchError("Invalid index in gather") from None


def _new_gather(r: Tensor, src: Tensor, dim: int, index: Tensor) -> None:
    """gather where the call passes no destination."""
    r.resize(index.sizes)
    _check_gather_call(r, src, dim, index)
    _gathered(src, dim, index, out=r.array)


_GATHER = "[*T*] T index LongTensor"


@op("gather", _GATHER, _GATHER, fresh=_new_gather, small="indexing.gather")
def gather(r: Tensor, src: Tensor, dim: int, index: Tensor) -> None:
    """r[i][j] = src[index[i][j]][j] for dim 1, and so on.

    r, src and index have equal sizes but in dim. Torch7: a destination that the call passes is
    not resized and must be at least as long as index in dim. Raises TorchError for an index
    outside of src; r is then as it was.
    """
    _check_gather_call(r, src, dim, index)
    out, count = r.array, index.sizes[dim]
    if r.sizes[dim] < count:
        raise TorchError("Invalid index in gather")
    if share_elements(r, src, index):
        with unchanged_by_errors(r, r.sizes):
            move_lines(index.array, out, src.array, dim, TorchError("Invalid index in gather"))
        return
    values = _gathered(src, dim, index)
    np.moveaxis(out, dim, 0)[:count] = np.moveaxis(values, dim, 0)


def _check_dim(t: Tensor, dim: int) -> None:
    if dim < 0:
        raise ArgError(2, f"dimension {dim + 1} out of range of {t.ndim}D tensor")


def _check_scatter(r: Tensor, dim: int, index: Tensor) -> None:
    if dim >= r.ndim:
        raise ArgError(2, "Index dimension is out of bounds")
    if index.ndim != r.ndim:
        raise ArgError(3, "Index tensor must have same dimensions as output tensor")


_SCATTER = "*T* index LongTensor"


@op("scatter", f"{_SCATTER} T", f"{_SCATTER} T", small="indexing.scatter")
def scatter(r: Tensor, dim: int, index: Tensor, src: Tensor) -> None:
    """r[index[i][j]][j] = src[i][j] for dim 1, and so on; of several the last one stays.

    r is not resized. Raises TorchError for an index outside of r.
    """
    _check_scatter(r, dim, index)
    if src.ndim != r.ndim:
        raise ArgError(4, "Input tensor must have same dimensions as output tensor")
    _check_dim(index, dim)
    _check_gather(dim, tensor=r, src=src, index=index)
    if src.sizes[dim] < index.sizes[dim]:
        raise TorchError("Invalid index in scatter")
    if share_elements(r, index, src):
        _scatter_in_turn(r, dim, index, src.array)
        return
    at = _from_zero(index, r.sizes[dim], TorchError("Invalid index in scatter"))
    source = np.moveaxis(np.moveaxis(src.array, dim, 0)[: index.sizes[dim]], 0, dim)
    np.put_along_axis(r.array, at, source, dim)


@op("scatter", f"{_SCATTER} real", f"{_SCATTER} real", small="indexing.scatter")
def scatter_fill(r: Tensor, dim: int, index: Tensor, value: float) -> None:
    """r[index[i][j]][j] = value for dim 1, and so on; r is not resized."""
    _check_scatter(r, dim, index)
    _check_dim(index, dim)
    _check_gather(dim, tensor=r, index=index)
    if share_elements(r, index):
        _scatter_in_turn(r, dim, index, np.broadcast_to(value, index.sizes))
        return
    at = _from_zero(index, r.sizes[dim], TorchError("Invalid index in scatter"))
    np.put_along_axis(r.array, at, value, dim)


def _scatter_in_turn(r: Tensor, dim: int, index: Tensor, source: Array) -> None:
    with unchanged_by_errors(r, r.sizes):
        wrong = TorchError("Invalid index in scatter")
        move_lines(index.array, r.array, source, dim, wrong, into=True)


# -- the indices of elements


@op("nonzero", method="[*LongTensor*] T", function="[*LongTensor*] T", small="indexing.nonzero")
def nonzero(r: Tensor, t: Tensor) -> None:
    """r = the indices, from 1, of the elements that are not 0: one row for each element."""
    positions = np.argwhere(t.array) + 1
    check_apart(r, positions.shape, t)
    store(r, positions)


# -- by a mask


def _mask(mask: Tensor) -> Array:
    """The elements of a mask in order, as booleans; raises TorchError unless all are 0 or 1."""
    values = mask.flat
    if values.size and values.max() > 1:
        raise TorchError("Mask tensor can take 0 and 1 values only")
    return values.view(np.bool_)


@checked("maskedSelect", method="[*T*] T ByteTensor", types=ALL, small="indexing.maskedSelect")
def masked_select(call: Call) -> Tensor:
    """The elements where the mask is 1, as a vector; the mask has as many elements."""
    if len(call) == 2:
        src, mask = call.tensor(1), call.tensor(2, BYTE)
        r = type(src)()
    elif len(call) == 3:
        src, mask, r = call.tensor(2), call.tensor(3, BYTE), call.tensor(1)
    else:
        raise usage_error(call, "T, torch.ByteTensor | T, T, torch.ByteTensor expected")
    if share_elements(r, src, mask):
        _masked_select_in_turn(r, src, mask)
        return mask
    check_counts(src=src, mask=mask)
    # numpy selects faster by positions than by a mask.
    store(r, np.take(src.flat, np.flatnonzero(_mask(mask))))
    return r if len(call) == 2 else mask


def _masked_select_in_turn(r: Tensor, src: Tensor, mask: Tensor) -> None:
    with unchanged_by_errors(r, (int(mask.array.sum()),)):
        check_counts(src=src, mask=mask)
        to, source = r.array, src.array.flat
        for n, at in enumerate(ones(mask.array)):
            if n == len(to):
                raise TorchError("the mask has got more ones than the call found in it")
            to[n] = source[at]


@checked("maskedCopy", method="*T* ByteTensor T", types=ALL, small="indexing.maskedCopy")
def masked_copy(call: Call) -> Tensor:
    """Copy the first elements of a tensor, in order, to where the mask is 1.

    self is not resized. Raises TorchError where the tensor has too few elements.
    """
    if len(call) != 3:
        raise usage_error(call, "T, torch.ByteTensor, T expected")
    mask, src, t = call.tensor(2, BYTE), call.tensor(3), call.tensor(1)
    if t.nelement != mask.nelement:
        raise TorchError("Number of elements of destination tensor != Number of elements in mask")
    too_few = TorchError("Number of elements of src < number of ones in mask")
    if share_elements(t, mask, src):
        with unchanged_by_errors(t, t.sizes):
            to, source = t.array.flat, contiguous(src)
            for n, at in enumerate(ones(mask.array)):
                if n == len(source):
                    raise too_few
                to[at] = source[n]
        return t
    chosen = _mask(mask)
    count = int(chosen.sum())
    if src.nelement < count:
        raise too_few
    t.array[chosen.reshape(t.sizes or (0,))] = src.flat[:count]
    return t


@checked("maskedFill", method="T ByteTensor *real*", types=ALL, small="indexing.maskedFill")
def masked_fill(call: Call) -> float:
    """Set the elements where the mask is 1 to a number; self is not resized."""
    if len(call) != 3:
        raise usage_error(call, "T, torch.ByteTensor, number expected")
    mask, value, t = call.tensor(2, BYTE), call.real(3), call.tensor(1)
    check_counts(tensor=t, mask=mask)
    if share_elements(t, mask):
        with unchanged_by_errors(t, t.sizes):
            for at in ones(mask.array):
                t.array.flat[at] = value
    else:
        t.array[_mask(mask).reshape(t.sizes or (0,))] = value
    return call.number(3)
