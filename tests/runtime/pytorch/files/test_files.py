"""torch.save and torch.load: files of PyTorch, those of old versions, and damaged ones."""

import collections
import io
import os
import pickle
import random
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch
from tests.runtime.pytorch.files.written import FILES, told, value

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


def written(obj: Any, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(obj, file, **options)
    file.seek(0)
    return file


def test_files_of_pytorch_are_read() -> None:
    found = torch.load(FILES / "zip.pt")
    assert told(found) == told(value(torch))
    found["x"][1, 2] = 77
    assert found["transposed"][2, 1] == found["row"][2] == found["part"][1, 1] == 77
    assert found["same"] is found["x"]


@pytest.mark.parametrize("protocol", [2, 4])
def test_what_is_saved_is_loaded(protocol: int) -> None:
    file = written(value(torch), pickle_protocol=protocol)
    assert told(torch.load(file)) == told(value(torch))


@pytest.mark.needs("torch")
def test_pytorch_reads_what_is_saved(tmp_path: Path) -> None:
    import torch as real

    path = tmp_path / "x.pt"
    torch.save(value(torch), path)
    for options in ({}, {"mmap": True}):
        assert told(real.load(path, **options)) == told(value(real))
    views = real.load(path)
    views["x"][1, 2] = 77
    assert views["transposed"][2, 1] == views["row"][2] == 77
    real.save(value(real), path)
    assert told(torch.load(path)) == told(value(torch))


def test_the_elements_of_files_are_aligned() -> None:
    file = written([torch.ones(3), torch.ones(5)])
    data = file.getvalue()
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == [
            f"archive/{name}" for name in ("data.pkl", "byteorder", "data/0", "data/1", "version")
        ]
        assert archive.testzip() is None
    assert data.index(np.ones(3, "f4").tobytes()) % 64 == 0


def test_parameters_are_tensors() -> None:
    weight, state = torch.load(FILES / "parameter.pt")
    assert (weight.shape, type(weight)) == ((1, 1), torch.Tensor)
    assert list(state) == ["weight", "bias"]
    assert state["weight"].untyped_storage() is weight.untyped_storage()


def test_storages_share_their_memory() -> None:
    x = torch.arange(3)
    storage, tensor = torch.load(written([x.storage(), x]))
    storage[0] = 9
    assert tensor.tolist() == [9, 1, 2]


# -- old files


def test_old_files_are_refused() -> None:
    with pytest.raises(RuntimeError) as error:
        torch.load(FILES / "legacy.pt")
    assert str(error.value) == (
        "Invalid magic number; corrupt file? It is a file of PyTorch's torch.save before 1.6: "
        "torch.load of PyTorch reads it, and its torch.save writes one that th --python reads, too"
    )


# -- devices


def test_storages_of_other_devices_are_mapped() -> None:
    file = io.BytesIO(written(torch.ones(2)).getvalue().replace(b"\3\0\0\0cpu", b"\3\0\0\0gpu"))
    told = (
        "don't know how to restore data location of torch.storage.UntypedStorage (tagged with gpu)"
    )
    with pytest.raises(RuntimeError) as error:
        torch.load(file)
    assert str(error.value) == told
    for way in ("cpu", torch.device("cpu")):
        file.seek(0)
        assert torch.load(file, way).tolist() == [1, 1]


# -- what is refused


NOT_ALLOWED = (
    "Weights only load failed. Unsupported global: GLOBAL {} was not an allowed global by default. "
    "Of what a file names, only tensors and plain containers are made here: let PyTorch read the "
    "file, and save the tensors of it, as a state_dict() for example."
)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        (
            "module",
            pickle.UnpicklingError,
            NOT_ALLOWED.format("torch.nn.modules.linear.Linear"),
        ),
        (
            "sparse",
            pickle.UnpicklingError,
            NOT_ALLOWED.format("torch._utils._rebuild_sparse_tensor"),
        ),
        (
            "script",
            RuntimeError,
            "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``.",
        ),
    ],
)
def test_files_that_are_refused(name: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as error:
        torch.load(FILES / f"{name}.pt")
    assert str(error.value) == message


class _Runs:
    def __init__(self, made: Any) -> None:
        self.made = made

    def __reduce__(self) -> Any:
        return self.made


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ((os.getpid, ()), "posix.getpid"),
        ((frozenset, ([1],)), "frozenset"),
        ((eval, ("1",)), "eval"),
    ],
)
def test_no_code_runs(made: Any, name: str) -> None:
    with pytest.raises(pickle.UnpicklingError) as error:
        torch.load(written(_Runs(made)))
    assert str(error.value) == NOT_ALLOWED.format(name)


_VIEW = (  # a tensor of two floats in the storage '0', and what is told of it
    b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n"
    b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQK\x00(K\x02t(K\x01t\x89N}%s\x88stR."
)


def _zip(pickled: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x/data.pkl", b"\x80\x02" + pickled)
        archive.writestr("x/data/0", np.float32([1, -2]).tobytes())
    file.seek(0)
    return file


@pytest.mark.parametrize(
    ("pickled", "message"),
    [
        (
            _VIEW % b"X\x03\x00\x00\x00neg",
            "a tensor that PyTorch changes when it is read (neg): there, save what resolve_neg() "
            "gives",
        ),
        (
            b"ctorch\nfloat32\n}X\x04\x00\x00\x00nameK\x01sb.",  # sets attributes of a type
            "Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
            "`add_safe_globals`, but got <class 'torch.dtype'>",
        ),
        (
            b"ctorch\nfloat32\n(tR.",
            "Trying to call reduce for unrecognized function torch.float32",
        ),
        (b"ctorch\nSize\n)\x81.", "the pickle makes objects of classes, or names what it may not"),
        (b"K\x01Q.", "Only persistent_load of storage is allowed, but got 1"),
        (b"(.", "the file is incomplete, or was damaged: pop from empty list"),
    ],
)
def test_pickles_that_are_refused(pickled: bytes, message: str) -> None:
    with pytest.raises(pickle.UnpicklingError) as error:
        torch.load(_zip(pickled))
    assert str(error.value) == f"Weights only load failed. {message}"


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: torch.load(io.BytesIO(), weights_only=False),
            NotImplementedError,
            "weights_only=False is not provided here: no code of a file runs. Leave it out, if the "
            "file has tensors and plain containers alone",
        ),
        (
            lambda: torch.load(io.BytesIO(), {"cuda": "cpu"}),
            NotImplementedError,
            "map_location is 'cpu' here: there is no other device",
        ),
        (lambda: torch.load(io.BytesIO()), EOFError, "Ran out of input"),
        (
            lambda: torch.load(io.BytesIO(b"nothing of PyTorch's")),
            RuntimeError,
            "Invalid magic number; corrupt file? It is a text file",
        ),
        (
            lambda: torch.load(io.BytesIO(b"\4\0\0\0\1\0\0\0")),
            RuntimeError,
            "Invalid magic number; corrupt file? It may be a file of Torch7, which th_shell.load "
            "reads",
        ),
        (
            lambda: torch.load(io.BytesIO(b"PK\3\4")),
            RuntimeError,
            "PytorchStreamReader failed reading zip archive: failed finding central directory",
        ),
        (
            lambda: torch.save(1, 3),
            AttributeError,
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute",
        ),
        (
            lambda: torch.save(1, io.BytesIO(), object()),
            NotImplementedError,
            "torch.save writes with Python's pickle alone: leave pickle_module out",
        ),
        (
            lambda: torch.save(torch.ones(2).max(0), io.BytesIO()),
            pickle.PicklingError,
            "of torch's objects torch.save takes tensors, storages, sizes, types, layouts and "
            "devices alone",
        ),
        (
            lambda: written([x := torch.ones(2), x.view(torch.int32)]),
            RuntimeError,
            "Cannot save multiple tensors or storages that view the same data as different types",
        ),
    ],
)
def test_errors(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == message


# -- damaged files

#: What `load` may raise for a damaged file.
_TOLD = (pickle.UnpicklingError, EOFError, RuntimeError, NotImplementedError)


def test_damaged_files_are_errors_or_values() -> None:
    whole = (FILES / "zip.pt").read_bytes()
    chance = random.Random("zip")
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 3, 10])):
            data[chance.randrange(len(data))] = chance.choice([0, 1, 255, chance.randrange(256)])
        cut = chance.choice([len(data), chance.randrange(len(data))])
        try:
            told(torch.load(io.BytesIO(bytes(data[:cut]))))
        except _TOLD as error:
            assert "line" not in str(error)


def test_a_header_before_the_start_of_the_file() -> None:
    data = written(torch.ones(1)).getvalue()
    at = data.rindex(b"PK\5\6") + 16  # where the archive says that its directory begins
    directory = struct.unpack_from("<I", data, at)[0] + 200
    damaged = data[:at] + struct.pack("<I", directory) + data[at + 4 :]
    with pytest.raises(RuntimeError) as error:
        torch.load(io.BytesIO(damaged))
    assert str(error.value) == (
        "PytorchStreamReader failed reading zip archive: byteorder is compressed, or not where the "
        "archive says"
    )


def test_an_ordered_dictionary_keeps_its_attributes() -> None:
    state = collections.OrderedDict(a=torch.ones(1))
    state._metadata = {"version": 1}  # type: ignore[attr-defined]
    found = torch.load(written(state))
    assert (list(found), found._metadata) == (["a"], {"version": 1})
