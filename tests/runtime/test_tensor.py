"""``Tensor``: geometry, and the rules of its views, without Lua."""

import ctypes
from typing import Any

import numpy as np
import pytest

from th_shell.runtime.core.dtypes import DOUBLE
from th_shell.runtime.core.errors import ArgError, StorageExceeded, TorchError
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor, contiguous_strides, describe

Double = TENSOR_CLASSES[DOUBLE.index]


def counted(*sizes: int) -> Tensor:
    return Double.of(np.arange(1.0, np.prod(sizes) + 1).reshape(sizes))


class Mirror(ctypes.Structure):
    """The reference's THTensor, its leading members."""

    _fields_ = [
        ("size", ctypes.POINTER(ctypes.c_long)),
        ("stride", ctypes.POINTER(ctypes.c_long)),
        ("nDimension", ctypes.c_int),
        ("storage", ctypes.c_void_p),
        ("storageOffset", ctypes.c_ssize_t),
        ("refcount", ctypes.c_int),
        ("flag", ctypes.c_char),
    ]


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [((), ()), ((3,), (1,)), ((2, 3), (3, 1)), ((4, 1, 5), (5, 5, 1)), ((2, 3, 4), (12, 4, 1))],
)
def test_contiguous_strides(sizes: tuple[int, ...], strides: tuple[int, ...]) -> None:
    assert contiguous_strides(sizes) == strides
    assert Double.new(sizes).strides == strides


def test_describe() -> None:
    assert [describe(()), describe((2,)), describe((2, 3))] == ["[]", "[2]", "[2 x 3]"]


@pytest.mark.parametrize(
    ("make", "sizes", "strides", "offset"),
    [
        (lambda x: x.narrow(1, 1, 2), (2, 2, 4), (12, 4, 1), 4),
        (lambda x: x.select(1, 2), (2, 4), (12, 1), 8),
        (lambda x: x.transpose(0, 2), (4, 3, 2), (1, 4, 12), 0),
        (lambda x: x.unfold(2, 2, 1), (2, 3, 3, 2), (12, 4, 1, 1), 0),
        (lambda x: x.unfold(1, 2, 2), (2, 1, 4, 2), (12, 8, 1, 4), 0),
        (lambda x: x.alias(), (2, 3, 4), (12, 4, 1), 0),
        (lambda x: x.narrow(0, 1, 1).squeeze(), (3, 4), (4, 1), 12),
        (lambda x: x.narrow(0, 1, 1).squeeze(0), (3, 4), (4, 1), 12),
        (lambda x: x.squeeze(0), (2, 3, 4), (12, 4, 1), 0),
    ],
)
def test_view(make: Any, sizes: Any, strides: Any, offset: int) -> None:
    tensor = counted(2, 3, 4)
    view = make(tensor)
    assert (view.sizes, view.strides, view.offset) == (sizes, strides, offset)
    assert view.storage is tensor.storage
    view.array.fill(-1)
    assert (tensor.array == -1).sum() == len(set(_places(view)))


def _places(tensor: Tensor) -> list[int]:
    places = np.full(tensor.sizes, tensor.offset)
    for d, (size, stride) in enumerate(zip(tensor.sizes, tensor.strides, strict=True)):
        shape = [1] * tensor.ndim
        shape[d] = size
        places = places + (np.arange(size) * stride).reshape(shape)
    return [int(place) for place in places.reshape(-1)]


@pytest.mark.parametrize(
    ("make", "arg", "detail"),
    [
        (lambda x: x.narrow(3, 0, 1), 2, "out of range"),
        (lambda x: x.narrow(-1, 0, 1), 2, "out of range"),
        (lambda x: x.narrow(0, 2, 1), 3, "out of range"),
        (lambda x: x.narrow(0, 0, 3), 4, "out of range"),
        (lambda x: x.narrow(0, 0, 0), 4, "out of range"),
        (lambda x: x.select(3, 0), 2, "out of range"),
        (lambda x: x.select(0, 2), 3, "out of range"),
        (lambda x: x.select(0, -1), 3, "out of range"),
        (lambda x: x.select(0, 0).select(0, 0).select(0, 0), 1, "cannot select on a vector"),
        (lambda x: x.transpose(3, 0), 1, "out of range"),
        (lambda x: x.transpose(0, 3), 2, "out of range"),
        (lambda x: x.unfold(3, 1, 1), 2, "out of range"),
        (lambda x: x.unfold(0, 3, 1), 3, "out of range"),
        (lambda x: x.unfold(0, 1, 0), 4, "invalid step"),
        (lambda x: type(x)().unfold(0, 1, 1), 1, "cannot unfold an empty tensor"),
        (lambda x: x.squeeze(3), 2, "dimension out of range"),
    ],
)
def test_view_out_of_range(make: Any, arg: int, detail: str) -> None:
    with pytest.raises(ArgError) as caught:
        make(counted(2, 3, 4))
    assert (caught.value.arg, caught.value.detail) == (arg, detail)
    assert str(caught.value) == f"bad argument #{arg} ({detail})"


@pytest.mark.parametrize(
    ("tensor", "contiguous"),
    [
        (counted(2, 3), True),
        (counted(2, 3).transpose(0, 1), False),
        (counted(2, 3).narrow(0, 1, 1), True),
        (counted(2, 3).narrow(1, 0, 2), False),
        (counted(1, 3).transpose(0, 1), True),
        (Double(), True),
    ],
)
def test_is_contiguous(tensor: Tensor, contiguous: bool) -> None:
    assert tensor.is_contiguous is contiguous


@pytest.mark.parametrize(
    ("tensor", "overlaps"),
    [
        (counted(2, 3), False),
        (counted(2, 3).transpose(0, 1), False),
        (counted(6).unfold(0, 2, 1), True),
        (counted(6).unfold(0, 2, 2), False),
        (Double(counted(1).storage, 0, (3,), (0,)), True),
        (Double(counted(1).storage, 0, (1,), (0,)), False),
        (Double(), False),
    ],
)
def test_overlaps_itself(tensor: Tensor, overlaps: bool) -> None:
    assert tensor.overlaps_itself is overlaps


@pytest.mark.parametrize(
    ("sizes", "strides", "resulting", "stored"),
    [
        ((2, 2), None, ((2, 2), (2, 1)), 6),
        ((3, 3), None, ((3, 3), (3, 1)), 9),
        ((2, 0, 3), None, ((2,), (1,)), 6),
        ((0,), None, ((), ()), 6),
        ((-1,), None, ((), ()), 6),
        ((2, 3), (1, 2), ((2, 3), (1, 2)), 6),
        ((2, 3), (-1, -1), ((2, 3), (3, 1)), 6),
        ((2, 3), (-1, 2), ((2, 3), (6, 2)), 11),
        ((3, 2), (1, 1), ((3, 2), (1, 1)), 6),
    ],
)
def test_resize(sizes: Any, strides: Any, resulting: Any, stored: int) -> None:
    tensor = counted(6)
    tensor.resize(sizes, strides)
    assert (tensor.sizes, tensor.strides) == resulting
    assert tensor.storage is not None
    assert tensor.storage.size == stored
    assert tensor.storage.data[:6].tolist() == [1, 2, 3, 4, 5, 6]


def test_resize_of_a_view_grows_the_storage_from_its_offset() -> None:
    tensor = counted(6)
    tensor.narrow(0, 4, 2).resize((4,))
    assert tensor.storage is not None
    assert tensor.storage.size == 8


def test_set_checked_refuses_a_negative_offset() -> None:
    with pytest.raises(TorchError, match="^Tensor: invalid storage offset$"):
        Double().set_checked(counted(3).storage, -1, (1,))


def test_array_of_a_storage_that_shrank() -> None:
    tensor = counted(2, 3)
    assert tensor.array.shape == (2, 3)
    assert tensor.storage is not None
    tensor.storage.resize(5)
    message = r"^tensor \[2 x 3\] needs 6 elements of its storage, which holds 5$"
    with pytest.raises(StorageExceeded, match=message) as caught:
        _ = tensor.array
    assert (caught.value.sizes, caught.value.needed, caught.value.length) == ((2, 3), 6, 5)


def test_array_follows_a_storage_that_moved() -> None:
    tensor = counted(3)
    view = tensor.narrow(0, 1, 2)
    view.array[0] = 7
    assert tensor.storage is not None
    tensor.storage.resize(10_000)
    tensor.array[2] = 9
    assert view.array.tolist() == [7, 9]


@pytest.mark.parametrize("sizes", [(3,), (2, 3), (1,) * 8, (2,) + (1,) * 10])
def test_mirror_follows(sizes: tuple[int, ...]) -> None:
    tensor = counted(6)
    mirror = Mirror.from_address(tensor.mirror())
    tensor.resize(sizes)
    n = mirror.nDimension
    assert (tuple(mirror.size[:n]), tuple(mirror.stride[:n])) == (sizes, tensor.strides)
    assert tensor.storage is not None
    assert (mirror.storage, mirror.storageOffset) == (tensor.storage.mirror(), 0)
    tensor.set(counted(9).storage, 4, (2,), (2,))
    assert (mirror.nDimension, mirror.size[0], mirror.stride[0]) == (1, 2, 2)
    assert mirror.storageOffset == 4
    tensor.count_references(2)
    assert mirror.refcount == 3


def test_is_set_to() -> None:
    tensor = counted(2, 3)
    assert tensor.is_set_to(tensor.alias())
    assert not tensor.is_set_to(tensor.transpose(0, 1))
    assert not tensor.is_set_to(counted(2, 3))
    assert not Double().is_set_to(Double())
