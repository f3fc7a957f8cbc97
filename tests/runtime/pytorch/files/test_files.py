"""torch.save and torch.load: files of PyTorch, those of old versions, and damaged ones."""

from __future__ import annotations

import collections
import io
import os
import pickle
import pickletools
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


def test_a_mapped_file_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save(value(torch), path)
    before = path.read_bytes()
    found = torch.load(path, mmap=True)
    assert told(found) == told(value(torch))
    found["x"].fill_(7)
    assert found["row"].tolist() == [7] * 4
    torch.save([], path)  # a new file: the mapped one stays
    assert found["kinds"]["int64"].tolist() == [0, 1]
    assert torch.load(path) == [] and path.read_bytes() != before


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


def test_elements_of_the_other_byte_order() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(written(torch.tensor([1, 2]))) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            data = np.frombuffer(data, ">i8").astype("<i8").tobytes() if "/data/" in name else data
            new.writestr(name, b"big" if name.endswith("byteorder") else data)
    file.seek(0)
    assert torch.load(file).tolist() == [1, 2]


def test_parameters_are_tensors() -> None:
    weight, state = torch.load(FILES / "parameter.pt")
    assert (weight.shape, type(weight)) == ((1, 1), torch.Tensor)
    assert list(state) == ["weight", "bias"]
    assert state["weight"].untyped_storage() is weight.untyped_storage()


def test_storages_and_results() -> None:
    x = torch.arange(3)
    storage, tensor = torch.load(written([x.storage(), x]))
    storage[0] = 9
    assert tensor.tolist() == [9, 1, 2]
    names = names_in(written(torch.max(x, 0)))
    assert "torch.return_types max" in names


def names_in(file: io.BytesIO) -> list[str]:
    data = zipfile.ZipFile(file).read("archive/data.pkl")
    return [str(arg) for code, arg, _ in pickletools.genops(data) if code.name == "GLOBAL"]


# -- old files


def test_old_files_are_refused() -> None:
    with pytest.raises(RuntimeError) as error:
        torch.load(FILES / "legacy.pt")
    assert str(error.value) == (
        "Invalid magic number; corrupt file? It is a file of PyTorch's torch.save before 1.6: "
        "torch.load of PyTorch reads it, and its torch.save writes one that th --python reads, too"
    )


# -- devices


CUDA = (
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If "
    "you are running on a CPU-only machine, please use torch.load with "
    "map_location=torch.device('cpu') to map your storages to the CPU."
)


def test_storages_of_other_devices_are_mapped() -> None:
    file = io.BytesIO(written(torch.ones(2)).getvalue().replace(b"\3\0\0\0cpu", b"\3\0\0\0gpu"))
    told = (
        "don't know how to restore data location of torch.storage.UntypedStorage (tagged with gpu)"
    )
    with pytest.raises(RuntimeError) as error:
        torch.load(file)
    assert str(error.value) == told
    asked: list[Any] = []
    ways = ["cpu", b"cpu", torch.device("cpu"), {"gpu": "cpu"}, lambda s, at: asked.append(at) or s]
    for way in ways:
        file.seek(0)
        assert torch.load(file, way).tolist() == [1, 1]
    assert asked == ["gpu"]
    file.seek(0)
    with pytest.raises(RuntimeError) as error:
        torch.load(file, "cuda:0")
    assert str(error.value) == CUDA


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


@pytest.mark.parametrize("options", [{}, {"mmap": True}])
def test_tensors_of_types_that_are_not_provided(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "again.pt"
    torch.save(torch.load(FILES / "unprovided.pt", **options), path)
    found = torch.load(path)
    assert repr(found["c"]) == "tensor(..., size=(2,), dtype=torch.complex64)"
    assert (found["f"].tolist(), found["part"].float().tolist()) == ([1, 1], [[1], [-1.2578125]])
    for name, kind in (("part", "bfloat16"), ("c", "complex64")):
        more = ": .float() makes torch.float32 of it" if name == "part" else ""
        with pytest.raises(NotImplementedError) as error:
            found["f"] + found[name]
        assert str(error.value) == f"torch.{kind} tensors are not provided here{more}"


@pytest.mark.needs("torch")
@pytest.mark.parametrize("options", [{}, {"mmap": True}])
def test_pytorch_reads_types_that_are_not_provided(tmp_path: Path, options: dict[str, Any]) -> None:
    import torch as real

    path = tmp_path / "again.pt"
    torch.save(torch.load(FILES / "unprovided.pt", **options), path)
    assert told(real.load(path)) == told(real.load(FILES / "unprovided.pt"))


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


def test_a_lazy_negative_is_negated() -> None:
    assert torch.load(_zip(_VIEW % b"X\x03\x00\x00\x00neg")).tolist() == [-1, 2]


@pytest.mark.parametrize(
    ("pickled", "message"),
    [
        (
            _VIEW % b"X\x04\x00\x00\x00conj",
            "a tensor that PyTorch changes when it is read (conj): there, save what "
            "resolve_conj() gives",
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
            lambda: torch.load(io.BytesIO(), pickle_module=pickle),
            RuntimeError,
            "Can not safely load weights when explicit pickle_module is specified",
        ),
        (
            lambda: torch.load(io.BytesIO(), mmap=True),
            ValueError,
            "f must be a file path in order to use the mmap argument",
        ),
        (
            lambda: torch.load(3),
            AttributeError,
            "'int' object has no attribute 'seek'. You can only torch.load from a file that is "
            "seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from "
            "it instead.",
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
            lambda: torch.save(torch.Generator(), io.BytesIO()),
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


def test_safetensors(tmp_path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "a.safetensors"
    numpy.save_file({"a": np.arange(3.0), "b": np.array([True])}, path, {"note": "x"})
    found = torch.load(path)
    assert (found["a"].tolist(), found["b"].tolist()) == ([0, 1, 2], [True])
    found["a"][0] = 5


def _safetensors(header: str | bytes, elements: bytes = b"") -> bytes:
    data = header.encode() if isinstance(header, str) else header
    return struct.pack("<Q", len(data)) + data + elements


def _pair(first: str, second: str = "[4,8]") -> str:
    """The header of two tensors of a float, from where they are."""
    told = '{"dtype":"F32","shape":[1],"data_offsets":%s}'
    return f'{{"a":{told % first},"b":{told % second}}}'


def test_bfloat16_of_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    header = '{"b":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}}'
    path.write_bytes(_safetensors(header, b"\0\x40\x80\x3f"))
    assert torch.load(path)["b"].float().tolist() == [[2, 1]]
    path.write_bytes(_safetensors(header.replace("BF16", "F8_E4M3"), b"\0\x40\x80\x3f"))
    with pytest.raises(NotImplementedError) as caught:
        torch.load(path)
    assert str(caught.value) == "tensors of safetensors' type F8_E4M3 are not provided here"


_NO_TENSOR = "the header has no type, shape and place of 'a'"
_NO_TABLE = "the header is no table of tensors and texts"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "a header of 0 bytes"),
        (struct.pack("<Q", 1 << 40) + b"{}", "a header of 1099511627776 bytes"),
        (struct.pack("<Q", 3) + b"{}", "a header of 3 bytes"),
        (_safetensors("{]"), "the header is no JSON"),
        (_safetensors("[" * 100000), "the header is no JSON"),
        (_safetensors(b'{"\xff":1}'), "the header is no JSON"),
        (_safetensors(r'{"\ud800":1}'), "the header is no JSON"),
        (_safetensors('{"a":NaN}'), "the header is no JSON"),
        (_safetensors('{"a":{"shape":[],"shape":[]}}'), "the header is no JSON"),
        (_safetensors("[]"), _NO_TABLE),
        (_safetensors('{"__metadata__":{"a":1}}'), _NO_TABLE),
        (_safetensors('{"__metadata__":[]}'), _NO_TABLE),
        (_safetensors('{"a":null}'), _NO_TENSOR),
        (_safetensors(_pair("[0,4,8]"), bytes(8)), _NO_TENSOR),
        (_safetensors(_pair("[true,4]"), bytes(8)), _NO_TENSOR),
        (_safetensors(_pair("[-0,4]"), bytes(8)), _NO_TENSOR),
        (_safetensors(_pair("[0,4]").replace("[1]", "[1.0]"), bytes(8)), _NO_TENSOR),
        (_safetensors(_pair("[0,4]", "[0,4]"), bytes(4)), "[1] F32 are not at (0, 4)"),
        (_safetensors(_pair("[0,4]", "[5,9]"), bytes(9)), "[1] F32 are not at (5, 9)"),
        (_safetensors(_pair("[0,5]", "[5,9]"), bytes(9)), "[1] F32 are not at (0, 5)"),
        (_safetensors(_pair("[0,4]"), bytes(9)), "9 bytes of elements, not 8"),
        (_safetensors(_pair("[0,4]"), bytes(7)), "7 bytes of elements, not 8"),
        (
            _safetensors(_pair("[0,0]", "[0,0]").replace("[1]", f"[{1 << 62},4,0]")),
            "[4611686018427387904, 4, 0] F32 are not at (0, 0)",
        ),
    ],
)
def test_damaged_safetensors(data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(data)
    with pytest.raises(pickle.UnpicklingError) as caught:
        torch.load(tmp_path / "a.safetensors")
    assert str(caught.value) == f"the file is incomplete, or was damaged: {why}"
    library = pytest.importorskip("safetensors")
    with pytest.raises(library.SafetensorError):
        library.deserialize(data)


def test_what_the_library_safetensors_refuses_is_refused(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors")
    whole, path, chance = (
        _safetensors(_pair("[0,4]"), bytes(8)),
        tmp_path / "a.safetensors",
        random.Random(1),
    )
    counts = {True: 0, False: 0}
    for _ in range(500):
        data = bytearray(whole)
        data[chance.randrange(8, len(data))] = chance.choice(b'0123456789,:[]{}"F-. \xff')
        path.write_bytes(data)
        try:
            shapes = {name: value["shape"] for name, value in library.deserialize(bytes(data))}
        except library.SafetensorError:
            shapes = None
        try:
            found = {name: [*value.shape] for name, value in torch.load(path).items()}
        except _TOLD:
            found = None
        counts[shapes is None] += 1
        assert found == shapes
    assert min(counts.values()) > 50


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
