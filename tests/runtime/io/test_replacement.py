"""Saving replaces a file as a whole: whatever happens, one good file has the name."""

import errno
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Lua
from tests.runtime.conftest import somebody
from th_shell.runtime.io.replacement import Replacement

ONLY_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can do that")

RESAVE = """
local x = torch.ones(200000)
torch.save(arg[1], x)
print('saved') io.stdout:flush()
while true do torch.save(arg[1], x) end
"""


def replace(path: Path, content: bytes) -> None:
    new = Replacement(bytes(path))
    try:
        os.write(new.descriptor, content)
        new.commit()
    finally:
        new.abandon()
        os.close(new.descriptor)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A good file, alone in its folder."""
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    path.write_bytes(b"good")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        replace(tmp_path / "file", b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "file").read_bytes() == b"new"
    assert (tmp_path / "file").stat().st_mode & 0o7777 == 0o666 & ~umask
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o777, 0o606])
def test_an_old_file_leaves_its_mode(file: Path, mode: int) -> None:
    file.chmod(mode)
    replace(file, b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o7777) == (b"new", mode)
    assert names(file.parent) == ["file"]


def test_a_private_file_is_never_public_in_the_making(file: Path) -> None:
    file.chmod(0o600)
    new = Replacement(bytes(file))
    assert os.fstat(new.descriptor).st_mode & 0o777 == 0o600
    new.abandon()
    os.close(new.descriptor)


@ONLY_ROOT
def test_an_old_file_leaves_its_owner(file: Path) -> None:
    os.chown(file, 1234, 1235)
    replace(file, b"new")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 1235)


def test_a_program_that_may_not_set_permissions(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "fchmod", refuse)
    file.chmod(0o640)
    before = file.stat().st_ino
    replace(file, b"new")
    assert (file.read_bytes(), file.stat().st_ino) == (b"new", before)
    assert file.stat().st_mode & 0o777 == 0o640
    assert os.listdir(file.parent) == [file.name]


def test_attributes_stay(file: Path) -> None:
    try:
        os.setxattr(file, "user.note", b"mine")
    except OSError:
        pytest.skip("no attributes on this file system")
    replace(file, b"new")
    assert os.getxattr(file, "user.note") == b"mine"


def test_interrupted_while_written_in_place(others: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, calls = os.pwrite, []

    def interrupted(*args: Any) -> int:
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return write(*args)

    monkeypatch.setattr(os, "pwrite", interrupted)
    content = os.urandom(3_000_000)
    with somebody(), pytest.raises(KeyboardInterrupt):
        replace(others, content)
    assert others.read_bytes() == content


def test_links_stay_and_lead_to_the_new_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("folder/file")
    replace(tmp_path / "one", b"new")
    assert (tmp_path / "one").is_symlink() and (tmp_path / "two").is_symlink()
    assert file.read_bytes() == b"new"
    assert names(file.parent) == ["file"]


def test_a_link_to_nothing_gets_its_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/file")
    replace(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").read_bytes() == b"new"


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(OSError):
        replace(tmp_path / "one", b"new")
    assert (tmp_path / "one").is_symlink() and (tmp_path / "two").is_symlink()


def test_the_longest_name(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    replace(path, b"new")
    replace(path, b"newer")
    assert path.read_bytes() == b"newer"


@pytest.mark.parametrize("name", ["", "folder", "folder/", "file/", "none/file"])
def test_what_is_no_name_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        Replacement(name.encode())
    assert names(tmp_path) == ["folder"] and not names(tmp_path / "folder")


def test_abandoned(file: Path) -> None:
    new = Replacement(bytes(file))
    os.write(new.descriptor, b"bad")
    assert len(names(file.parent)) == 2
    new.abandon()
    os.close(new.descriptor)
    assert file.read_bytes() == b"good"
    assert names(file.parent) == ["file"]


def test_a_child_leaves_its_parents_file(file: Path) -> None:
    new = Replacement(bytes(file))
    new._process += 1
    new.abandon()
    os.close(new.descriptor)
    assert len(names(file.parent)) == 2


def test_a_device_is_written(tmp_path: Path) -> None:
    replace(Path("/dev/null"), b"new")
    assert not Path("/dev/null").is_file()


def test_a_pipe_is_written(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    replace(path, b"new")
    reader.join(10)
    assert got == [b"new"]
    assert path.is_fifo()


def test_an_open_file_is_written_where_it_is(file: Path) -> None:
    with file.open("r+b") as opened:
        before = file.stat().st_ino
        replace(Path(f"/dev/fd/{opened.fileno()}"), b"new")
    assert (file.read_bytes(), file.stat().st_ino) == (b"new", before)


def test_a_mapped_file_keeps_its_bytes(lua: Lua, file: Path) -> None:
    file.write_bytes(bytes(100_000))
    lua(f"s = torch.ByteStorage('{file}', true) torch.save('{file}', 1)")
    assert lua("print(#s, s[100000], torch.load('" + str(file) + "'))") == "100000\t0\t1\t\n"


# -- where no file can lie beside the old one


@pytest.fixture
def others(public: Path) -> Path:
    """A file in a folder that its writer must not change."""
    (public / "file").write_bytes(b"good")
    (public / "file").chmod(0o666)
    public.chmod(0o555)
    return public / "file"


def test_a_folder_that_cannot_be_written(others: Path) -> None:
    with somebody():
        replace(others, b"new")
    assert others.read_bytes() == b"new"
    assert names(others.parent) == ["file"]


def test_a_shorter_file_in_a_folder_that_cannot_be_written(others: Path) -> None:
    others.write_bytes(bytes(100_000))
    with somebody():
        replace(others, b"n" * 5000)
    assert others.read_bytes() == b"n" * 5000


@ONLY_ROOT
def test_a_file_of_somebody_else_in_a_shared_folder(others: Path) -> None:
    others.parent.chmod(0o1777)
    with somebody():
        replace(others, b"new")
    assert (others.read_bytes(), others.stat().st_uid) == (b"new", 0)
    assert names(others.parent) == ["file"]


def test_a_file_that_must_not_be_written(others: Path) -> None:
    others.parent.chmod(0o777)
    others.chmod(0o444)
    with somebody(), pytest.raises(PermissionError):
        replace(others, b"new")
    assert others.read_bytes() == b"good"
    assert names(others.parent) == ["file"]


@ONLY_ROOT
def test_no_room_for_a_file_that_is_written_in_place(full: Path) -> None:
    (full / "file").write_bytes(b"good")
    (full / "file").chmod(0o666)
    full.chmod(0o555)
    with somebody(), pytest.raises(OSError, match="No space left on device"):
        replace(full / "file", bytes(2 << 20))
    assert (full / "file").read_bytes() == b"good"


# -- torch.save


def test_saving_that_fails_leaves_the_old_file(lua: Lua, file: Path) -> None:
    assert lua.error(f"torch.save('{file}', {{ torch.ones(10), io.stdout }})").startswith(
        "Unwritable object"
    )
    assert file.read_bytes() == b"good"
    assert names(file.parent) == ["file"]


@pytest.mark.thorough
def test_a_class_that_ends_the_program(file: Path) -> None:
    program = f"""
        local C = torch.class('Quits'); function C:write() os.exit(3) end
        torch.save('{file}', Quits())
    """
    command = [sys.executable, "-m", "th_shell", "-e", program]
    assert subprocess.run(command, timeout=60).returncode == 3
    assert file.read_bytes() == b"good"
    assert names(file.parent) == ["file"]


def test_a_class_that_closes_the_file(lua: Lua, file: Path) -> None:
    lua("local C = torch.class('Closes'); function C:write(f) f:close() end;")
    assert lua.error(f"torch.save('{file}', Closes())") == (
        "calling 'close' on bad self (attempt to use a closed file)"
    )
    assert file.read_bytes() == b"good"


def test_full_disk(lua: Lua, full: Path) -> None:
    path = full / "file"
    lua(f"torch.save('{path}', torch.ones(50000))")
    before = path.read_bytes()
    assert lua.error(f"torch.save('{path}', torch.ones(100000))").startswith("write error: ")
    assert path.read_bytes() == before
    assert names(full) == ["file"]


@pytest.mark.parametrize("quiet", ["", "f:quiet()"])
def test_no_more_than_a_process_may_write(lua: Lua, file: Path, quiet: str) -> None:
    name = f"Big{len(quiet)}"
    lua(
        f"local C = torch.class('{name}');"
        f" function C:write(f) {quiet} f:writeDouble(torch.DoubleStorage(5e4)) end"
    )
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        message = lua.error(f"torch.save('{file}', {name}())")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert message.startswith("write error: ")
    assert file.read_bytes() == b"good"
    assert names(file.parent) == ["file"]


@pytest.mark.thorough
def test_a_killed_process_leaves_a_good_file(lua: Lua, tmp_path: Path) -> None:
    script = tmp_path / "resave.lua"
    script.write_text(RESAVE)
    chance = random.Random(5)
    for count in range(5):
        path = tmp_path / f"file{count}"
        command = [sys.executable, "-m", "th_shell", str(script), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline() == b"saved\t\n"
            time.sleep(chance.uniform(0.001, 0.1))
            process.send_signal(signal.SIGKILL)
        assert lua(f"print(torch.load('{path}'):sum())") == "200000\t\n"
