"""What goes wrong with files is said, and leaves no file open."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_th

TOP = Path(__file__).parents[3]
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")


def open_files() -> int:
    """How many files this process has open."""
    return len(os.listdir("/proc/self/fd"))


@needs_full
def test_full_disk_while_writing(lua: Lua) -> None:
    program = (
        "f = torch.DiskFile('/dev/full', 'w'):binary() f:writeDouble(torch.DoubleStorage(1e5))"
    )
    assert lua.error(program) == "write error: wrote 0 blocks instead of 100000"
    assert lua("print(f:hasError()) f:close()") == "true\t\n"


@needs_full
@pytest.mark.parametrize("call", ["synchronize", "close", "seekEnd"])
def test_full_disk_with_the_buffer(lua: Lua, call: str) -> None:
    lua("f = torch.DiskFile('/dev/full', 'w') f:writeInt(1)")
    assert lua.error(f"f:{call}()") == "write error: No space left on device"
    lua("pcall(f.close, f)")


@needs_full
def test_full_disk_without_buffer(lua: Lua) -> None:
    lua("f = torch.DiskFile('/dev/full', 'w'):noBuffer()")
    assert lua.error("f:writeInt(1)") == "write error: wrote 0 blocks instead of 1"
    lua("f:close()")


@needs_full
def test_quiet_file_on_a_full_disk(lua: Lua) -> None:
    lua("f = torch.DiskFile('/dev/full', 'w', true) f:writeInt(1) f:synchronize()")
    assert lua("print(f:hasError()) f:close()") == "true\t\n"


@needs_full
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_save_on_a_full_disk(lua: Lua, size: int) -> None:
    before = open_files()
    assert "write error: " in lua.error(f"torch.save('/dev/full', torch.Tensor({size}))")
    assert open_files() == before


@pytest.mark.parametrize("program", data(__file__, "test_no_file_stays_open"))
def test_no_file_stays_open(lua: Lua, tmp_path: Path, program: str) -> None:
    before = open_files()
    lua.error(program.format(path=tmp_path / "file"))
    assert open_files() == before


def test_errors_stand_at_the_users_line(lua: Lua) -> None:
    assert lua.answer("\n\ntorch.load('/nope')").startswith("error: lua:3: cannot open </nope> in")


def test_closed_pipe(lua: Lua) -> None:
    lua("p = torch.PipeFile('exec <&-; sleep 0', 'w') os.execute('sleep 0.2')")
    message = lua.error("p:writeDouble(torch.DoubleStorage(1e6))")
    assert re.fullmatch(r"write error: wrote \d+ blocks instead of 1000000", message)
    lua("p:close()")


def test_pipe_is_written_when_closed(lua: Lua, tmp_path: Path) -> None:
    path = tmp_path / "file"
    lua(f"p = torch.PipeFile('sleep 0.1; cat > {path}', 'w') p:writeInt(5) p:close()")
    assert path.read_text() == "5\n"


def test_pipe_that_never_ends_can_be_closed(lua: Lua) -> None:
    start = time.monotonic()
    assert lua("p = torch.PipeFile('yes') print(p:readString('*l')) p:close()") == "y\t\n"
    lua("p = torch.PipeFile('sleep 20') p:close()")
    assert time.monotonic() - start < 10


def test_pipe_to_load_from(lua: Lua, tmp_path: Path) -> None:
    path = tmp_path / "file"
    lua.run(f"""
        local x = torch.range(1, 300000)
        torch.save('{path}', {{ x, ('s'):rep(200000) }})
        local p = torch.PipeFile('cat {path}'):binary()
        local t = p:readObject()
        p:close()
        assert((t[1] - x):abs():max() == 0 and #t[2] == 200000)
    """)


def run(tmp_path: Path, source: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own."""
    script = tmp_path / "script.lua"
    script.write_text(source)
    return run_th(*words, script, timeout=120)


@pytest.mark.thorough
@pytest.mark.parametrize("end", ["", "os.exit(0)", "f = nil collectgarbage() collectgarbage()"])
def test_open_files_are_written_at_the_end(tmp_path: Path, end: str) -> None:
    path = tmp_path / "file"
    run(tmp_path, f"f = torch.DiskFile('{path}', 'w') f:writeString('kept') {end}")
    assert path.read_text() == "kept"


LOAD = "f = torch.load('{path}') print(pcall(f, 1))"


@pytest.mark.thorough
def test_functions_from_a_file_are_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "file"
    save = f"local up = 3 torch.save('{path}', function(a) return a + up end)"
    run(tmp_path, save)
    stranger = run(tmp_path, LOAD.format(path=path))
    assert stranger.stdout == (
        "false\tthis function was not loaded from its file"
        " (torch.trustfunctions(true) loads functions)\t\n"
    )
    assert stranger.stderr.count("functions in this file were not loaded") == 1
    assert len(stranger.stderr.splitlines()) == 1
    trusting = run(tmp_path, LOAD.format(path=path), "--trust-functions")
    assert (trusting.stdout, trusting.stderr) == ("true\t4\t\n", "")
    own = run(tmp_path, save + LOAD.format(path=path))
    assert (own.stdout, own.stderr) == ("true\t4\t\n", "")


@pytest.mark.thorough
def test_functions_not_loaded_are_kept_for_saving(tmp_path: Path) -> None:
    path = tmp_path / "file"
    run(
        tmp_path,
        f"""local n = 0
        torch.save('{path}', {{function() n = n + 1 end, function() return n end}})""",
    )
    run(tmp_path, f"torch.save('{path}', torch.load('{path}'))")
    again = run(
        tmp_path, f"t = torch.load('{path}') t[1]() t[1]() print(t[2]())", "--trust-functions"
    )
    assert again.stdout == "2\t\n"


def test_changed_bytecode_is_not_taken_for_our_own(lua: Lua, tmp_path: Path) -> None:
    path = tmp_path / "file"
    lua(f"torch.save('{path}', function() return 'constant' end)")
    path.write_bytes(path.read_bytes().replace(b"constant", b"c0nstant"))
    assert "was not loaded from its file" in lua.answer(f"torch.load('{path}')()")
