"""load and save against the files of the real Torch7, and against what the Lua engine reads."""

import copy
import io
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import Lua
from tests.runtime.io.torch7_files import FILES, mode_of
from th_shell.runtime import Function, T7Error, Table, TorchObject, load, save
from th_shell.runtime.core.dtypes import DOUBLE, DTYPES
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.memory import Memory, not_enough
from th_shell.runtime.core.storage import STORAGE_CLASSES
from th_shell.runtime.t7.tensors import storage_of
from th_shell.runtime.t7.values import TdsVec
from th_shell.torch.ops.interchange import share_array
from th_shell.torch.tensors.tensor import wrap

SHARED = Path(__file__).parents[4] / "shared" / "t7"


def loaded(data: bytes, **how: Any) -> Any:
    return load(io.BytesIO(data), **how)


def saved(value: Any, format: Any = "binary") -> bytes:
    file = io.BytesIO()
    save(file, value, format)
    return file.getvalue()


def weighted(file: Any) -> Any:
    """Reads the contents of the class fixture.Weighted, which has a format of its own."""
    return {"position": file.read_object(), "weight": file.read_double()}


READERS = {"fixture.Weighted": weighted}
PLAIN = [name for name in FILES if not name.startswith("objects")]


@pytest.mark.parametrize("name", PLAIN)
def test_a_file_comes_back_byte_for_byte(name: str) -> None:
    assert saved(loaded(FILES[name]), mode_of(name)) == FILES[name]


@pytest.mark.parametrize("name", PLAIN)
def test_a_path_and_a_given_format(name: str, tmp_path: Path) -> None:
    path, again = tmp_path / "file.t7", tmp_path / "again.t7"
    path.write_bytes(FILES[name])
    mode: Any = mode_of(name)
    save(again, load(path, mode), mode)
    assert again.read_bytes() == FILES[name]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder with files of Torch7 is not here")
def test_all_files_of_the_reference() -> None:
    paths = sorted(SHARED.glob("*.t7"))
    for path in paths:
        value = load(path, readers=READERS)
        if not path.name.startswith("objects"):
            assert saved(value, mode_of(path.name)) == path.read_bytes(), path
    assert paths


@pytest.mark.parametrize("mode", ["binary", "b32", "ascii"])
def test_views_share_their_storage(mode: str) -> None:
    o = loaded(FILES[f"views.{mode}.t7"])
    assert o["t"].array.tolist() == o["base"].array.T.tolist()
    o["column"].array[1] = 99
    assert o["base"].array[1, 2] == 99 and o["row"].array[2] == 99
    assert o["again"] is o["base"] and o["base"].storage_object is storage_of(o["storage"])
    assert o["empty"].array.shape == (0,)


@pytest.mark.parametrize("mode", ["binary", "b32", "ascii"])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_all_element_types(dtype: Any, mode: str) -> None:
    o = loaded(FILES[f"types.{mode}.t7"])
    assert o[dtype.name].array.dtype == dtype.numpy
    assert o[dtype.name].array.tolist() == [1, 2, 3, 4]
    assert isinstance(storage_of(o[f"{dtype.name}Storage"]), STORAGE_CLASSES[dtype.index])


@pytest.mark.parametrize("mode", ["binary", "b32", "ascii"])
def test_a_table(mode: str) -> None:
    o = loaded(FILES[f"table.{mode}.t7"])
    assert [o[n] for n in range(1, 8)] == [1, 2.5, -1e300, math.inf, True, False, 'b\0in\n"ary']
    assert type(o[1]) is int and o[True] == "yes" and o[0.5] == "half" and o["self"] is o
    assert o["list"].to_list()[1][1] is o and len(o["list"][1]) == 0


def test_objects_and_what_they_hold() -> None:
    o = loaded(FILES["objects.t7"], readers=READERS)
    point = o[1]
    assert isinstance(point, TorchObject) and point.torch_typename == "fixture.Point"
    assert point is o[2] and point.x.array.tolist() == [3, 2] and point["x"] is point.x
    assert o[3]["weight"] == 0.5 and o[3]["position"].array.tolist() == [4, 3]
    assert repr(point) == "fixture.Point(x=<torch.float64 2>)"
    with pytest.raises(AttributeError, match="fixture.Point has no field 'y'"):
        point.y  # noqa: B018


@pytest.mark.parametrize("mode", ["", ".ascii"])
def test_a_class_with_a_format_of_its_own(mode: str) -> None:
    text = "Cannot load object class <fixture.Weighted>: it has no fields, but a format of its own"
    with pytest.raises(T7Error, match=text):
        loaded(FILES[f"objects{mode}.t7"])


HEADS = [("nn.GPU", 1, 73), ("nn.DataParallelTable", 3, 8), ("nn.DataParallelTable", 1, 0)]


@pytest.mark.parametrize(("name", "version", "length"), HEADS)
def test_classes_with_a_value_before_their_fields(name: str, version: int, length: int) -> None:
    """length: of that value, of which a table that occurs again is a number."""
    fields = {"_type": "torch.FloatTensor", "device": 2, "gpuAssignments": [1, 2]}
    data = saved([TorchObject(name, fields, version), "behind"])
    module, behind = loaded(data).to_list()
    assert (module.torch_typename, module.device, behind) == (name, 2, "behind")
    assert saved(loaded(data)) == data
    plain = saved([TorchObject("a" * len(name), fields, version), "behind"])
    assert len(data) - len(plain) == length


@pytest.mark.parametrize("mode", ["binary", "ascii"])
def test_hashes_and_vectors_of_tds(lua: Lua, tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a.t7"
    lua(f"""
        local tds = require 'tds'
        h = tds.Hash{{a = 1, [2] = 'x', v = tds.Vec{{1, 'b', tds.Hash{{[1] = true}}}}}}
        torch.save('{path}', {{h, h, tds.Hash(), tds.Vec(), tds.Vec{{{{7}}}}}}, '{mode}')
    """)
    found = load(path)
    assert found[1] is found[2] and [item.torch_typename for item in found.values()] == [
        *["tds.Hash"] * 3,
        *["tds.Vec"] * 2,
    ]
    assert found.to_python()[1:] == [
        {"a": 1, 2: "x", "v": [1, "b", {1: True}]},
        {},
        [],
        [[7]],
    ]
    assert copy.deepcopy(found).to_python() == found.to_python()
    assert saved(found, mode) == path.read_bytes()


def test_what_of_tds_is_refused(lua: Lua, tmp_path: Path) -> None:
    path = tmp_path / "a.t7"
    for made, message in [
        ("v = tds.Vec() v[2] = 1", "a tds.Vec with places that have no value cannot be read here"),
        ("v = tds.AtomicCounter(5)", "Cannot load object class <tds.AtomicCounter>: it has no "),
    ]:
        lua(f"tds = require 'tds' {made} torch.save('{path}', {{v}})")
        with pytest.raises(T7Error, match=re.escape(message)):
            load(path)
    vec = TdsVec.of([1, 2])
    del vec[1]
    with pytest.raises(T7Error, match="^the keys of a tds.Vec are 1, 2, ...$"):
        saved(vec)


@pytest.mark.parametrize("value", [(), (1, 2)])
def test_each_place_of_a_tuple_has_a_table_of_its_own(value: tuple[int, ...]) -> None:
    found = loaded(saved([value, value, [value, 1]]))
    assert len({id(each) for each in (found[1], found[2], found[3][1])}) == 3
    holder: list[Any] = []
    holder.append((holder,))
    assert (again := loaded(saved(holder)))[1][1] is again


def test_functions_stay_as_they_are() -> None:
    function = loaded(FILES["function.t7"])["f"]
    assert isinstance(function, Function) and function.bytecode.startswith(b"\x1bLJ")
    assert function.upvalues[1]["value"] == 3 and repr(function) == "<function of 50 bytes>"


OLD = (
    b"\3\0\0\0\1\0\0\0\2\0\0\0"
    b"\1\0\0\0" + np.float64(1).tobytes() + b"\6\0\0\0\2\0\0\0ab\3\0\0\0\2\0\0\0\0\0\0\0"
    b"\1\0\0\0" + np.float64(2).tobytes() + b"\4\0\0\0\3\0\0\0\1\0\0\0A\3\0\0\0\4\0\0\0\0\0\0\0"
)


def test_old_forms() -> None:
    """Functions without a number, and classes without a version."""
    o = loaded(OLD)
    assert o[1].kind == 6 and o[1].bytecode == b"ab" and o[2].version == 0
    assert saved(o) == OLD


def test_the_other_byte_order() -> None:
    big = b"\0\0\0\3\0\0\0\1\0\0\0\1\0\0\0\2\0\0\0\1a\0\0\0\4\0\0\0\2\0\0\0\3V 1\0\0\0\x11"
    big += b"torch.LongStorage" + np.array([2, 5, -6], ">i8").tobytes()
    assert storage_of(loaded(big)["a"]).data.tolist() == [5, -6]


def test_tensors_of_a_gpu() -> None:
    of_cpu = saved(share_array(np.ones(2, np.float32)))
    name = b"\x12\0\0\0torch.FloatTensor"[4:]
    assert name in of_cpu
    of_gpu = of_cpu.replace(b"\x11\0\0\0torch.Float", b"\x10\0\0\0torch.Cuda")
    of_gpu = of_gpu.replace(b"\x12\0\0\0torch.Float", b"\x11\0\0\0torch.Cuda")
    assert b"torch.CudaStorage" in of_gpu and saved(loaded(of_gpu)) == of_cpu


def test_what_lua_reads_and_writes(lua: Lua, tmp_path: Path) -> None:
    value = Table(
        [
            ("list", [1, 2.5, "é", b"\xff\0", True, -0.0, None]),
            ("x", np.arange(6, dtype=np.int16).reshape(2, 3)),
            ("n", np.float32(0.5)),
            (True, "yes"),
            (1, "one"),
        ]
    )
    value["self"] = value
    for format in ("binary", "ascii"):
        save(tmp_path / "py", value, format)  # type: ignore[arg-type]
        lua.run(f"""
            o = torch.load('{tmp_path}/py', '{format}')
            assert(o.self == o and o.n == 0.5 and o[1] == 'one' and o[true] == 'yes')
            assert(#o.list == 6 and o.list[3] == 'é' and o.list[4] == '\\255\\0')
            assert(1 / o.list[6] == -math.huge and torch.type(o.x) == 'torch.ShortTensor')
            assert(o.x[2][3] == 5 and o.x:dim() == 2)
            torch.save('{tmp_path}/lua', o, '{format}')
        """)
        o = load(tmp_path / "lua")
        assert (
            o["self"] is o
            and o[True] == "yes"
            and o["list"][4] == b"\xff\0"
            and o["x"].array[1, 2] == 5
        )


def test_numbers_keep_what_they_are() -> None:
    numbers = [0, -0.0, 1, -1.5, 2**53, 2.0**60, math.inf, -math.inf, 5e-324]
    for format in ("binary", "ascii"):
        again = loaded(saved(numbers, format)).to_list()
        assert [(type(n), str(n)) for n in again] == [(type(n), str(n)) for n in numbers]
    assert math.isnan(loaded(saved(math.nan)))


@pytest.mark.thorough
def test_depth_is_not_bounded() -> None:
    chain: list[Any] = []
    for _ in range(30_000):
        chain = [chain]
    value, depth = loaded(saved(chain)), 0
    while len(value):
        value, depth = value[1], depth + 1
    assert depth == 30_000


@pytest.mark.thorough
def test_large_files_are_read_when_they_are_used(tmp_path: Path) -> None:
    path = tmp_path / "large.t7"
    elements = np.arange(5 << 20, dtype=np.float64)
    save(path, {"x": share_array(elements), "y": share_array(elements[:10])})
    o = load(path)
    x = o["x"]
    assert x.shape == (5 << 20,) and x.storage_object.is_unread
    assert not o["y"].storage_object.is_unread
    path.unlink()  # it stays open
    assert (x.array == elements).all() and not x.storage_object.is_unread
    save(path, o)
    o = load(path)
    with open(path, "r+b") as file:
        file.write(b"\3")
        os.utime(path, ns=(1, 1))
    with pytest.raises(Exception, match="was changed while elements of its tensors were still in"):
        o["x"].array  # noqa: B018
    assert not load(path, lazy=False)["x"].storage_object.is_unread


def test_saving_replaces_a_file_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "file.t7"
    save(path, "old")
    for value in (object(), 2**53 + 1, 1j, {None: 1}, {float("nan"): 1}, {"a": 1, b"a": 2}):
        with pytest.raises((T7Error, TypeError)):
            save(path, [np.ones(100_000), value])
    assert load(path) == "old" and [p.name for p in tmp_path.iterdir()] == ["file.t7"]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (object(), T7Error, "Unwritable object <object>"),
        (2**53 + 1, T7Error, "9007199254740993 is no number of Lua: whole numbers are exact up"),
        (1j, T7Error, "Unwritable object <complex>"),
        (np.ones(1, np.uint16), TypeError, "Torch7 has no tensors of numpy.uint16"),
        ({"a": 1, b"a": 2}, T7Error, "two keys of a dict are one in Lua"),
        ({None: 1}, T7Error, "table index is nil"),
    ],
)
def test_what_cannot_be_saved(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        saved(value)
    assert message in str(raised.value)


TENSOR = saved(share_array(np.ones((2, 3))))
#: A tensor that has one element over and over, more often than a number of Lua's can tell.
HUGE = TENSOR.replace(np.array([2, 3, 3]).tobytes(), np.array([2**63 - 1, 3, 0]).tobytes())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "read error: read 0 blocks instead of 1 (file, at byte 0)"),
        (b"\3\0\0\0", "read error: read 0 blocks instead of 1 (file, at byte 4)"),
        (b"\x63\0\0\0", "unknown object (file, at byte 4)"),
        (b"\2\0\0\0\xff\xff\xff\xff", "$ Torch: invalid memory size -- maybe an overflow?"),
        (b"\2\0\0\0\xff\xff\xff\x7fab", "read error: read 2 blocks instead of 2147483647"),
        (b"\3\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0", "table index is nil (file, at byte 16)"),
        (TENSOR[:-1], "read error: read 5 blocks instead of 6"),
        (
            TENSOR.replace(b"\2\0\0\0\0\0\0\0\3", b"\2\0\0\0\0\0\0\0\4"),
            "a tensor that does not fit",
        ),
        (TENSOR.replace(b"\6\0\0\0\0\0\0\0", b"\6\0\0\0\0\0\0\x70"), "read 6 blocks instead of"),
        (TENSOR.replace(b"\3\0\0\0\0\0\0\0\1", b"\0\0\0\0\0\0\0\x7f\1"), "does not fit"),
        (HUGE, "a tensor that does not fit"),
        (b"3\n1\n1\n0\n", "table index is nil (file, at byte 8)"),
        (b"2\n-5\n", "$ Torch: invalid memory size"),
        (b"2\nx\n", "read error: read 0 blocks instead of 1 (file, at byte 2)"),
    ],
)
def test_damaged_files(data: bytes, message: str) -> None:
    with pytest.raises(T7Error) as raised:
        loaded(data)
    assert message in str(raised.value)


def test_damaged_sizes_in_lua(lua: Lua) -> None:
    text = "".join(f"\\{byte:03}" for byte in HUGE)
    assert "a tensor that does not fit" in lua.error(f"torch.deserialize('{text}')")


def of_storage(dtype: Any, count: int, mode: str, elements: bytes = b"") -> bytes:
    """A file with a storage of so many elements."""
    name = dtype.storage_name.encode()
    if mode == "ascii":
        return b"4\n1\n3\nV 1\n%d\n%b\n%d\n%b\n" % (len(name), name, count, elements)
    start = np.array([4, 1, 3], "<i4").tobytes() + b"V 1"
    return start + bytes([len(name), 0, 0, 0]) + name + np.int64(count).tobytes() + elements


@pytest.mark.parametrize("power", [31, 32, 33, 34, 40, 62])
@pytest.mark.parametrize("rest", [0, 8, 64])
def test_counts_that_no_file_has(lua: Lua, tmp_path: Path, power: int, rest: int) -> None:
    (tmp_path / "x.t7").write_bytes(of_storage(DOUBLE, 2**power, "binary", bytes(rest)))
    text = f"read error: read {rest // 8} blocks instead of {2**power}"
    with pytest.raises(T7Error) as raised:
        load(tmp_path / "x.t7")
    where = f"({tmp_path}/x.t7, at byte 46)"
    assert str(raised.value) == f"{text} {where}: the file is incomplete, or was damaged"
    assert lua.error(f"torch.load('{tmp_path}/x.t7')") == text


ODD_NUMBERS = """3000000000 -3000000000 4294967297 1e39 -1e39 1e400 65519 65520 70000 -70000 32768
    99999999999999999999999999999999 9223372036854775808 -9223372036854775809 nan -nan inf -inf
    0x7fffffffff 0x1p200 1e-400 -0 1e-50""".split()


@pytest.mark.parametrize("dtype", DTYPES[2:], ids=lambda dtype: dtype.name)
def test_numbers_in_text_are_those_that_lua_reads(lua: Lua, tmp_path: Path, dtype: Any) -> None:
    words = [word for word in ODD_NUMBERS if dtype.is_float or word.lstrip("-").isdigit()]
    for group in [[word] for word in words] + [words]:
        elements = " ".join(group).encode()
        (tmp_path / "x.t7").write_bytes(of_storage(dtype, len(group), "ascii", elements))
        lua.run(f"x = torch.load('{tmp_path}/x.t7', 'ascii') torch.save('{tmp_path}/y.t7', x)")
        ours, of_lua = load(tmp_path / "x.t7"), load(tmp_path / "y.t7")
        assert saved(ours) == saved(of_lua), (group, ours, of_lua)


def test_ints_in_text_wrap() -> None:
    assert loaded(b"4294967297\n2.5\n", format="ascii") == 2.5


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.t7")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        save(tmp_path / "none" / "x.t7", 1)
    with pytest.raises(ValueError, match="a format is 'binary', 'b32', 'b64' or 'ascii', not 'x'"):
        save(tmp_path / "x", 1, "x")  # type: ignore[arg-type]


def test_a_pipe(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.write(write, FILES["table.binary.t7"])
    os.close(write)
    assert load(f"/dev/fd/{read}")["name"] == "node"
    os.close(read)


def test_empty_tensors_and_the_size_of_longs() -> None:
    empty = wrap(np.empty(0))
    for value in (empty, [empty, 1], [1, empty], {"a": [empty, wrap(np.empty(0))], "b": 2}):
        for format in ("binary", "b32", "ascii"):
            data = saved(value, format)
            assert saved(loaded(data), format) == data
    assert isinstance(Table.of([1]), Table)


def test_views_that_are_saved_share_their_storage() -> None:
    x = share_array(np.arange(12.0).reshape(3, 4))
    base, transposed, row, storage = loaded(saved([x, x.t(), x[1], x.storage_object])).to_list()
    transposed.numpy()[2, 1] = 50
    assert base.numpy()[1, 2] == 50 and row.numpy()[2] == 50 and storage[6] == 50
    assert transposed.strides == (1, 4) and row.offset == 4


def test_a_tensor_without_dimensions_has_one_in_torch7() -> None:
    assert loaded(saved(share_array(np.array(5.0)))).tolist() == [5]
    assert loaded(saved(share_array(np.array([True, False])))).tolist() == [1, 0]


def test_files_that_do_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise TorchError(not_enough(1 << 40))

    data = saved(np.ones(3))
    monkeypatch.setattr(Memory, "allocate", fail)
    with pytest.raises(MemoryError, match="not enough memory: you tried to allocate 1024GB"):
        loaded(data)
