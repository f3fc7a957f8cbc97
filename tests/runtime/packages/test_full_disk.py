"""What packages write when there is no room: an error in plain words, and the old file is kept."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import pytest

from tests.conftest import Lua
from tests.processes import run_th

ROOM = 4096  # bytes that a file may have; Python lets a write fail that makes it longer


@contextmanager
def little_room() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python would cut the files of modules that it compiles.
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = False


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            "require('csvigo').save{{path = '{}', data = lines, verbose = false}}",
            "{}: File too large",
        ),
        *(
            (f"require('image').save('{{}}{ending}', x)", f"{{}}{ending}: File too large")
            for ending in (".png", ".jpg", ".ppm")
        ),
        ("torch.save('{}', x)", "write error: wrote 494 blocks instead of 30000"),
        ("torch.save('{}', x, 'ascii')", "write error: wrote 0 blocks instead of 30000"),
        (
            "require('gnuplot') gnuplot.svgfigure('{}') gnuplot.plot(x[1][1]) gnuplot.plotflush()",
            "cannot save to {}: File too large",
        ),
        (
            "f = require('hdf5').open('{}', 'w') print(pcall(f.write, f, 'x', x)) f:close()",
            "Error closing the HDF5 file (File too large)",
        ),
        (
            "f = require('hdf5').open('{}', 'w') f:write('few', torch.ones(2)) "
            "f:write('x', x, require('hdf5').DataSetOptions():setChunked(1, 10, 10)) f:close()",
            "Error closing the HDF5 file (File too large)",
        ),
    ],
)
def test_the_old_file_is_kept(lua: Lua, tmp_path: Path, program: str, message: str) -> None:
    lua("x, lines = torch.rand(3, 100, 100), {} for i = 1, 2000 do lines[i] = {i} end")
    path = tmp_path / "file"
    files = [path, *(path.with_suffix(ending) for ending in (".png", ".jpg", ".ppm"))]
    for file in files:
        file.write_text("old")
    with little_room():
        assert lua.error(program.format(path)) == message.format(path)
    assert {file.read_text() for file in files} == {"old"}
    assert sorted(tmp_path.iterdir()) == sorted(files)


def test_a_stream_of_csvigo_tells_when_it_is_closed(lua: Lua, tmp_path: Path) -> None:
    lua(f"f = require('csvigo').File('{tmp_path / 'file'}', 'w')")
    with little_room():
        assert lua.error("for i = 1, 3000 do f:write{i} end f:close()") == "File too large"


def test_a_new_file_of_hdf5_takes_its_place_when_it_is_closed(lua: Lua, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    lua(f"hdf5 = require('hdf5') f = hdf5.open('{path}', 'w') f:write('x', torch.ones(2))")
    assert not path.exists()
    assert lua.error(f"hdf5.open('{path}', 'r+')").endswith("(it is open)")
    lua("f:close()")
    with h5py.File(path) as file:
        assert file["x"][()].tolist() == [1, 1]
    assert lua.error(f"hdf5.open('{path}', 'w-')").endswith("(File exists)")
    lua(f"f = hdf5.open('{path}', 'r+') f:write('y', torch.ones(1))")
    with little_room():
        error = lua.error("f:write('z', torch.ones(1000))")
        assert error.startswith("Error writing data z") and error.endswith(" (File too large)")
        assert lua.error("f:close()") == "Error closing the HDF5 file (File too large)"


def test_a_log_tells_once_and_the_program_goes_on(tmp_path: Path) -> None:
    source = (
        "torch.CmdLine():log('/dev/full') for i = 1, 3 do print(i) end "
        "print(pcall(torch.CmdLine().log, torch.CmdLine(), 'none/x.log'))"
    )
    done = run_th("-e", source, cwd=tmp_path)
    assert done.stdout.endswith("1\t\n2\t\n3\t\nfalse\tnone/x.log: No such file or directory\t\n")
    assert done.stderr == "th: the log is not complete: No space left on device\n"


@pytest.mark.thorough
def test_what_is_left_open_is_told(tmp_path: Path) -> None:
    done = run_th("-e", "f = torch.DiskFile('/dev/full', 'w') f:writeInt(1) os.exit(3)")
    assert (done.returncode, done.stderr) == (3, "th: /dev/full: No space left on device\n")
    done = run_th("-e", "torch.DiskFile('/dev/full', 'w'):writeInt(1) collectgarbage()")
    assert (done.returncode, done.stderr) == (0, "th: /dev/full: No space left on device\n")


@pytest.mark.thorough
def test_figures_that_wait_are_drawn_at_os_exit(tmp_path: Path) -> None:
    source = "require('gnuplot') gnuplot.pngfigure('x.png') gnuplot.plot(torch.ones(2)) os.exit(0)"
    assert run_th("-e", source, cwd=tmp_path).returncode == 0
    assert (tmp_path / "x.png").read_bytes()[1:4] == b"PNG"
