"""Files of Torch7 as arrays, as JSON, and in other formats."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data_files import data
from tests.runtime.io.torch7_files import FILES
from th_shell.runtime import Function, T7Error, Table, TorchObject, convert, load, save


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "in.t7"


def arrays(source: Path, value: Any, everything: bool = False) -> dict[str, Any]:
    """What the .npz file of a value has."""
    save(source, value)
    convert(source, source.with_suffix(".npz"), everything=everything)
    with np.load(source.with_suffix(".npz")) as found:
        return dict(found)


def structure(source: Path, value: Any) -> Any:
    """What the JSON file of a value has."""
    save(source, value)
    convert(source, source.with_suffix(".json"))
    return json.loads(source.with_suffix(".json").read_text())


def model() -> TorchObject:
    weight = np.arange(6.0).reshape(2, 3)
    linear = TorchObject("nn.Linear", {"weight": weight, "bias": np.zeros(2, np.float32)})
    return TorchObject("nn.Sequential", {"modules": Table.of([linear, linear]), "train": True})


def test_arrays_have_names_with_dots(source: Path) -> None:
    assert list(arrays(source, model())) == ["modules.1.weight", "modules.1.bias"]
    found = arrays(source, model(), everything=True)
    assert list(found) == ["modules.1.weight", "modules.1.bias", "train"]
    assert found["modules.1.weight"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["modules.1.bias"].dtype == np.float32 and found["train"] == np.array(True)


def test_views_and_storages(source: Path) -> None:
    source.write_bytes(FILES["views.binary.t7"])
    convert(source, source.with_suffix(".npz"))
    found = np.load(source.with_suffix(".npz"))
    assert found["t"].tolist() == found["base"].T.tolist() and found["storage"].shape == (12,)
    assert found["column"].tolist() == [3, 7, 11] and found["row"].tolist() == [5, 6, 7, 8]
    assert found["empty"].shape == (0,)
    found.close()


def test_other_values_and_names(source: Path) -> None:
    table = Table([("1", "é"), (1, 2.5), (True, b"\xff\0"), ("a\n", "x\0"), ("f", Function(b"x"))])
    table["self"] = table
    found = arrays(source, table)
    assert list(found) == ["1", "1#2", "true", "a\\n"]
    assert found["1"] == "é" and found["1#2"] == 2.5
    assert found["true"].tolist() == [255, 0] and found["a\\n"].tolist() == [120, 0]
    assert arrays(source, np.ones((2, 2)))["value"].shape == (2, 2)
    assert arrays(source, None) == {}


@pytest.mark.parametrize(
    ("keys", "names"), data(__file__, "test_each_array_has_a_name_of_its_own_inside_the_archive")
)
def test_each_array_has_a_name_of_its_own_inside_the_archive(
    source: Path, keys: list[Any], names: list[str]
) -> None:
    found = arrays(source, Table([(key, number) for number, key in enumerate(keys)]))
    assert [(name, int(found[name])) for name in found] == [
        (name, number) for number, name in enumerate(names)
    ]


def test_names_that_are_too_long_for_the_format(source: Path) -> None:
    longest = 0xFFFF - len(".npy")
    assert list(arrays(source, {"x" * longest: 1})) == ["x" * longest]
    source.with_suffix(".npz").unlink()
    for value in ({"x" * 70_000: 1}, {"x" * 40_000: {"x" * 29_999: 1}}):
        with pytest.raises(T7Error) as raised:
            arrays(source, value)
        assert str(raised.value) == (
            f"the name of an array has 70004 bytes ({'x' * 40}...): .npz has room for 65535"
        )
        assert list(source.parent.iterdir()) == [source]


def test_structure(source: Path) -> None:
    found = structure(source, model())
    tensor = {"$tensor": "torch.DoubleTensor", "size": [2, 3], "stride": [3, 1]}
    assert found == {
        "$class": "nn.Sequential",
        "modules": [
            {
                "$class": "nn.Linear",
                "weight": {**tensor, "offset": 1, "storage": 1},
                "bias": {
                    "$tensor": "torch.FloatTensor",
                    "size": [2],
                    "stride": [1],
                    "offset": 1,
                    "storage": 2,
                },
            },
            {"$same": "value.modules.1"},
        ],
        "train": True,
    }
    assert '"size": [ 2, 3 ],' in source.with_suffix(".json").read_text()


def test_structure_of_all_kinds(source: Path) -> None:
    value = Table([(1, float("inf")), ("b", b"\xff"), ("f", Function(b"xy")), ("$x", -0.0)])
    value["self"] = value
    assert structure(source, value) == {
        "$entries": [
            [1, {"$number": "inf"}],
            ["b", {"$bytes": "/w=="}],
            ["f", {"$function": 2, "upvalues": {}}],
            ["$x", -0.0],
            ["self", {"$same": "value"}],
        ]
    }
    assert structure(source, {"$a": 1}) == {"$entries": [["$a", 1]]}
    source.write_bytes(FILES["views.binary.t7"])
    convert(source, source.with_suffix(".json"))
    found = json.loads(source.with_suffix(".json").read_text())
    assert found["storage"] == {"$storage": "torch.DoubleStorage", "size": 12, "number": 1}
    assert found["t"]["storage"] == 1 and found["empty"]["size"] == []


@pytest.mark.thorough
def test_json_is_not_too_deep(source: Path) -> None:
    chain: list[Any] = []
    for _ in range(5000):
        chain = [chain]
    with pytest.raises(T7Error, match="tables in each other are too many for JSON"):
        structure(source, chain)
    assert arrays(source, chain) == {}


@pytest.mark.parametrize("format", ["binary", "ascii", "b32"])
def test_other_formats(source: Path, format: Any) -> None:
    source.write_bytes(FILES["table.binary.t7"])
    convert(source, source.with_suffix(".t7"), format)
    assert source.read_bytes() == FILES[f"table.{format}.t7"]


@pytest.mark.thorough
def test_large_files_pass_through(source: Path) -> None:
    elements = np.arange(6 << 20, dtype=np.float64)
    save(source, {"x": elements, "t": elements.reshape(2, -1)[:, :5].T})
    done: list[int] = []
    tracemalloc.start()
    convert(source, source.with_suffix(".npz"), progress=done.append)
    assert tracemalloc.get_traced_memory()[1] < 20 << 20
    convert(source, source.with_name("again.t7"))
    assert tracemalloc.get_traced_memory()[1] < 20 << 20
    tracemalloc.stop()
    assert sum(done) == elements.nbytes + 80
    with np.load(source.with_suffix(".npz")) as found:
        assert (found["x"] == elements).all() and found["t"].tolist()[1] == [1, (3 << 20) + 1]
    assert source.with_name("again.t7").read_bytes() == source.read_bytes()


def test_what_fails_leaves_the_target(source: Path) -> None:
    target = source.with_suffix(".npz")
    target.write_text("old")
    source.write_bytes(b"\3\0\0\0")
    with pytest.raises(T7Error, match="read error: read 0 blocks instead of 1"):
        convert(source, target)
    with pytest.raises(FileNotFoundError):
        convert(source.with_name("none.t7"), target)
    with pytest.raises(ValueError, match="ends with one of .npz, .json, .t7"):
        convert(source, source.with_suffix(".pt"))
    assert target.read_text() == "old" and len(list(source.parent.iterdir())) == 2
    assert isinstance(load(io.BytesIO(FILES["table.binary.t7"])), Table)
