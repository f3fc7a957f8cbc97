"""Layouts of tensors in storages: strides, order of dimensions, as_strided, resize_, set_.

PyTorch's documentation: torch.Tensor, Tensor Views.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import contiguous_strides
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import Shape, listed, wrap_dim, wrap_dims
from th_shell.torch.base.warn import warn
from th_shell.torch.calls.argument_types import register_kind
from th_shell.torch.calls.schema import IntOrShape
from th_shell.torch.calls.table import op
from th_shell.torch.ops.views import becoming, in_place
from th_shell.torch.tensors.layouts import strided
from th_shell.torch.tensors.storages import TypedStorage, UntypedStorage
from th_shell.torch.tensors.tensor import Tensor, view_of, wrap
from th_shell.torch.tensors.writing import place_in

register_kind("torch.Storage", TypedStorage, UntypedStorage)


@op(function=False)
def stride(input: Tensor, dim: int | None = None) -> Any:
    """Return the strides in elements of the storage, of all dimensions or of one."""
    if dim is None:
        return input.strides
    return input.strides[wrap_dim(dim, len(input.sizes), takes_scalar=False)]


@op(function=False)
def storage_offset(input: Tensor) -> int:
    """Return the position of the first element in the storage."""
    return input.place // input.dtype.itemsize


@op(function=False)
def element_size(input: Tensor) -> int:
    """Return the number of bytes of an element."""
    return input.dtype.itemsize


@op()
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors have the same sizes."""
    return input.sizes == other.sizes


@op(function=False)
def is_contiguous(input: Tensor) -> bool:
    """Tell whether the elements follow each other in memory, in the order of their indices."""
    return bool(input.array.flags.c_contiguous)


@op(function=False)
def contiguous(input: Tensor) -> Tensor:
    """Return the tensor itself if it is contiguous, else a copy that is."""
    array = input.array
    return input if array.flags.c_contiguous else wrap(array.copy("C"))


# -- any view of a storage


def _check_view(size: Shape, stride: Shape, offset: int) -> None:
    require(len(size) == len(stride), "mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: "
            f"{listed(stride)}"
        )
    _check_sizes(size, stride, offset)


def _check_sizes(size: Shape, stride: Shape, offset: int) -> None:
    if any(n < 0 for n in (*size, *stride)):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={listed(size)} and "
            f"strides={listed(stride)}"
        )
    require(offset >= 0, "Tensor: invalid storage offset {}", offset)


@op()
def as_strided(
    input: Tensor, size: Shape, stride: Shape, storage_offset: int | None = None
) -> Tensor:
    """Return a view of the tensor's storage with any sizes, strides and offset.

    Raises RuntimeError where it would reach beyond the storage.
    """
    width = input.array.itemsize
    place = input.place if storage_offset is None else storage_offset * width
    _check_view(size, stride, place // width)
    view = view_of(input, input.array)
    view.set_view(input.storage_object, place, size, tuple(step * width for step in stride))
    return view


op(name="as_strided_")(becoming(as_strided))


@op(function=False)
def resize_(input: Tensor, size: Shape) -> Tensor:
    """Give the tensor other sizes; its storage grows where it has too few elements.

    It is contiguous then, or lies as before where it has the sizes already. New elements are
    undetermined.
    """
    if size == input.sizes:
        return input
    require(all(n >= 0 for n in size), "numel: integer multiplication overflow")
    offset = input.place // input.dtype.itemsize
    place_in(input, input.storage_object, offset, size, contiguous_strides(size))
    return input


@op()
def resize_as_(input: Tensor, the_template: Tensor) -> Tensor:
    """Give the tensor the sizes of another one."""
    return resize_(input, the_template.array.shape)


def _storage_of(source: TypedStorage | UntypedStorage, input: Tensor) -> Storage:
    if isinstance(source, TypedStorage) and source.dtype is not input.dtype:
        raise RuntimeError(
            f"Expected a Storage of type {input.dtype} or an UntypedStorage, but got type "
            f"{source.dtype} for argument 1 'storage'"
        )
    return source.object


@op(function=False)
def set_(input: Tensor) -> Tensor:
    """Make the tensor one without elements."""
    input.become(wrap(np.empty(0, input.dtype.numpy)))
    return input


@op("set_(Tensor input, torch.Storage source)", function=False)
def set_storage(input: Tensor, source: Any) -> Tensor:
    """Make the tensor a view of all elements of a storage."""
    storage = _storage_of(source, input)
    place_in(input, storage, 0, (storage.data.nbytes // input.dtype.itemsize,), (1,))
    return input


_PLACE = "int storage_offset, tuple of ints size, tuple of ints stride = None"


@op(f"set_(Tensor input, torch.Storage source, {_PLACE})", function=False)
def set_view(
    input: Tensor, source: Any, storage_offset: int, size: Shape, stride: Shape | None = None
) -> Tensor:
    """Make the tensor a view of a storage, which grows where it is too small.

    source: the storage, or a tensor of any type that has it.
    """
    is_tensor = isinstance(source, Tensor)
    if is_tensor and not source.array.flags.c_contiguous:
        raise RuntimeError("passed in tensor to be used as storage must be contiguous")
    storage = source.storage_object if is_tensor else _storage_of(source, input)
    if is_tensor:
        storage_offset += source.offset
    stride = stride or contiguous_strides(size)
    if len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    _check_sizes(size, stride, storage_offset)
    place_in(input, storage, storage_offset, size, stride)
    return input


@op(name="set_", function=False)
def set_tensor(input: Tensor, source: Tensor) -> Tensor:
    """Make the tensor the same view as another one, of the same storage."""
    wrong = "Could not set tensor of type {} to a tensor of type {}"
    require(input.dtype is source.dtype, wrong, source.dtype.real, input.dtype.real)
    input.become(source)
    return input


op(f"set_(Tensor input, Tensor source, {_PLACE})", function=False)(set_view)


def _permuted(input: Tensor, order: Any) -> Tensor:
    array = input.array
    if array.size:
        return view_of(input, array.transpose(order))
    strides = input.strides
    return strided(input, tuple(array.shape[d] for d in order), tuple(strides[d] for d in order))


@op()
def permute(input: Tensor, dims: Shape) -> Tensor:
    """Return a view whose dimensions are those of the tensor in the order of dims."""
    ndim = input.array.ndim
    if len(dims) != ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal "
            f"to len(dims) = {len(dims)}"
        )
    order = [wrap_dim(dim, ndim) for dim in dims]
    require(len(set(order)) == ndim, "permute(): duplicate dims are not allowed.")
    return _permuted(input, order)


@op("swapaxes(Tensor input, int axis0, int axis1)")
@op(name="transpose swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view with two dimensions exchanged."""
    array = input.array
    ndim = array.ndim
    if not (0 <= dim0 < ndim and 0 <= dim1 < ndim):
        dim0, dim1 = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    if not array.size or not ndim:
        order = list(range(ndim))
        if ndim:
            order[dim0], order[dim1] = dim1, dim0
        return _permuted(input, order)
    return view_of(input, array.swapaxes(dim0, dim1))


def _t(input: Tensor, name: str) -> Tensor:
    array = input.array
    if array.ndim > 2:
        raise RuntimeError(
            f"{name}() expects a tensor with <= 2 dimensions, but self is {array.ndim}D"
        )
    if array.size:
        return view_of(input, array.T)
    return _permuted(input, range(array.ndim)[::-1])


@op()
def t(input: Tensor) -> Tensor:
    """Return a matrix with rows and columns exchanged; tensors of fewer dimensions as they are."""
    return _t(input, "t")


@op(function=False)
def t_(input: Tensor) -> Tensor:
    """Exchange the rows and columns of a matrix."""
    input.become(_t(input, "t_"))
    return input


in_place(transpose, "transpose_ swapdims_")
op("swapaxes_(Tensor input, int axis0, int axis1)", function=False)(becoming(transpose))


@op(name="movedim moveaxis")
def movedim(input: Tensor, source: IntOrShape, destination: IntOrShape) -> Tensor:
    """Return a view with some dimensions at other positions; the others keep their order."""
    sources, places = ((x,) if isinstance(x, int) else x for x in (source, destination))
    wrong = "movedim: source ({} dims) should have the same number of dims as destination ({} dims)"
    require(len(sources) == len(places), wrong, listed(sources), listed(places))
    ndim = input.array.ndim
    origins, places = wrap_dims(sources, ndim), wrap_dims(places, ndim)
    order = [dim for dim in range(ndim) if dim not in origins]
    for place, origin in sorted(zip(places, origins, strict=True)):
        order.insert(place, origin)
    return _permuted(input, order if ndim else ())


def _read_T(self: Tensor) -> Tensor:  # noqa: N802 (the attribute's name)
    ndim = self.array.ndim
    if ndim == 2:
        return _t(self, "T")
    if ndim:
        warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor."
        )
    return _permuted(self, range(ndim)[::-1])


def _read_mT(self: Tensor) -> Tensor:  # noqa: N802
    ndim = self.array.ndim
    if ndim == 1:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return transpose(self, -2, -1) if ndim else view_of(self, self.array)


for _name, _read in (("T", _read_T), ("mT", _read_mT)):
    setattr(Tensor, _name, property(_read))
