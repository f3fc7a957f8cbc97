"""Files of safetensors and of numpy, as their libraries read them."""

import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from safetensors.numpy import load_file, safe_open

from tests.runtime.export.nets import conv, linear, module, tensor
from tests.runtime.io.torch7_files import FILES
from th_shell.runtime import T7Error, Table, TorchObject, load, save
from th_shell.runtime.export import ExportError, to_hdf5, to_npz, to_pytorch, to_safetensors
from th_shell.runtime.t7.tensors import tensor_of

WRITERS = {".safetensors": to_safetensors, ".h5": to_hdf5, ".npz": to_npz}
both = pytest.mark.parametrize(("ending", "write"), WRITERS.items(), ids=WRITERS)


def read(path: Path) -> dict[str, Any]:
    """The arrays of a file by their names."""
    if path.suffix == ".safetensors":
        return load_file(path)
    if path.suffix == ".npz":
        with np.load(path) as found:
            return dict(found)
    datasets: dict[str, Any] = {}
    with h5py.File(path) as file:
        file.visititems(
            lambda name, item: (
                datasets.update({name.replace("/", "."): item[()]})
                if isinstance(item, h5py.Dataset)
                else None
            )
        )
    return datasets


@both
def test_a_net(tmp_path: Path, ending: str, write: Callable[..., None]) -> None:
    first = linear(3, 4)
    first.fields["gradWeight"] = first.fields["output"] = tensor(4, 3)
    net = module("Sequential", first, conv(2, 3, 5), output=tensor(7))
    state = Table({"dfdx": tensor(90)})
    write(Table({"model": net, "epoch": 3, "optimState": state}), tmp_path / f"a{ending}")
    found = read(tmp_path / f"a{ending}")
    names = [f"model.modules.{n}.{name}" for n in (1, 2) for name in ("bias", "weight")]
    assert sorted(found) == names
    assert found[names[1]].dtype == np.float32
    np.testing.assert_array_equal(found[names[1]], np.asarray(first.weight))


@both
def test_all_of_a_part_in_another_type(
    tmp_path: Path, ending: str, write: Callable[..., None]
) -> None:
    net = module("Sequential", linear(3, 4), output=tensor(7))
    path = tmp_path / f"a{ending}"
    write(Table({"model": net}), path, select="model", everything=True, type="double")
    found = read(path)
    assert sorted(found) == ["modules.1.bias", "modules.1.weight", "output"]
    assert {array.dtype for array in found.values()} == {np.dtype("float64")}
    write(Table({"model": net}), path, select="model.1")
    assert sorted(read(path)) == ["bias", "weight"]
    with pytest.raises(ExportError, match="^there is no 'x' of 'model.x'; there are modules, out"):
        write(Table({"model": net}), path, select="model.x")


@both
def test_all_types_and_odd_names(tmp_path: Path, ending: str, write: Callable[..., None]) -> None:
    kinds = ["f4", "f8", "i1", "i2", "i4", "i8", "u1"]
    table = Table([(kind, tensor_of(np.arange(3).astype(kind))) for kind in kinds])
    table.entries |= {"a": tensor(1), "a.b": tensor(2), "a..b": tensor(3), "x/y": tensor(4)}
    table["t"] = tensor_of(np.arange(12.0).reshape(3, 4).T)
    table["none"] = tensor_of(np.empty(0))
    write(table, tmp_path / f"a{ending}")
    found = read(tmp_path / f"a{ending}")
    assert {kind: (found[kind].dtype, found[kind].tolist()) for kind in kinds} == {
        kind: (np.dtype(kind), [0, 1, 2]) for kind in kinds
    }
    assert found["t"].tolist() == np.arange(12.0).reshape(3, 4).T.tolist()
    assert found["none"].shape == (0,)
    odd = [
        name for _, name in sorted((len(found[name]), name) for name in found if name[0] in "ax")
    ]
    assert (
        odd
        == {
            ".safetensors": ["a", "a.b", "a..b", "x/y"],
            ".h5": ["a", "a#2.b", "a#2._.b", "x_y"],  # no dataset has another one in it
            ".npz": ["a", "a.b", "a..b", "x_y"],
        }[ending]
    )


@both
def test_what_is_shared(tmp_path: Path, ending: str, write: Callable[..., None]) -> None:
    weight = tensor(2000, 3)
    one, two = module("Linear", weight=weight), module("Linear", weight=weight)
    path = tmp_path / f"a{ending}"
    write(module("Sequential", one, two), path)
    found = read(path)
    np.testing.assert_array_equal(found["modules.1.weight"], np.asarray(weight))
    if ending == ".safetensors":
        assert list(found) == ["modules.1.weight"]
        with safe_open(path, "numpy") as file:
            assert file.metadata()["modules.2.weight"] == "modules.1.weight"
        assert path.stat().st_size < 1.5 * 24_000


@both
def test_the_same_bytes_twice(tmp_path: Path, ending: str, write: Callable[..., None]) -> None:
    save(tmp_path / "a.t7", module("Sequential", linear(3, 4), conv(2, 3, 5)))
    for name in ("a", "b"):
        write(load(tmp_path / "a.t7"), tmp_path / f"{name}{ending}")
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()


@pytest.mark.thorough
@both
def test_large_files_pass_through(tmp_path: Path, ending: str, write: Callable[..., None]) -> None:
    elements = np.arange(4 << 20, dtype=np.float64)
    save(tmp_path / "a.t7", {"x": elements, "long": "x" * 100_000})
    tracemalloc.start()
    write(load(tmp_path / "a.t7"), tmp_path / f"a{ending}")
    assert tracemalloc.get_traced_memory()[1] < 20 << 20
    tracemalloc.stop()
    assert (read(tmp_path / f"a{ending}")["x"] == elements).all()


@both
def test_numbers_that_no_float_is(tmp_path: Path, ending: str, write: Callable[..., None]) -> None:
    path = tmp_path / f"a{ending}"
    values = Table({"x": tensor_of(np.array([1.0, np.inf, np.nan]))})
    write(values, path, type="float")
    assert str(read(path)["x"]) == "[ 1. inf nan]"
    values["x"] = tensor_of(np.array([1e39, np.inf]))
    with pytest.raises(T7Error, match="^a number is too large for float: --type double$"):
        write(values, path, type="float")
    write(values, path, type="double")


def test_names_that_the_header_of_safetensors_has(tmp_path: Path) -> None:
    path, one = tmp_path / "a.safetensors", tensor(2)
    to_safetensors(Table({"a": one, "z": one}), path)
    with pytest.raises(ExportError, match="^safetensors has no room .* of the name __metadata__$"):
        to_safetensors(Table({"__metadata__": one}), path)
    assert sorted(read(path)) == ["a"]


def test_names_in_an_archive_lead_to_no_other_folder(tmp_path: Path) -> None:
    names = ["../x", ".._x", "/x", "..\\x"]
    to_npz(Table([(name, tensor(n)) for n, name in enumerate(names, 1)]), tmp_path / "a.npz")
    sizes = {name: array.size for name, array in read(tmp_path / "a.npz").items()}
    assert sizes == {".._x": 1, ".._x#2": 2, "_x": 3, ".._x#3": 4}


@both
def test_storages(tmp_path: Path, ending: str, write: Callable[..., None]) -> None:
    views = load(io.BytesIO(FILES["views.binary.t7"]))
    write(views, tmp_path / f"a{ending}")
    found = read(tmp_path / f"a{ending}")
    assert found["storage"].shape == (12,) and found["column"].tolist() == [3, 7, 11]
    assert found["row"].tolist() == [5, 6, 7, 8] and found["empty"].shape == (0,)


@both
def test_what_fails_leaves_the_target(
    tmp_path: Path, ending: str, write: Callable[..., None]
) -> None:
    target = tmp_path / f"a{ending}"
    target.write_text("old")
    with pytest.raises(ExportError):
        write(Table({}), target, select="x")
    assert target.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_a_folder_as_the_hub_has_it(tmp_path: Path) -> None:
    twin = linear(4, 4)
    net = module("Sequential", linear(3, 4), twin, module("Tanh"), twin)
    folder = tmp_path / "net"
    report = to_pytorch(net, f"{folder}/", check=False, source="net.t7")
    names = ["model.safetensors", "model.py", "config.json"]
    assert report.files == [f"{folder}/{name}" for name in names]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    with safe_open(folder / names[0], "np") as file:
        assert len(file.keys()) == 4  # the layer that stands twice is one
    text = (folder / names[1]).read_text()
    assert "load_model(model, path)" in text and "model.safetensors" in text
    config = json.loads((folder / names[2]).read_text())
    assert config["torch7_file"] == "net.t7" and config["inputs"]["input"][-1] == 3


def test_no_folder_is_left_where_a_net_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ExportError):
        to_pytorch(TorchObject("my.Layer", {}), f"{tmp_path}/net/", check=False)
    assert not list(tmp_path.iterdir())
