"""Storages over mapped files; the messages are the reference's."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from runtime.dtypes import BYTE, INT
from runtime.errors import TorchError
from runtime.mapping import map_file
from runtime.storage import STORAGE_CLASSES, Storage
from tests.conftest import Lua

Byte, Int = STORAGE_CLASSES[BYTE.index], STORAGE_CLASSES[INT.index]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of eleven bytes."""
    path = tmp_path / "file"
    path.write_bytes(b"Hello World")
    return path


def mapped(path: Path, size: int = 0, shared: bool = False, cls: type[Storage] = Byte) -> Storage:
    return map_file(cls, bytes(path), size, shared=shared, shared_memory=False)


def test_private_changes_stay_private(file: Path) -> None:
    storage = mapped(file)
    storage.data[0] = ord("J")
    assert (storage.data.tobytes(), file.read_bytes()) == (b"Jello World", b"Hello World")


def test_shared_changes_reach_the_file(file: Path) -> None:
    mapped(file, shared=True).data[0] = ord("J")
    assert file.read_bytes() == b"Jello World"


def test_two_shared_mappings_see_each_other(file: Path) -> None:
    one, other = mapped(file, shared=True), mapped(file, shared=True)
    one.data[0] = ord("J")
    assert other.data[0] == ord("J")


def test_shared_file_is_extended(file: Path) -> None:
    storage = mapped(file, 20, shared=True)
    assert (storage.size, file.stat().st_size) == (20, 20)
    assert storage.data.tobytes() == b"Hello World" + bytes(9)


def test_shared_file_is_created(tmp_path: Path) -> None:
    path = tmp_path / "new"
    mapped(path, 3, shared=True, cls=Int).data[:] = 1
    assert path.stat().st_size == 12
    assert mapped(path, cls=Int).data.tolist() == [1, 1, 1]


def test_part_of_a_file(file: Path) -> None:
    assert mapped(file, 5).data.tobytes() == b"Hello"


def test_elements_that_the_file_holds_whole(file: Path) -> None:
    assert mapped(file, cls=Int).size == 2


def test_no_element_fits(tmp_path: Path) -> None:
    path = tmp_path / "short"
    path.write_bytes(b"123")
    assert mapped(path, cls=Int).size == 0


def test_mapping_outlives_the_file_and_views_the_mapping(file: Path) -> None:
    view = Byte.view_of(mapped(file), 6, 5)
    file.unlink()
    gc.collect()
    assert view.data.tobytes() == b"World"


@pytest.mark.parametrize("shared", [False, True])
def test_cannot_be_resized(file: Path, shared: bool) -> None:
    with pytest.raises(TorchError, match="^Trying to resize storage that is not resizable$"):
        mapped(file, shared=shared).resize(3)


def test_missing(tmp_path: Path) -> None:
    path = tmp_path / "missing"
    with pytest.raises(TorchError, match=f"^unable to open file <{path}> in read-only mode$"):
        mapped(path)
    assert not path.exists()


def test_missing_folder(tmp_path: Path) -> None:
    path = tmp_path / "no" / "file"
    with pytest.raises(TorchError, match=f"^unable to open file <{path}> in read-write mode$"):
        mapped(path, 4, shared=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_not_writable(file: Path) -> None:
    file.chmod(0o400)
    with pytest.raises(TorchError, match=f"^unable to open file <{file}> in read-write mode$"):
        mapped(file, shared=True)


def test_too_short(file: Path) -> None:
    message = f"^file <{file}> size is smaller than the required mapping size <12>$"
    with pytest.raises(TorchError, match=message):
        mapped(file, 3, cls=Int)
    assert file.read_bytes() == b"Hello World"


@pytest.mark.parametrize(("content", "size"), [(b"", 0), (b"abc", -1)])
@pytest.mark.parametrize("shared", [False, True])
def test_nothing_to_map(tmp_path: Path, content: bytes, size: int, shared: bool) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    message = r"^\$ Torch: unable to mmap memory: you tried to mmap 0GB\.$"
    with pytest.raises(TorchError, match=message):
        mapped(path, size, shared=shared)
    assert path.read_bytes() == content


def test_in_shared_memory() -> None:
    name = f"th-test-{os.getpid()}".encode()
    path = Path("/dev/shm") / name.decode()
    if not path.parent.is_dir():
        pytest.skip("there is no shared memory file system")
    try:
        storage = map_file(Int, name, 4, shared=True, shared_memory=True)
        storage.data[:] = 7
        assert path.stat().st_size == 16
    finally:
        path.unlink(missing_ok=True)


def test_tensor_over_a_shared_file(lua: Lua, file: Path) -> None:
    lua(f"local x = torch.ByteTensor(torch.ByteStorage('{file}', true)):narrow(1, 7, 5):fill(33);")
    lua("collectgarbage() collectgarbage()")
    assert file.read_bytes() == b"Hello !!!!!"


def test_wrong_flag(lua: Lua) -> None:
    call = "local s = torch.CharStorage('x', 3)"
    assert lua.error(call) == "bad argument #2 to '?' (boolean expected, got userdata)"
