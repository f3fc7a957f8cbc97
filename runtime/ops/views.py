"""Manual, Tensor: sub-tensors, views, expanding and squeezing.

The results, except those of repeatTensor, are views: they share the tensor's storage. In calls,
dimensions and indices start at 1. Numbers out of range raise ArgError, sizes that do not fit
TorchError.
"""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.calls.forms import as_number, lua_type
from th_shell.runtime.calls.table import checked, op
from th_shell.runtime.core.dtypes import LONG, cast_scalar
from th_shell.runtime.core.errors import ArgError, TorchError, TypeMismatch
from th_shell.runtime.core.tensor import Sizes, Tensor, check_dimensions, contiguous_strides
from th_shell.runtime.ops.structure import LONG_STORAGE


@checked("narrow", method="T index long long")
def narrow(call: Call) -> Tensor:
    """A number of elements of one dimension, from an index on."""
    return call.tensor(1).narrow(call.long(2) - 1, call.long(3) - 1, call.long(4))


@checked("select", method="T index long")
def select(call: Call) -> Tensor | float:
    """The slice at an index of one dimension, without that dimension; of a vector a number."""
    tensor, dim, index = call.tensor(1), call.long(2) - 1, call.long(3) - 1
    if tensor.ndim > 1:
        return tensor.select(dim, index)
    if tensor.ndim == 0:
        raise ArgError(1, "empty Tensor")
    if not 0 <= index < tensor.sizes[0]:
        raise ArgError(2, "out of range")
    return tensor.array[index].item()  # type: ignore[no-any-return]


@checked("sub", method="T long long [long long] [long long] [long long]")
def sub(call: Call) -> Tensor:
    """The elements from one index to another (negative: from the end), in up to 4 dimensions."""
    tensor = call.tensor(1)
    result = tensor.alias()
    for dim in range(min(max((len(call) - 1 + 1) // 2, 1), 4)):
        at = 2 + 2 * dim
        bounds = call.long(at) - 1, call.long(at + 1) - 1
        if dim >= tensor.ndim:
            raise ArgError(at, "invalid dimension")
        size = tensor.sizes[dim]
        first, last = (b + size + 1 if b < 0 else b for b in bounds)
        if not 0 <= first < size:
            raise ArgError(at, "out of range")
        if not 0 <= last < size:
            raise ArgError(at + 1, "out of range")
        if last < first:
            raise ArgError(at + 1, "end smaller than beginning")
        result = result.narrow(dim, first, last - first + 1)
    return result


@checked("transpose", method="T index index")
def transpose(call: Call) -> Tensor:
    """The tensor with two dimensions swapped."""
    return call.tensor(1).transpose(call.long(2) - 1, call.long(3) - 1)


@checked("t", method="T~2D")
def t(call: Call) -> Tensor:
    """The transposed matrix."""
    tensor = call.tensor(1)
    if tensor.ndim != 2:
        raise ArgError(1, "Tensor must have 2 dimensions")
    return tensor.transpose(0, 1)


@checked("permute", method="T index...", function="T index...")
def permute(call: Call) -> Tensor:
    """The tensor with its dimensions in another order."""
    tensor, order = call.tensor(1), [d - 1 for d in call.longs(2)]
    if sorted(order) != list(range(tensor.ndim)):
        raise TorchError("Invalid permutation")
    sizes = tuple(tensor.sizes[d] for d in order)
    strides = tuple(tensor.strides[d] for d in order)
    return tensor.view(tensor.offset, sizes, strides)


@checked("unfold", method="T index long long")
def unfold(call: Call) -> Tensor:
    """All slices of a size, a step apart, of one dimension; see Tensor.unfold."""
    return call.tensor(1).unfold(call.long(2) - 1, call.long(3), call.long(4))


@op("squeeze", method="[*T*] T", function="[*T*] T")
def squeeze(r: Tensor, t: Tensor) -> float | None:
    """r = t without its dimensions of size 1; a number if t has a single element."""
    return _set_or_number(r, t.squeeze())


@op("squeeze", method="[*T*] T index", function="[*T*] T index")
def squeeze_dim(r: Tensor, t: Tensor, dim: int) -> float | None:
    """r = t without one dimension, if its size is 1; a number if t is a vector of one element."""
    is_vector = t.ndim <= 1
    number = _set_or_number(r, t.squeeze(dim))
    return number if is_vector else None


def _set_or_number(r: Tensor, view: Tensor) -> float | None:
    """Make r the same view as another tensor; return its element if it has only one."""
    r.set(view.storage, view.offset, view.sizes, view.strides)
    return r.array.item() if r.sizes == (1,) else None


# -- expanding and repeating
#
# Torch7: these are written in Lua. The errors are those that Lua raises where an argument is no
# tensor.


def _split_arguments(call: Call) -> tuple[Any, Any, tuple[Any, ...]]:
    """The destination (None: a new one), the source, and the arguments that are the sizes."""
    second = call.get(2)
    if call.sizes(2) is not None or type(second) in (int, float):
        return None, call.get(1), call.args[1:]
    return call.get(1), second, call.args[2:]


def _source(value: Any, method: str, name: str = "tensor") -> Tensor:
    """The value, if it is a tensor.

    Otherwise raises Lua's error about calling this method of a local variable of this name.
    """
    if isinstance(value, Tensor):
        return value
    kind = lua_type(value)
    if kind in ("string", "table", "userdata"):
        raise TorchError(f"attempt to call method '{method}' (a nil value)")
    raise TorchError(f"attempt to index local '{name}' (a {kind} value)")


def _wanted(values: tuple[Any, ...]) -> Sizes:
    """Sizes from a LongStorage, or from numbers up to the first nil."""
    if values and type(values[0]) is LONG_STORAGE:
        return tuple(values[0].data.tolist())
    sizes = []
    for value in itertools.takewhile(lambda v: v is not None, values):
        if type(value) not in (int, float, bytes):
            raise TypeMismatch(3, "number", lua_type(value))
        # Torch7: stores the sizes in a LongStorage, which takes 0 for a string without a number.
        sizes.append(int(cast_scalar(as_number(value) or 0, LONG)))
    return tuple(sizes)


def _result(r: Any, tensor: Tensor) -> Tensor:
    """The destination r, which must have the tensor's class; a new tensor where it is None."""
    if r is None:
        return type(tensor)()
    if type(r) is not type(tensor):
        name = getattr(r, "dtype", tensor.dtype)
        names = f"{name.tensor_name} or {name.storage_name}"
        raise TorchError(f"bad argument #1 to 'set' (expecting number or {names})")
    return r


_SIZES = "[*T*] T (LongStorage | sz1 ...)"


@checked("expand", _SIZES, _SIZES)
def expand(call: Call) -> Tensor:
    """A view of the given sizes, in which dimensions of size 1 are repeated.

    A repeated dimension has stride 0. The other dimensions must have the given sizes.
    """
    r, source, size_arguments = _split_arguments(call)
    target_sizes = _wanted(size_arguments)
    return _expand(r, _source(source, "dim"), target_sizes)


def _expand(r: Any, tensor: Tensor, target_sizes: Sizes) -> Tensor:
    if len(target_sizes) != tensor.ndim:
        raise TorchError("the number of dimensions provided must equal tensor:dim()")
    strides = []
    for have, want, step in zip(tensor.sizes, target_sizes, tensor.strides, strict=True):
        if have != 1 and have != want:
            raise TorchError("incorrect size: only supporting singleton expansion (size=1)")
        strides.append(0 if have == 1 else step)
    result = _result(r, tensor)
    result.set_checked(tensor.storage, tensor.offset, target_sizes, tuple(strides))
    return result


@checked("expandAs", "[*T*] T T", "[*T*] T T")
def expand_as(call: Call) -> Tensor:
    """A view expanded to another tensor's sizes; see expand."""
    if call.get(3) is not None:
        template = _source(call.get(3), "size", "template")
        return _expand(call.get(1), _source(call.get(2), "dim"), template.sizes)
    return _expand(None, call.tensor(1), _source(call.get(2), "size").sizes)


@checked("repeatTensor", _SIZES, _SIZES, small="construct.repeatTensor")
def repeat_tensor(call: Call) -> Tensor:
    """A copy of the tensor, repeated a number of times in each dimension.

    There may be more numbers than dimensions: the first ones are then for new dimensions.
    """
    r, source, size_arguments = _split_arguments(call)
    tensor = _source(source, "isContiguous")
    times = _wanted(size_arguments)
    if len(times) < tensor.ndim:
        raise TorchError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions"
            " of tensor"
        )
    if any(n <= 0 for n in times):
        raise TorchError("calling 'unfold' on bad self (cannot unfold an empty tensor)")
    check_dimensions(len(times))
    if prod(times) * tensor.nelement >= 1 << 59:
        raise TorchError("$ Torch: invalid memory size -- maybe an overflow?")
    result = _result(r, tensor)
    if tensor.sizes:
        _repeat(result, tensor, times)
    else:
        result.resize(())
    return result


def _repeat(r: Tensor, source: Tensor, times: Sizes) -> None:
    """Resize r and set it to a tensor's elements, repeated; without a copy in between."""
    values = source.array
    if r.storage is not None and np.may_share_memory(values, r.storage.data):
        values = values.copy()
    sizes = (1,) * (len(times) - source.ndim) + source.sizes
    r.resize(tuple(n * size for n, size in zip(times, sizes, strict=True)))
    # A dimension that is repeated is made two, of the times and the size, so that numpy's
    # broadcasting repeats it.
    target_shape, source_shape = [], []
    for n, size in zip(times, sizes, strict=True):
        target_shape += [n, size] if n > 1 and size > 1 else [n * size]
        source_shape += [1, size] if n > 1 and size > 1 else [size]
    r.array.reshape(target_shape)[...] = values.reshape(source_shape)


# -- view


def _any_sizes(call: Call, at: int) -> Sizes:
    value = call.get(at)
    if not isinstance(value, Tensor):
        raise call.mismatch(at, call.dtype.tensor_name)
    return value.sizes


def _view_sizes(call: Call, at: int) -> Sizes:
    sizes = call.sizes(at)
    return sizes if sizes is not None else call.longs(at)


_VIEW_FORMS = (
    "torch.view, expected (torch.Tensor, torch.Tensor, number [, number ]*) or\n"
    " (torch.Tensor, torch.Tensor, torch.LongStorage) or\n"
    " (torch.Tensor, torch.LongStorage)\n"
    " or (torch.Tensor, number [, number ]*)"
)


@checked("view", _SIZES, _SIZES)
def view(call: Call) -> Tensor:
    """Return the elements with other sizes; one of them may be -1, which is then computed.

    The tensor must be contiguous and have as many elements.
    """
    first, second = call.get(1), call.get(2)
    if not isinstance(first, Tensor):
        raise TorchError(_VIEW_FORMS)
    at = 3 if isinstance(second, Tensor) else 2
    argument = call.get(at)
    if type(argument) is not LONG_STORAGE and type(argument) not in (int, float):
        raise TorchError(_VIEW_FORMS)
    if isinstance(second, Tensor):
        return _view(first, second, _view_sizes(call, at))
    return _view(type(first)(), first, _view_sizes(call, at))


@checked("viewAs", method="[*T*] T T", function="[*T*] T T")
def view_as(call: Call) -> Tensor:
    """Return the elements with another tensor's sizes; see view."""
    if isinstance(call.get(3), Tensor):
        source = call.get(2)
        if not isinstance(source, Tensor):
            raise TorchError(_VIEW_FORMS)
        return _view(call.tensor(1), source, _any_sizes(call, 3))
    if call.get(3) is not None:
        raise TorchError(
            "expecting (torch.Tensor, torch.Tensor, torch.LongStorage) or "
            "(torch.Tensor, torch.LongStorage)"
        )
    tensor = call.tensor(1)
    return _view(type(tensor)(), tensor, _any_sizes(call, 2))


def _view(r: Tensor, tensor: Tensor, target_sizes: Sizes) -> Tensor:
    count = tensor.nelement
    sizes = _fill_in(target_sizes, count)
    if not tensor.is_contiguous:
        raise TorchError("expecting a contiguous tensor")
    if prod(sizes) != count or min(sizes, default=0) <= 0:
        before, after = "x".join(map(str, tensor.sizes)), "x".join(map(str, sizes))
        raise TorchError(f"Wrong size for view. Input size: {before}. Output size: {after}")
    result = _result(r, tensor)
    result.set(tensor.storage, tensor.offset, sizes, contiguous_strides(sizes))
    return result


def _fill_in(target_sizes: Sizes, count: int) -> Sizes:
    """The sizes, with the number in place of -1 that makes them hold ``count`` elements."""
    if -1 not in target_sizes:
        return target_sizes
    if target_sizes.count(-1) > 1:
        raise TorchError("Only one of torch.view dimensions can be -1.")
    covered = prod(n for n in target_sizes if n != -1)
    if covered == 0 or count % covered:
        raise TorchError("The number of covered elements is not a multiple of all elements.")
    return tuple(count // covered if n == -1 else n for n in target_sizes)
