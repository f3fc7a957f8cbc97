"""Manual, Tensor: constructors, geometry queries, types, set, resize, copy.

Sizes, strides and offsets count elements; in calls, dimensions and offsets start at 1. Arguments
of the wrong type raise TypeMismatch.
"""

from __future__ import annotations

from typing import Any

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.calls.forms import as_number, typename
from th_shell.runtime.calls.table import checked, op
from th_shell.runtime.compute.bulk import copy_into
from th_shell.runtime.core.dtypes import DTYPES, LONG, Array, DType, cast_into
from th_shell.runtime.core.errors import ArgError, TorchError, TypeMismatch
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.ops._operands import Compute, check_counts, elementwise, shaped_as

LONG_STORAGE = STORAGE_CLASSES[LONG.index]


def long_storage(values: tuple[int, ...]) -> Storage:
    """A new LongStorage that holds whole numbers."""
    storage = LONG_STORAGE.new(len(values))
    storage.data[...] = values
    return storage


# -- constructors


@checked("new", method="[T | Storage] [offset] [LongStorage sizes] [LongStorage strides] | sz1 ...")
def new(call: Call) -> Tensor:
    """A new tensor of given sizes, or a view of a storage or of another tensor's storage."""
    tensor = TENSOR_CLASSES[call.dtype.index]()
    tensor.set_checked(*_read_geometry(call, 1))
    return tensor


@checked("set", method="*T* [T | Storage] [offset] [LongStorage sizes] [LongStorage strides]")
def set_(call: Call) -> Tensor:
    """Make a tensor the same view as another one, or a view of a storage.

    A storage that is too small for the sizes is enlarged; see Tensor.set_checked.
    """
    tensor, source = call.tensor(1), call.get(2)
    if type(source) is type(tensor):
        tensor.set_to(source)
    else:
        tensor.set_checked(*_read_geometry(call, 2))
    return tensor


# Storage, offset, sizes and strides (None: contiguous), as Tensor.set_checked takes them.
_Geometry = tuple[Storage | None, int, tuple[int, ...], tuple[int, ...] | None]


def _read_geometry(call: Call, at: int) -> _Geometry:
    if len(call) < at:
        return None, 0, (), None
    first = call.get(at)
    if type(first) is TENSOR_CLASSES[call.dtype.index]:
        return first.storage, first.offset, first.sizes, first.strides
    if type(first) is STORAGE_CLASSES[call.dtype.index]:
        if len(call) < at + 1:
            return first, 0, (first.size,), (1,)
        return (first, call.long(at + 1) - 1, *_read_sizes(call, at + 2, strides=True))
    if type(first) in (int, float) or type(first) is LONG_STORAGE:
        return (None, 0, *_read_sizes(call, at, strides=False))
    names = f"{call.dtype.tensor_name} or {call.dtype.storage_name}"
    raise ArgError(at, f"expecting number or {names}")


def _read_sizes(
    call: Call, at: int, *, strides: bool
) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Sizes and strides (None: contiguous) from the argument ``at`` on.

    They are two LongStorages, the second of which may be left out; or numbers, which with
    ``strides`` are a size and a stride in turn.
    """
    sizes = call.sizes(at)
    if sizes is not None:
        if call.get(at + 1) is None:
            return sizes, None
        sizes_given = call.sizes(at + 1)
        if sizes_given is None:
            raise ArgError(at + 1, "torch.LongStorage expected")
        if len(sizes_given) != len(sizes):
            raise ArgError(at + 1, "provided stride and size are inconsistent")
        return sizes, sizes_given
    # Torch7: reads no more than 8 sizes that are given as numbers.
    numbers = call.longs(at)[: 16 if strides else 8]
    if not strides:
        return numbers, None
    padded = numbers if len(numbers) % 2 == 0 else (*numbers, -1)
    return padded[::2], padded[1::2]


# -- queries


@checked("size", method="T [index]")
def size(call: Call) -> Any:
    """The sizes as a new LongStorage, or the size of one dimension."""
    return _sizes_or_one(call, call.tensor(1).sizes)


@checked("stride", method="T [index]")
def stride(call: Call) -> Any:
    """The strides as a new LongStorage, or the stride of one dimension."""
    return _sizes_or_one(call, call.tensor(1).strides)


def _sizes_or_one(call: Call, values: tuple[int, ...]) -> Any:
    if as_number(call.get(2)) is None:
        return long_storage(values)
    dim = call.long(2)
    if not 1 <= dim <= len(values):
        raise ArgError(2, f"dimension {dim} out of range of {len(values)}D tensor")
    return values[dim - 1]


@checked("dim", method="T")
@checked("nDimension", method="T")
def dim(call: Call) -> int:
    """Number of dimensions."""
    return call.tensor(1).ndim


@checked("nElement", method="T")
def nelement(call: Call) -> int:
    """Number of elements."""
    return call.tensor(1).nelement


@op("numel", method="T", function="T")
def numel(t: Tensor) -> int:
    """Number of elements."""
    return t.nelement


@checked("elementSize", method="T")
def element_size(call: Call) -> int:
    """Bytes of one element."""
    return call.dtype.size


@checked("storage", method="T")
def storage(call: Call) -> Storage | None:
    """The storage that holds the elements; nil for a tensor that never had one."""
    return call.tensor(1).storage


@checked("storageOffset", method="T")
def storage_offset(call: Call) -> int:
    """The position of the first element in the storage, from 1."""
    return call.tensor(1).offset + 1


@checked("isContiguous", method="T")
def is_contiguous(call: Call) -> bool:
    """Tell whether the elements follow each other in memory in the order of their indices."""
    return call.tensor(1).is_contiguous


@checked("isSize", method="T LongStorage")
def is_size(call: Call) -> bool:
    """Tell whether the sizes are those of a LongStorage."""
    return call.tensor(1).sizes == tuple(call.storage(2, LONG).data.tolist())


@checked("isSameSizeAs", method="T T")
def is_same_size_as(call: Call) -> bool:
    """Tell whether both tensors have the same sizes."""
    return call.tensor(1).sizes == call.tensor(2).sizes


@checked("isSetTo", method="T T")
def is_set_to(call: Call) -> bool:
    """Tell whether both tensors are the same view of the same storage."""
    return call.tensor(1).is_set_to(call.tensor(2))


# -- copies and types


@checked("clone", method="T", each="a")
def clone(call: Call) -> Tensor:
    """A contiguous copy with a storage of its own."""
    return _clone(call.tensor(1))


def _clone(tensor: Tensor) -> Tensor:
    copy = type(tensor).new(tensor.sizes)
    if copy.sizes != tensor.sizes:  # of a view with a size 0: resize drops sizes from there on
        check_counts(tensor=copy, src=tensor)
    copy_into(copy.array, tensor.array)
    return copy


@checked("contiguous", method="T")
def contiguous(call: Call) -> Tensor:
    """The tensor itself if it is contiguous, otherwise a contiguous copy.

    Torch7: `itself` is a new userdata for the same tensor; the two compare equal.
    """
    tensor = call.tensor(1)
    return tensor if tensor.is_contiguous else _clone(tensor)


@checked("type", method="T [string]")
def type_(call: Call) -> Any:
    """The name of the class; with a name, the tensor converted to that class.

    A tensor that has the class already is returned itself.
    """
    name = call.get(2)
    if name is None:
        # Torch7: gives the class of any object, and nil for a value without class, as in
        # x.type('torch.IntTensor').
        current = typename(call.get(1))
        return current and current.encode()
    tensor = _any_tensor(call)
    for cls in TENSOR_CLASSES:
        if cls.dtype.tensor_name.encode() == name:
            return _convert(tensor, cls)
    if type(name) is not bytes:
        got = call.type_name(2)
        raise TorchError(f"bad argument #1 to 'getmetatable' (string expected, got {got})")
    raise TorchError(f"<{name.decode(errors='replace')}> is not a string describing a tensor type")


def _any_tensor(call: Call) -> Tensor:
    tensor = call.get(1)
    if not isinstance(tensor, Tensor):
        raise call.mismatch(1, call.dtype.tensor_name)
    return tensor


def _convert(tensor: Tensor, cls: type[Tensor]) -> Tensor:
    if type(tensor) is cls:
        return tensor
    converted = cls.new(tensor.sizes)
    if tensor.sizes:
        cast_into(converted.array, tensor.array, cls.dtype)
    return converted


@checked("typeAs", method="T Tensor")
def type_as(call: Call) -> Tensor:
    """The tensor converted to another tensor's class; itself if it has that class."""
    tensor = call.get(2)
    if not isinstance(tensor, Tensor):
        raise TypeMismatch(2, "torch.*Tensor", call.type_name(2))
    return _convert(_any_tensor(call), type(tensor))


def _converter(cls: type[Tensor]) -> Any:
    return lambda call: _convert(_any_tensor(call), cls)


for _dtype in DTYPES:
    checked(_dtype.name.lower(), method="T")(_converter(TENSOR_CLASSES[_dtype.index]))


@checked("copy", method="*T* Tensor", each="b")
def copy(call: Call) -> Tensor:
    """Copy the elements of a tensor of any type, in order, converted.

    self is not resized; both tensors have as many elements.
    """
    target, source = call.tensor(1), call.get(2)
    if not isinstance(source, Tensor):
        raise TypeMismatch(2, "torch.*Tensor", call.type_name(2))
    if source.sizes != target.sizes:
        check_counts(tensor=target, src=source)
    if target.overlaps_itself:
        elementwise(target, _converted(target.dtype), source)
    elif target.dtype is source.dtype:
        copy_into(target.array, shaped_as(source, target))
    elif target.sizes:
        cast_into(target.array, shaped_as(source, target), target.dtype)
    return target


def _converted(dtype: DType) -> Compute:
    def compute(values: Array, out: Array) -> None:
        cast_into(out, values, dtype)

    return compute


@op("fill", method="*T* real", function="*T* real", each="value")
def fill(r: Tensor, value: float) -> None:
    """Set every element to a number."""
    r.array.fill(value)


@op("zero", method="*T*", function="*T*", each="0")
def zero(r: Tensor) -> None:
    """Set every element to 0."""
    r.array.fill(0)


# -- resizing


@checked("resize", method="*T* (LongStorage sizes [LongStorage strides] | sz1 ...)")
def resize(call: Call) -> Tensor:
    """Change the sizes; the storage is enlarged where needed."""
    tensor = call.tensor(1)
    tensor.resize(*_read_sizes(call, 2, strides=False))
    return tensor


@checked("resizeAs", method="*T* T")
def resize_as(call: Call) -> Tensor:
    """Change the sizes to another tensor's; the storage is enlarged where needed."""
    tensor = call.tensor(1)
    tensor.resize(call.tensor(2).sizes)
    return tensor


# -- reference counting


@checked("retain", method="T")
def retain(call: Call) -> tuple[()]:
    """Add 1 to the reference counter; see Storage.count_references."""
    call.tensor(1).count_references(1)
    return ()


@checked("free", method="T")
def free(call: Call) -> tuple[()]:
    """Subtract 1 from the reference counter; see Storage.count_references."""
    call.tensor(1).count_references(-1)
    return ()
