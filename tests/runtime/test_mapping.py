"""Storages over mapped files; the messages are the reference's."""

import gc
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.runtime.conftest import somebody
from th_shell.runtime.core.dtypes import BYTE, INT
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.mapping import map_file
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage

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


def test_not_writable(public: Path) -> None:
    file = public / "file"
    file.write_bytes(b"Hello World")
    file.chmod(0o444)
    message = f"^unable to open file <{file}> in read-write mode$"
    with somebody(), pytest.raises(TorchError, match=message):
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


SHARED_MEMORY = Path("/dev/shm")
needs_shared_memory = pytest.mark.skipif(
    not SHARED_MEMORY.is_dir(), reason="there is no shared memory file system"
)


@pytest.fixture
def shared_name() -> Iterator[str]:
    """A name for an object of shared memory."""
    name = f"th-test-{os.getpid()}"
    yield name
    (SHARED_MEMORY / name).unlink(missing_ok=True)


@needs_shared_memory
@pytest.mark.parametrize("slashes", ["", "/", "//"])
def test_in_shared_memory(shared_name: str, slashes: str) -> None:
    name = (slashes + shared_name).encode()
    storage = map_file(Int, name, 4, shared=True, shared_memory=True)
    storage.data[:] = 7
    assert (SHARED_MEMORY / shared_name).stat().st_size == 16


def unable(name: object) -> str:
    return f"^unable to open shared memory object <{name}> in read-write mode$"


@needs_shared_memory
@pytest.mark.parametrize("size", [0, 4])
def test_names_in_shared_memory_lead_nowhere_else(file: Path, size: int) -> None:
    for name in (os.path.relpath(file, SHARED_MEMORY), "/../x", "a/b", "", "/", ".", ".."):
        with pytest.raises(TorchError, match=unable(name)):
            map_file(Byte, name.encode(), size, shared=True, shared_memory=True)
    gc.collect()
    assert file.read_bytes() == b"Hello World"


@needs_shared_memory
def test_links_in_shared_memory_lead_nowhere_else(file: Path, shared_name: str) -> None:
    (SHARED_MEMORY / shared_name).symlink_to(file)
    with pytest.raises(TorchError, match=unable(shared_name)):
        map_file(Byte, shared_name.encode(), 4, shared=True, shared_memory=True)


def test_a_file_is_not_deleted_by_way_of_shared_memory(lua: Lua, file: Path) -> None:
    name = os.path.relpath(file, SHARED_MEMORY)
    lua(f"pcall(torch.ByteStorage, '{name}', true, 0, true) collectgarbage() collectgarbage()")
    assert file.read_bytes() == b"Hello World"


# -- what would end the process


@pytest.mark.parametrize("size", [0, 1 << 20])
def test_a_shared_file_has_room_on_its_disk(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    with path.open("wb") as opened:
        opened.truncate(1 << 20)  # all of it a hole
    storage = mapped(path, size, shared=True)
    assert path.stat().st_blocks * 512 >= storage.size == 1 << 20


@pytest.mark.parametrize("content", [b"", b"Hello World"])
def test_no_room_for_a_shared_file(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(TorchError, match=f"^unable to resize file <{file}> to the right size$"):
            mapped(file, 200_000, shared=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert file.read_bytes() == content


def test_full_disk(full: Path) -> None:
    path = full / "file"
    path.write_bytes(b"Hello World")
    for size in (0, 2 << 20):
        if not size:
            os.truncate(path, 2 << 20)  # a hole larger than the disk
        with pytest.raises(TorchError, match=f"^unable to resize file <{path}> to the right size$"):
            mapped(path, size, shared=True)
        os.truncate(path, 11)
    assert path.read_bytes() == b"Hello World"


@pytest.mark.parametrize("shared", ["true", "false"])
def test_a_mapped_file_is_not_made_empty(lua: Lua, file: Path, shared: str) -> None:
    lua(f"s = torch.ByteStorage('{file}', {shared});")
    for name in (file, file.parent / "link"):
        if not name.exists():
            name.symlink_to(file)
        assert (
            lua.error(f"torch.DiskFile('{name}', 'w')")
            == f"cannot open <{name}> in mode  w: a storage maps this file"
        )
    assert lua("print(s:string())") == "Hello World\t\n"
    lua("s = nil")
    lua(f"torch.DiskFile('{file}', 'w'):close();")
    assert file.read_bytes() == b""


def test_tensor_over_a_shared_file(lua: Lua, file: Path) -> None:
    lua(f"local x = torch.ByteTensor(torch.ByteStorage('{file}', true)):narrow(1, 7, 5):fill(33);")
    lua("collectgarbage() collectgarbage()")
    assert file.read_bytes() == b"Hello !!!!!"


def test_wrong_flag(lua: Lua) -> None:
    call = "local s = torch.CharStorage('x', 3)"
    assert lua.error(call) == "bad argument #2 to '?' (boolean expected, got userdata)"
