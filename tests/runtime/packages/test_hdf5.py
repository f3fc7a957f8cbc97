"""The package hdf5: what h5py has written and reads, parts, chunks, and errors."""

import re
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_th

READ_AS = data(__file__, "READ_AS")


@pytest.mark.parametrize("kind", READ_AS)
def test_element_types_that_are_read(lua: Lua, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.h5"
    values = np.arange(250, 262).astype(kind).reshape(3, 4)
    with h5py.File(path, "w") as file:
        file["a/b"] = values
    lua(f"f = require('hdf5').open('{path}', 'r') d = f:read('/a/b') x = d:all()")
    lua("y = d:partial({2, 3}, {1, 2}) z = d:partial(3, {4, 4})")
    assert lua("print(x:type(), d:getTensorFactory()():type(), unpack(d:dataspaceSize()))") == (
        f"torch.{READ_AS[kind]}Tensor\ttorch.{READ_AS[kind]}Tensor\t3\t4\t\n"
    )
    native = values.astype(values.dtype.newbyteorder("="))
    for name, part in {"x": native, "y": native[1:3, :2], "z": native[2:, 3:]}.items():
        read = np.asarray(lua.engine.values[name].numpy())
        assert read.shape == part.shape and read.tobytes() == part.tobytes()
    lua("f:close()")


@pytest.mark.parametrize("name", ["Byte", "Char", "Short", "Int", "Long", "Float", "Double"])
def test_element_types_that_are_written(lua: Lua, tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.h5"
    lua(f"f = require('hdf5').open('{path}', 'w')")
    lua(f"f:write('x', torch.range(-2, 3):view(2, 3):type('torch.{name}Tensor'):t()) f:close()")
    with h5py.File(path) as file:
        written = file["x"][...]
    kinds = {"Byte": "u1", "Char": "i1", "Short": "i2", "Int": "i4", "Long": "i8"}
    assert written.dtype == np.dtype(kinds.get(name, {"Float": "f4", "Double": "f8"}.get(name)))
    assert (written == np.arange(-2, 4).astype(written.dtype).reshape(2, 3).T).all()


def test_tables_are_groups(lua: Lua, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    lua(
        f"f = require('hdf5').open('{path}') f:write('g/c/d', torch.Tensor{{ 5 }}) "
        "f:write('/', { a = torch.ones(2), g = { h = { b = torch.zeros(1) } } }) f:close()"
    )
    with h5py.File(path) as file:
        assert file["g/c/d"][0] == 5 and file["g/h/b"].shape == (1,) and set(file) == {"a", "g"}
    lua(f"f = require('hdf5').open('{path}', 'r') t = f:all()")
    assert lua("print(t.g.c.d[1], t.a:size(1), f:read('g'):all().h.b[1])") == "5\t2\t0\t\n"
    assert lua("print(f:filename() == tostring(f):match(' ([^ ]+)%]$'))") == "true\t\n"
    described = re.sub(r"\d+", "1", lua("print(tostring(f:read('g')), tostring(f:read('a')))"))
    assert described == "[HDF1Group 1 /g]\t[HDF1DataSet (1 /a DATASET)]\t\n"
    lua("f:close()")


def test_chunks_grow_and_are_compressed(lua: Lua, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    lua(
        "hdf5 = require 'hdf5' o = hdf5.DataSetOptions():setChunked(2, 9):setDeflate() "
        f"f = hdf5.open('{path}', 'w') f:write('x', torch.range(1, 6):view(2, 3), o) "
        "f:append('x', torch.range(7, 15):view(3, 3), o) f:append('x', torch.Tensor(1, 2):zero()) "
        "x = f:read('x'):all()"
    )
    assert lua("print(tostring(o), x:sum(), x:size(1), x[6][3])") == (
        "[DataSetOptions: chunking=2x3]\t120\t6\t0\t\n"
    )
    assert lua.error("f:append('x', torch.ones(1, 4))").endswith(
        "(the sizes are 1 x 4, those of the data 6 x 3)"
    )
    assert lua("print(f:read('x'):dataspaceSize()[1]) f:close()") == "6\t\n"
    with h5py.File(path) as file:
        assert (file["x"].compression, file["x"].chunks, file["x"].maxshape) == (
            "gzip",
            (2, 3),
            (None, 3),
        )


ERRORS = data(__file__, "ERRORS")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of what can be read, and of what cannot."""
    folder = tmp_path_factory.mktemp("hdf5")
    (folder / "text.h5").write_text("no HDF5")
    with h5py.File(folder / "x.h5", "w") as file:
        file["x"] = np.ones((2, 3))
        file["text"], file["number"], file["yes"] = ["a", "b"], 3.0, np.array([True])
        file["half"] = np.ones(2, np.float16)
    with h5py.File(folder / "circle.h5", "w") as file:
        file.create_group("g")
        file["g/g"] = file["g"]
    return folder


@pytest.mark.sample(12)
@pytest.mark.parametrize("call", ERRORS)
def test_errors(lua: Lua, file: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    monkeypatch.chdir(file)
    lua("hdf5 = require 'hdf5' f = hdf5.open('x.h5', 'r+')")
    source = f"local t = {call}" if ":read" in call or "open" in call else call
    message, expected = (
        re.sub(r"(?<!HDF)\d+", "#", text)
        for text in (lua.error(source), ERRORS[call].replace("HERE", str(file)))
    )
    assert message == expected
    lua("f:close()")
    with h5py.File(file / "x.h5") as after:
        assert after["x"].shape == (2, 3) and "z" not in after


@pytest.mark.thorough
def test_many_groups_in_each_other_and_names_of_one_group(lua: Lua, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        deep, shared = file.create_group("deep"), file.create_group("shared")
        for _ in range(800):
            deep = deep.create_group("g")
        deep["x"] = np.ones(3)
        for _ in range(60):
            shared["b"] = shared.create_group("a")
            shared = shared["b"]
        shared["x"] = np.zeros(2)
    lua(f"f = require('hdf5').open('{tmp_path}/x.h5', 'r') t = f:all()")
    assert lua("local n, g = 0, t.deep while g.g do n, g = n + 1, g.g end print(n, g.x:sum())") == (
        "800\t3\t\n"
    )
    assert lua("local g = t.shared while g.a do g = g.b end print(g.x:size(1))") == ("2\t\n")
    assert lua("print(f:read('shared/a') == f:read('shared/b')) f:close()") == "true\t\n"


def test_a_closed_file_is_an_error(lua: Lua, file: Path) -> None:
    lua(f"f = require('hdf5').open('{file}/x.h5', 'r') d = f:read('x') f:close() f:close()")
    assert lua.error("local x = d:all()") == "the HDF5 file is closed"


def test_a_file_that_cannot_be_read_is_closed(lua: Lua, file: Path) -> None:
    assert lua(f"print(pcall(require('hdf5').open, '{file}/circle.h5', 'r'))").startswith("false")
    with h5py.File(file / "circle.h5", "r+") as again:  # not while others read it
        assert list(again) == ["g"]


def test_files_are_serialized_by_their_numbers(lua: Lua, file: Path) -> None:
    lua(
        f"f = require('hdf5').open('{file}/x.h5', 'r') m = torch.MemoryFile():binary() "
        "m:writeObject(f) m:seek(1)"
    )
    assert lua("print(m:readObject():read('x'):all():sum()) f:close()") == "6\t\n"


def test_a_file_that_is_left_open_is_written(tmp_path: Path) -> None:
    source = "f = require('hdf5').open('x.h5', 'w') f:write('x', torch.ones(3)) os.exit(3)"
    assert run_th("-e", source, cwd=tmp_path).returncode == 3
    with h5py.File(tmp_path / "x.h5") as file:
        assert file["x"][...].tolist() == [1, 1, 1]


def test_without_the_library(lua: Lua, monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert lua.error(f"require('hdf5').open('{file}/x.h5', 'r')") == (
        "h5py is needed for this and cannot be loaded (import of h5py halted; None in "
        "sys.modules): pip install 'th-shell[hdf5]'"
    )
