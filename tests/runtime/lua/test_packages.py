"""What the transcripts of the packages cannot show: other processes, files, colours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_th

ROOT = Path(__file__).parents[3]


def th(*words: str, **environment: str) -> str:
    run = run_th(*words, env={**os.environ, **environment})
    return run.stdout + run.stderr


def test_temporary_files_go_with_the_program(tmp_path: Path) -> None:
    source = "n = paths.tmpname() io.open(n, 'w'):close() print(paths.filep(n), n)"
    there, name = th("-e", source, TMPDIR=str(tmp_path)).split()
    assert there == "true"
    assert Path(name).parent == tmp_path
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_print_writes_at_once_and_in_order_with_standard_error(tmp_path: Path) -> None:
    source = (
        "print(1) io.stderr:write('2\\n') print{3} io.stderr:write('4\\n') print(torch.ones(1))"
    )
    with open(tmp_path / "log", "w") as log:
        command = [sys.executable, "-m", "th_shell", "-e", f"{source} io.stderr:write('5')"]
        subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=True)
    lines = "1\t|2|{|  1 : 3|}|4| 1|[torch.DoubleTensor of dimension 1]||5"
    assert (tmp_path / "log").read_text() == lines.replace("|", "\n")


@pytest.mark.thorough
def test_a_bar_is_as_wide_as_columns_tells() -> None:
    source = "require 'xlua' xlua.progress(1, 2)"
    widths = [th("-e", source, COLUMNS=columns).find("]") for columns in ("60", "100", "200", "")]
    assert widths == [28, 68, 88, 48]


def test_the_words_before_a_script_start_another(tmp_path: Path) -> None:
    script = tmp_path / "s.lua"
    script.write_text("print(arg[0], arg[1], #arg, arg[-1] ~= nil)")
    assert th(str(script), "x", "y").split() == [str(script), "x", "2", "true"]


def test_packages_on_lua_path(tmp_path: Path) -> None:
    (tmp_path / "mine.lua").write_text("return { name = ... }")
    source = "print(require 'mine'.name, paths.basename(torch.packageLuaPath('mine')))"
    printed = th("-e", source, LUA_PATH=f"{tmp_path}/?.lua;;")
    assert printed.split() == ["mine", tmp_path.name]


def test_reports_have_colours_where_there_is_a_command_line() -> None:
    source = "t = torch.Tester() t:add(function() t:eq(1, 1) end, 'a') t:run()"
    dots = "." * 67
    start = f"\x1b[0;36m1/1 \x1b[0ma {dots} "
    assert th("-e", source) == (
        "Running 1 test\n"
        f"{start}[\x1b[0;36mWAIT\x1b[0m]\n{start}[\x1b[0;32mPASS\x1b[0m]\n"
        "Completed 1 assert in 1 test with \x1b[0;32m0 failures\x1b[0m and "
        "\x1b[0;32m0 errors\x1b[0m\n"
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("words", "printed", "status"), data(__file__, "test_a_wrong_command_line_ends_the_script")
)
def test_a_wrong_command_line_ends_the_script(
    tmp_path: Path, words: list[str], printed: str, status: int
) -> None:
    script = tmp_path / "s.lua"
    script.write_text(
        "local c = torch.CmdLine() c:argument('-in', 'file') c:option('-n', 1, 'num') c:parse(arg)"
    )
    command = [sys.executable, "-m", "th_shell", str(script), *words]
    run = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    output = run.stdout.replace(str(script), "SCRIPT").replace("\t\n", "\n")
    assert output.startswith(printed)
    assert run.returncode == status


def test_shared_memory_goes_with_its_storage(lua: Lua) -> None:
    name = f"th-test-{os.getpid()}"
    path = Path("/dev/shm") / name
    if not path.parent.is_dir():
        pytest.skip("no shared memory here")
    lua(f"shared = torch.FloatStorage('{name}', true, 10, true);")
    assert path.stat().st_size == 40
    lua("shared = nil; collectgarbage(); collectgarbage();")
    assert not path.exists()


def test_object_at_an_address(lua: Lua) -> None:
    source = """
        local x = torch.Tensor{ 1, 2 }
        local y = torch.pushudata(torch.pointer(x), 'torch.DoubleTensor')
        y[1] = 7
        return x[1], torch.pushudata(x:cdata(), 'torch.DoubleTensor') == x"""
    assert lua.answer(source) == "7\ttrue\t\n"
    assert lua.error("torch.pushudata(12345, 'torch.DoubleTensor')") == (
        "no torch.DoubleTensor lives at this address"
    )


def test_ids_of_classes(lua: Lua) -> None:
    source = """
        local x, id = torch.Tensor(), torch.typename2id('torch.DoubleTensor')
        return id == torch.id(x), id == torch.id(torch.FloatTensor()), type(id),
          torch.typename2id('nosuch'), torch.id(1)"""
    assert lua.answer(source) == "true\tfalse\tuserdata\tnil\tnil\t\n"


def test_halves_subtract_and_scale(lua: Lua) -> None:
    source = """
        local a, b = torch.Tensor{ 1, 2 }:half(), torch.Tensor{ 3, 5 }:half()
        return (b - a):double():sum(), a:add(2, b):double():sum()"""
    assert lua.answer(source) == "5\t19\t\n"


@pytest.mark.thorough
def test_the_installation_tests_itself(lua: Lua) -> None:
    printed = lua("return torch.test():run()")
    assert "Completed 13 asserts in 5 tests with 0 failures and 0 errors" in printed


def test_lfs_where_there_is_none(lua: Lua, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    source = f"""
        local lfs = require 'lfs'
        local d = {str(tmp_path)!r}
        local a = lfs.attributes(d .. '/f')
        print(a.mode, a.size, lfs.attributes(d, 'mode'))
        print(lfs.mkdir(d .. '/g'), select(3, lfs.mkdir(d .. '/g')))
        local names = {{}}
        for name in lfs.dir(d) do names[#names + 1] = name end
        table.sort(names)
        print(table.concat(names, ' '))
        print(lfs.rmdir(d .. '/g'), (select(2, lfs.attributes(d .. '/no'))))
        local here = lfs.currentdir()
        print(lfs.chdir(d), lfs.currentdir() == d, lfs.chdir(here))"""
    assert lua.answer(source).splitlines() == [
        "file\t5\tdirectory\t",
        "true\t17\t",
        ". .. f g\t",
        f"true\tcannot obtain information from file '{tmp_path}/no': No such file or directory\t",
        "true\ttrue\ttrue\t",
    ]


@pytest.mark.parametrize(
    ("call", "outcome"), data(__file__, "test_lfs_has_the_words_of_the_original")
)
def test_lfs_has_the_words_of_the_original(
    lua: Lua, tmp_path: Path, call: str, outcome: str
) -> None:
    name, _, rest = call.partition("(")
    arguments = rest[:-1]
    source = f"""
        local lfs = require 'lfs'
        local f = io.open({str(tmp_path / "f")!r}, 'w')
        local closed = io.open({str(tmp_path / "g")!r}, 'w')
        closed:close()
        print(pcall(lfs.{name}{arguments and ", " + arguments}))
        f:close()"""
    assert lua(source) == outcome + "\t\n"


def test_lfs_walks_folders(lua: Lua, tmp_path: Path) -> None:
    source = f"""
        local lfs, folder = require 'lfs', {str(tmp_path)!r}
        print(_G.lfs == lfs)
        local step, names = lfs.dir(folder)
        print(step(names), names:next(), names:next())
        print(pcall(step, names))
        print(pcall(step, 3))"""
    assert lua.run(source).splitlines() == [
        "true\t",
        ".\t..\tnil\t",
        "false\tbad argument #1 to '?' (closed directory)\t",
        "false\tbad argument #1 to '?' (directory expected, got number)\t",
    ]


@pytest.mark.sample(1)
@pytest.mark.parametrize("strict", [True, False])
def test_monitored_globals(strict: bool) -> None:
    source = (
        f"monitor_G({'true' if strict else ''}) print(pcall(function() made = 1 end)) "
        "print(pcall(function() return unmade end))"
    )
    lines = th("-e", source).splitlines()
    said = ["created global variable: made @ ", "attempt to read undeclared variable: unmade @ "]
    for text in said:
        assert sum(text in line for line in lines) == 1
    assert sum(line.startswith("true") for line in lines) == (0 if strict else 2)


def test_temporary_files_are_made(lua: Lua, tmp_path: Path) -> None:
    names = lua("for i = 1, 2 do print(paths.tmpname()) print(os.tmpname()) end").split()
    assert len(set(names)) == 4
    for name in map(Path, names):
        assert (name.stat().st_mode, name.read_bytes()) == (0o100600, b"")
        name.unlink()


def test_a_folder_in_the_place_of_a_temporary_file(lua: Lua) -> None:
    lua("n = paths.tmpname()")
    assert (
        lua("print(paths.mkdir(n), paths.dirp(n), paths.rmall(n, 'yes'))") == "true\ttrue\ttrue\t\n"
    )
    lua("n = paths.tmpname() local f = io.open(n, 'w') f:write('x') f:close()")
    assert lua("print((paths.mkdir(n)), os.remove(n))") == "nil\ttrue\t\n"


@pytest.mark.parametrize("name", ["folder", "folder/", "link", "link//", "folder/inner"])
def test_removing_a_folder_stays_within_it(lua: Lua, tmp_path: Path, name: str) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "file").touch()
    (folder / "inner").mkdir(parents=True)
    (folder / "file").touch()
    (folder / "inner" / "out").symlink_to(outside)
    (folder / "inner" / "up").symlink_to("..")
    (folder / "inner" / "broken").symlink_to("nothing")
    (tmp_path / "link").symlink_to(outside)
    assert lua(f"print(paths.rmall('{tmp_path}/{name}', 'yes'))") == "true\t\n"
    assert not os.path.lexists(tmp_path / name.rstrip("/"))
    assert (outside / "deep" / "file").exists()


def test_removing_what_is_not_there(lua: Lua) -> None:
    assert lua("print(paths.rmall('/nothing', 'yes'))") == (
        "nil\tnot a file or directory\t/nothing\t\n"
    )


def test_removing_a_folder_that_is_named_by_way_of_a_link(lua: Lua, tmp_path: Path) -> None:
    for folder in (tmp_path / "here", tmp_path / "there" / "here"):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    (tmp_path / "there" / "deep").mkdir()
    (tmp_path / "link").symlink_to("there/deep")
    assert lua(f"print(paths.rmall('{tmp_path}/link/../here', 'yes'))") == "true\t\n"
    assert (tmp_path / "here" / "file").exists()
    assert not (tmp_path / "there" / "here").exists()
