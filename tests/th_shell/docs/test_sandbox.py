"""The sandbox: what a page in it can reach, and what it can not."""

import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.checking import Checker
from th_shell.docs.cli import main
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.running import sandbox
from th_shell.docs.running.processes import Engine, LostError, Run, Starter, lua_engine
from th_shell.docs.running.shell_lines import ShellLine
from th_shell.docs.settings.settings import Configuration

OUTSIDE = Path(__file__)
EPERM = 1

pytestmark = pytest.mark.skipif(bool(sandbox.missing()), reason=sandbox.missing())

FFI = data(__file__, "FFI")


@pytest.fixture(scope="module")
def run(starter: Starter) -> Iterator[Run]:
    run = starter.start(Engine(sandboxed=True), 0)
    run.ask("begin", b"seed 1\n")
    run.ask("run", FFI.encode())
    yield run
    run.close()


def ask(run: Run, source: str) -> str:
    """What an input prints, or its error."""
    reply = run.ask("input", source.encode())
    return reply.error or reply.output.rstrip("\n")


@pytest.mark.parametrize("name", ["/etc/passwd", str(OUTSIDE), "/proc/1/status", "/dev/tty"])
def test_other_files_cannot_be_read(run: Run, name: str) -> None:
    assert ask(run, f"io.open('{name}')") == f"nil\t{name}: Permission denied\t13\t"


def test_the_home_folder_cannot_be_read(run: Run) -> None:
    home = os.path.expanduser("~")
    assert ask(run, f"(pcall(require('lfs').dir, '{home}'))") == "false\t"
    assert ask(run, "(pcall(require('lfs').dir, '.'))") == "true\t"


def test_other_files_cannot_be_written(run: Run, tmp_path: Path) -> None:
    kept, new = tmp_path / "kept", tmp_path / "new"
    kept.write_text("kept")
    assert ask(run, f"io.open('{new}', 'w')") == f"nil\t{new}: Permission denied\t13\t"
    assert ask(run, f"io.open('{kept}', 'a')") == f"nil\t{kept}: Permission denied\t13\t"
    assert ask(run, f"os.remove('{kept}')") == f"nil\t{kept}: Permission denied\t13\t"
    assert "denied" in ask(run, f"os.rename('{kept}', 'mine')")
    assert "denied" in ask(run, f"paths.mkdir('{new}')") or not new.exists()
    assert ask(run, f"code(ffi.C.truncate('{kept}', 0))") == f"-1\t{EPERM}\t"
    assert ask(run, f"code(ffi.C.chmod('{kept}', 511))") == f"-1\t{EPERM}\t"
    assert kept.read_text() == "kept"
    assert kept.stat().st_mode & 0o777 != 0o777
    assert os.listdir(tmp_path) == ["kept"]


def test_a_file_that_can_be_read_cannot_be_cut(run: Run) -> None:
    assert ask(run, f"code(ffi.C.open('{os.__file__}', {os.O_TRUNC}))") == f"-1\t{EPERM}\t"
    assert Path(os.__file__).stat().st_size > 0


@pytest.mark.parametrize("symbolic", ["true", "false"])
def test_links_lead_nowhere(run: Run, symbolic: str) -> None:
    ask(run, f"require('lfs').link('{OUTSIDE}', 'link-{symbolic}', {symbolic})")
    assert ask(run, f"(io.open('link-{symbolic}'))") == "nil\t"
    assert ask(run, f"(io.open('/proc/self/root{OUTSIDE}'))") == "nil\t"


def test_other_runs_cannot_be_reached(run: Run, starter: Starter) -> None:
    other = starter.start(Engine(sandboxed=True), 1)
    folder = ask(other, "io.open('mine', 'w'):close() return paths.cwd()").strip()
    assert ask(run, f"(io.open('{folder}/mine'))") == "nil\t"
    assert ask(run, f"os.remove('{folder}/mine')").startswith("nil\t")
    assert ask(other, "io.open('mine') ~= nil") == "true\t"
    other.close()


def test_its_folder_is_its_own(run: Run) -> None:
    assert ask(run, "f = io.open('a', 'w'); f:write('hello'); f:close()") == ""
    assert ask(run, "os.rename('a', 'b'), io.open('b'):read('*a')") == "true\thello\t"
    assert ask(run, "paths.mkdir('d'), os.rename('b', 'd/b'), os.remove('d/b')") == (
        "true\ttrue\ttrue\t"
    )
    assert ask(run, "for _ = 1, 2 do torch.save('t', torch.ones(3)) end return torch.load('t')[3]")
    assert ask(run, "torch.load('t'):sum()") == "3\t"
    assert ask(run, "torch.DoubleStorage('mapped', true, 10):fill(2)[10]") == "2\t"
    assert ask(run, "io.open(paths.tmpname(), 'w') ~= nil") == "true\t"
    assert ask(run, "io.open('/dev/null', 'w'):write('gone') ~= nil") == "true\t"
    assert ask(run, "f = io.open('/dev/stdout', 'a') f:write('seen') f:close()") == "seen"


def test_no_process_is_started(run: Run) -> None:
    assert ask(run, "os.execute('touch touched')") == "nil\texit\t127\t"
    assert ask(run, "(io.popen('ls'))") == "nil\t"
    assert ask(run, "(pcall(torch.PipeFile, 'ls'))") == "false\t"
    assert ask(run, "code(ffi.C.fork())") == f"-1\t{EPERM}\t"
    assert ask(run, "code(ffi.C.execl('/bin/true', 'true', nil))") == f"-1\t{EPERM}\t"
    assert ask(run, "io.open('touched')") == "nil\ttouched: No such file or directory\t2\t"


def test_nothing_else_is_reached(run: Run) -> None:
    for family in (1, 2, 10, 16):  # of the machine, IPv4, IPv6, of the kernel
        assert ask(run, f"code(ffi.C.socket({family}, 1, 0))") == f"-1\t{EPERM}\t"
    assert ask(run, "code(ffi.C.kill(ffi.C.getppid(), 0))") == f"-1\t{EPERM}\t"
    assert ask(run, "code(ffi.C.kill(-1, 0))") == f"-1\t{EPERM}\t"
    assert ask(run, "code(ffi.C.setsid())") == f"-1\t{EPERM}\t"
    assert ask(run, "ffi.C.raise(0)") == "0\t"


@pytest.mark.parametrize("call", data(__file__, "test_other_processes_and_flags_of_files"))
def test_other_processes_and_flags_of_files(run: Run, call: str) -> None:
    assert ask(run, f"code(ffi.C.{call})") == f"-1\t{EPERM}\t"


@pytest.mark.parametrize(("source", "printed"), data(__file__, "test_what_engines_need_works"))
def test_what_engines_need_works(run: Run, source: str, printed: str) -> None:
    assert ask(run, source) == printed


def test_shell_lines_keep_to_the_folder(run: Run) -> None:
    assert run.shell(ShellLine(["echo", "5"], "five")).output == ""
    assert run.shell(ShellLine(["cat", "five"])).output == "5\n"
    assert "ermission denied" in run.shell(ShellLine(["cat", str(OUTSIDE)])).output


def test_a_folder_can_be_opened(starter: Starter, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("5")
    run = starter.start(Engine(sandboxed=True, read=[str(tmp_path)]), 0)
    assert ask(run, f"io.open('{tmp_path}/data'):read('*a')") == "5\t"
    assert "denied" in ask(run, f"io.open('{tmp_path}/data', 'w')")
    run.close()


@pytest.mark.parametrize("words", [[sys.executable, "-m", "th_shell"], ["lua"], ["luajit"]])
def test_engines_that_are_commands(starter: Starter, tmp_path: Path, words: list[str]) -> None:
    if not shutil.which(words[0]):
        pytest.skip(f"there is no {words[0]}")
    engine = replace(lua_engine(words), memory=0)
    run = starter.start(Engine(engine.command, sandboxed=True), 0)
    run.ask("begin", b"seed 1\n")
    assert ask(run, "1 + 1") in ("2", "2\t")
    assert f"{OUTSIDE}: Permission denied" in ask(run, f"io.open('{OUTSIDE}')")
    assert "denied" in ask(run, f"io.open('{tmp_path}/new', 'w')")
    assert ask(run, "io.open('new', 'w') ~= nil").startswith("true")
    assert ask(run, "os.execute('touch touched') == 0").startswith("false")
    assert "No such file" in ask(run, "io.open('touched')")
    run.close()


def test_a_command_that_starts_processes_by_itself_ends(starter: Starter) -> None:
    run = starter.start(Engine(["/bin/sh", "-c", "echo $(ls)"], sandboxed=True), 0)
    with pytest.raises(LostError) as raised:
        run.ask("begin")
    assert "fork" in raised.value.output
    run.close()


@pytest.mark.thorough
def test_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```\n> (io.open('{page}'))\nnil\n> os.execute('true') == 0\nfalse\n```\n")
    assert main(["--sandbox", str(page)]) == 0
    assert main(["--sandbox", "--sandbox-read", str(tmp_path), str(page)]) == 1
    assert "FAIL" in capfd.readouterr().out


def test_a_system_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sandbox, "landlock_version", lambda: 0)
    page = tmp_path / "page.md"
    page.write_text("```\n> 1\n1\n```\n")
    lack = "this system has no Landlock (Linux from 5.13 on, where the kernel has it enabled)"
    with pytest.raises(SystemExit) as raised:
        main(["--sandbox", str(page)])
    assert raised.value.code == 2
    assert capfd.readouterr() == ("", f"th-docs: --sandbox cannot be had: {lack}\n")
    (tmp_path / "th-docs.toml").write_text("sandbox = true\n")
    assert main([str(page)]) == 1
    assert capfd.readouterr().out == (
        f"FAIL {page}: the sandbox cannot be had: {lack}\n{page}: not checked\n"
    )
    monkeypatch.setattr(sandbox, "landlock_version", lambda: 1)
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert sandbox.missing() == "this system has no seccomp filters on x86-64 or aarch64"


@pytest.mark.thorough
def test_a_run_begins_as_quickly(starter: Starter) -> None:
    def seconds(engine: Engine) -> float:
        start = time.perf_counter()
        run = starter.start(engine, 0)
        run.ask("begin", b"seed 1\n")
        took = time.perf_counter() - start
        run.close()
        return took

    pairs = [(seconds(Engine()), seconds(Engine(sandboxed=True))) for _ in range(5)]
    assert min(b for _, b in pairs) - min(a for a, _ in pairs) < 0.05


@pytest.mark.parametrize(
    ("name", "value", "found"),
    data(__file__, "test_folders_of_modules_can_be_read"),
)
def test_folders_of_modules_can_be_read(name: str, value: str, found: list[str]) -> None:
    plain = sandbox.readable_paths([], {})
    assert [
        path for path in sandbox.readable_paths([], {name: value}) if path not in plain
    ] == found


def test_modules_of_the_user_and_of_the_page_s_project_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in (
        *("data/th/lua/users.lua", "project/doc/beside.lua", "project/src/own.lua"),
        "outside/far.lua",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("return 3")
    (tmp_path / "project/lib").symlink_to(tmp_path / "outside")
    page = tmp_path / "project/doc/page.md"
    page.write_text(
        "```lua\nrequire 'users' --> 3\nrequire 'beside' --> 3\nrequire 'own' --> 3\n"
        "require 'far' --> 3\n```\n"
    )
    starter = Starter()
    checker = Checker(starter, Compiler(), Configuration(sandbox=True))
    found = []
    for _ in range(2):
        found.append([result.verdict.value for result in checker.check(page).results])
        (tmp_path / "project/own-1.rockspec").touch()
    starter.stop()
    assert found == [
        ["pass", "pass", "fragment", "fragment"],
        ["pass", "pass", "pass", "fragment"],
    ]


def test_a_command_s_installation_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for folder in (tmp_path / "bin", tmp_path / "torch" / "bin"):
        folder.mkdir(parents=True)
        (folder / "lua").touch(0o755)
    plain = sandbox.readable_paths([], {})
    found = {
        folder: [
            path for path in sandbox.readable_paths([f"{folder}/lua"], {}) if path not in plain
        ]
        for folder in (tmp_path / "bin", tmp_path / "torch/bin")
    }
    assert str(tmp_path) not in found[tmp_path / "bin"]
    assert str(tmp_path / "lib") in found[tmp_path / "bin"]
    assert str(tmp_path / "torch") in found[tmp_path / "torch/bin"]


def test_a_page_that_imports_our_torch(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> import torch\n>>> torch.ones(2)\ntensor([1., 1.])\n```\n")
    assert main(["--sandbox", str(page)]) == 0
