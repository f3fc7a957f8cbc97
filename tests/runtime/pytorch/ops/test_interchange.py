"""Memory that tensors share with numpy; copies and pickles."""

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch


def test_array_shares_the_tensors_memory() -> None:
    tensor = torch.zeros(2, 3)
    array = tensor.t().numpy()
    array[2, 1] = 5
    assert tensor.tolist() == [[0, 0, 0], [0, 0, 5]]
    assert array.strides == (4, 12)


def test_tensor_shares_the_arrays_memory_and_keeps_it() -> None:
    array = np.arange(6.0).reshape(2, 3)[:, 1:]
    tensor = torch.from_numpy(array)
    tensor.add_(1)
    assert array.tolist() == [[2, 3], [5, 6]]
    assert tensor.stride() == (3, 1)
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        tensor.resize_(50)
    del array
    assert tensor.tolist() == [[2, 3], [5, 6]]


@pytest.mark.parametrize(
    ("array", "error"),
    [
        (np.ones(3)[::-1], "At least one stride in the given numpy array is negative, and"),
        (np.ones(3, ">f8"), "given numpy array has byte order different from the native byte"),
        (np.array(["a"]), "can't convert np.ndarray of type numpy.str_. The only supported"),
        (np.ones(3) + 1j, "complex numbers are not provided here"),
        (np.float32(3), r"expected np.ndarray \(got numpy.float32\)"),
        ([1], r"expected np.ndarray \(got list\)"),
    ],
)
def test_array_that_cannot_be_shared(array: object, error: str) -> None:
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=error):
        torch.from_numpy(array)


def test_read_only_array_is_warned_of() -> None:
    array = np.ones(2)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        torch.from_numpy(array)


def test_numpys_functions_take_tensors() -> None:
    tensor = torch.tensor([1.0, 4.0])
    assert np.asarray(tensor).tolist() == [1, 4]
    assert isinstance(np.sqrt(tensor), torch.Tensor)
    assert np.sqrt(tensor).tolist() == [1, 2]
    assert np.array(tensor, dtype=np.int64).dtype == np.int64


@pytest.mark.parametrize("kind", [torch.bool, torch.uint8, torch.float16, torch.int64])
def test_pickle_keeps_type_view_and_what_is_shared(kind: torch.dtype) -> None:
    base = torch.zeros(4, 3, dtype=kind)
    a, b = pickle.loads(pickle.dumps((base.t(), base[1])))
    b.fill_(1)
    assert a.dtype is kind
    assert a.stride() == (1, 3)
    assert a.int().tolist() == [[0, 1, 0, 0]] * 3


def test_deepcopy_copies_a_shared_storage_once() -> None:
    base = torch.zeros(4)
    a, b = copy.deepcopy([base, base[1:]])
    b[0] = 3
    assert a.tolist() == [0, 3, 0, 0]
    assert base.tolist() == [0, 0, 0, 0]
    shallow = copy.copy(base)
    shallow[0] = 2
    assert base[0] == 2


def test_empty_tensors_are_shared_copied_and_pickled() -> None:
    tensor = torch.zeros(0, 3)
    assert tensor.numpy().shape == (0, 3)
    assert pickle.loads(pickle.dumps(tensor)).shape == (0, 3)
    assert copy.deepcopy(tensor).shape == (0, 3)
    assert tensor.data_ptr() == 0


def test_array_keeps_the_memory_that_the_tensor_has_left() -> None:
    tensor = torch.zeros(1 << 18)
    array = np.asarray(tensor)
    tensor.resize_(1 << 19)
    others = [torch.ones(1 << 18) for _ in range(3)]
    assert not array.any() and len(others) == 3


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", [np.matrix, np.ma.MaskedArray])
def test_storage_has_all_elements_of_an_array_of_any_class(kind: type) -> None:
    storage = torch.from_numpy(np.array([[1.0, 2.0]]).view(kind)).untyped_storage()
    assert storage.size() == 16
    assert type(storage.array) is np.ndarray


def _read_only(count: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.from_numpy(np.frombuffer(bytes(4 * count), np.float32))


_FEW, _MANY = 32, 1 << 17
_ONE = torch.tensor([1])
WRITERS: dict[str, Callable[[Any], Any]] = {
    "few": lambda x: x[:_FEW].add_(1),
    "many": lambda x: x.add_(1),
    "many, one operand": lambda x: x.exp_(),
    "out": lambda x: torch.mul(x, 2, out=x),
    "few random": lambda x: x[:_FEW].normal_(),
    "few uniform": lambda x: torch.rand(_FEW, out=x[:_FEW]),
    "many random": lambda x: x.uniform_(),
    "index_add_": lambda x: x.index_add_(0, _ONE, torch.ones(1)),
    "scatter_add_": lambda x: x.scatter_add_(0, _ONE, torch.ones(1)),
    "elements": lambda x: x.__setitem__(_ONE, torch.ones(1)),
    "an element": lambda x: x.__setitem__(0, 1),
    "the storage": lambda x: x.untyped_storage().fill_(1),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_read_only_memory_is_not_written_to(write: Callable[[Any], Any]) -> None:
    tensor = _read_only(_MANY)
    with pytest.raises(ValueError, match="^assignment destination is read-only$"):
        write(tensor)
    assert not tensor.numpy().any()


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_have_the_attributes(again: Callable[[Any], Any]) -> None:
    tensor = torch.ones(2)
    tensor.name = ["a"]
    found = again(tensor)
    assert found.name == ["a"] and found.tolist() == [1, 1]


@pytest.mark.parametrize(("place", "strides"), [(-4, (4,)), (0, (-4,))])
def test_pickle_of_a_view_beyond_its_storage(place: int, strides: tuple[int, ...]) -> None:
    rebuild, (made, storage, kind, *_), *_ = torch.ones(4).__reduce_ex__(2)
    with pytest.raises(RuntimeError, match="invalid storage offset"):
        rebuild(made, storage, kind, place, (2,), strides)


def test_data_is_a_tensor() -> None:
    tensor = torch.ones(2)
    with pytest.raises(TypeError, match="^Variable data has to be a tensor, but got list$"):
        tensor.data = [1]
    tensor.data = torch.zeros(3)
    assert tensor.tolist() == [0, 0, 0]
