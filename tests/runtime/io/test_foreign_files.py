"""What is said of files that Torch7 has not written, or that are read in a wrong mode."""

import bz2
import gzip
import io
import lzma
import pickle
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import Lua
from tests.runtime.io.torch7_files import FILES
from th_shell.runtime import T7Error, load
from th_shell.runtime.io.foreign_files import START, explanation


def zipped(name: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, b"12")
    return file.getvalue()


def tarred(name: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    return file.getvalue()


def of_numpy() -> tuple[bytes, bytes]:
    one, several = io.BytesIO(), io.BytesIO()
    np.save(one, np.ones(2))
    np.savez(several, weight=np.ones(2))
    return one.getvalue(), several.getvalue()


NPY, NPZ = of_numpy()
PACKED = "a compressed file: unpack it first"
OLD_PYTORCH = (
    "a file of PyTorch's torch.save before 1.6: torch.load of PyTorch reads it, and its torch.save "
    "writes one that th --python reads, too"
)
PYTORCH = "a file of PyTorch's torch.save: torch.load of PyTorch, or of th --python, reads it"
PAGE = "a page of the web, which a server may send instead of a file: download it again"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


KINDS = {
    "gzip": (gzip.compress(b"x"), PACKED),
    "bzip2": (bz2.compress(b"x"), PACKED),
    "xz": (lzma.compress(b"x"), PACKED),
    "PyTorch": (zipped("archive/data.pkl"), PYTORCH),
    "TorchScript": (zipped("net/data/0"), PYTORCH),
    "old": (pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2), OLD_PYTORCH),
    "older": (tarred("storages"), OLD_PYTORCH),
    "tar": (tarred("models/net.t7"), "a tar archive: unpack it first"),
    "zip": (zipped("models/net.t7"), "a zip archive: unpack it first"),
    "npz": (NPZ, "an npz file: numpy.load reads it"),
    "npy": (NPY, "an npy file: numpy.load reads it"),
    "pickle": (pickle.dumps([1]), "a pickle: Python's pickle.load reads it"),
    "HDF5": (b"\x89HDF\r\n\x1a\n", "an HDF5 file: the package hdf5, or h5py in Python, reads it"),
    "safetensors": (
        b'\x13\0\0\0\0\0\0\0{"a":{}}',
        "a safetensors file: safetensors in Python reads it",
    ),
    "ONNX": (b"\x08\x07\x12\x07pytorch", "an ONNX file: onnxruntime in Python runs it"),
    "image": (b"\xff\xd8\xff\xe0\0\x10JFIF", "an image: the package image reads it"),
    "bytecode": (b"\x1bLJ\2\2", "compiled Lua: loadfile loads it"),
    "LFS": (POINTER.encode(), "a pointer of Git LFS: `git lfs pull` brings the file itself"),
    "page": (b"\n<!DOCTYPE html>\n<html>", PAGE),
    "html": (b"<html lang='en'>", PAGE),
    "text": ("return { 'größe' }\n".encode(), "a text file"),
    "numbers": (b"1 2 3\n4 5 6\n", "a text file"),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds(name: str) -> None:
    data, kind = KINDS[name]
    assert explanation(data[:START], None) == f"this is no file of Torch7, but {kind}"
    with pytest.raises(T7Error) as raised:
        load(io.BytesIO(data))
    assert str(raised.value).endswith(f": this is no file of Torch7, but {kind}")


@pytest.mark.parametrize("name", FILES)
def test_files_of_torch7_are_none_of_these(name: str) -> None:
    assert explanation(FILES[name][:START], None) == ""


@pytest.mark.parametrize("data", [b"\x7fELF\2\1\1\0", b"\x63\0\0\0", b"GGUF\3\0\0\0"])
def test_what_is_not_known(data: bytes) -> None:
    assert explanation(data, "binary") == ""


UNKNOWN, SHORT = "unknown object", "read error: read 0 blocks instead of 1"
ASCII, BINARY = FILES["table.ascii.t7"], FILES["table.binary.t7"]


@pytest.mark.parametrize(
    ("data", "mode", "error", "explained"),
    [
        (b"", "binary", SHORT, "the file is empty"),
        (ASCII, "binary", UNKNOWN, "this is an ascii file, to be read as 'ascii'"),
        (BINARY, "ascii", SHORT, "this is a binary file, to be read as 'binary'"),
        (
            bytes(3) + b"\1",
            "binary",
            UNKNOWN,
            "this is a file of the other byte order, which `th --convert` writes anew",
        ),
        (NPZ, "binary", UNKNOWN, "this is no file of Torch7, but an npz file: numpy.load reads it"),
    ],
)
def test_a_program_that_catches_errors_gets_the_words_of_torch7(
    lua: Lua, tmp_path: Path, data: bytes, mode: str, error: str, explained: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    call = f"torch.load, '{path}', '{mode}'"
    assert lua(f"print(pcall({call}))") == f"false\t{error}\t\n"
    assert lua.error(f"torch.load('{path}', '{mode}')") == f"{error}: {explained}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", f"{SHORT} (file, at byte 0): the file is empty"),
        (BINARY[:4], f"{SHORT} (file, at byte 4): the file is incomplete, or was damaged"),
        (ASCII[:4], f"{SHORT} (file, at byte 4): the file is incomplete, or was damaged"),
    ],
)
def test_a_file_that_ends_too_early(data: bytes, message: str) -> None:
    with pytest.raises(T7Error) as raised:
        load(io.BytesIO(data))
    assert str(raised.value) == message


def test_a_format_that_the_file_has_not() -> None:
    with pytest.raises(T7Error) as raised:
        load(io.BytesIO(ASCII), "binary")
    expected = f"{UNKNOWN} (file, at byte 4): this is an ascii file, to be read as 'ascii'"
    assert str(raised.value) == expected
