"""What the system may lack, and what is said or done then."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_python
from th_shell.runtime.core import platform

TOP = Path(__file__).parent.parent.parent

# A library for Lua as macOS's wheels of it are.
LUPA = data(__file__, "LUPA")
NO_LUAJIT = (
    "th needs LuaJIT 2.1 in lupa, whose wheels have it for Linux and not for macOS "
    "(cannot import name 'luajit21' from 'lupa' ({lupa})); the README tells how to build it\n"
)
NO_SPAWN = "th needs functions that this system has not: os.posix_spawn\n"

# What Python runs before any program.
WITHOUT_SPAWN = "import os\ndel os.posix_spawn\n"
WITHOUT_EXTRAS = data(__file__, "WITHOUT_EXTRAS")


def run(
    folder: Path, command: Sequence[str], file: str = "", text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run Python with a file of ours in front of all others."""
    if file:
        (folder / file).write_text(text)
    path = os.pathsep.join([str(folder), str(TOP)])
    env = {k: v for k, v in os.environ.items() if k != "TREPLSTARTUP"} | {"PYTHONPATH": path}
    return run_python(*command, cwd=folder, env=env, timeout=60, stdin=subprocess.DEVNULL)


COMMANDS = {
    "th": (["-m", "th_shell", "-e", "print(1)"], 1, "th: "),
    "th-docs": (["-m", "th_shell.docs", str(TOP / "README.md")], 2, "th-docs: "),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", COMMANDS)
def test_without_luajit(name: str, tmp_path: Path) -> None:
    command, status, prefix = COMMANDS[name]
    done = run(tmp_path, command, "lupa.py", LUPA)
    line = prefix + NO_LUAJIT.format(lupa=tmp_path / "lupa.py")
    assert (done.stdout, done.stderr, done.returncode) == ("", line, status)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", COMMANDS)
def test_without_a_function_of_the_system(name: str, tmp_path: Path) -> None:
    command, status, prefix = COMMANDS[name]
    done = run(tmp_path, command, "sitecustomize.py", WITHOUT_SPAWN)
    assert (done.stdout, done.stderr, done.returncode) == ("", prefix + NO_SPAWN, status)


@pytest.mark.sample(1)
@pytest.mark.parametrize("file", ["lupa.py", "sitecustomize.py"])
def test_import(file: str, tmp_path: Path) -> None:
    text = LUPA if file == "lupa.py" else WITHOUT_SPAWN
    program = "try:\n  import runtime\nexcept ImportError as error:\n  print(error)"
    done = run(tmp_path, ["-c", program], file, text)
    line = NO_LUAJIT.format(lupa=tmp_path / file) if file == "lupa.py" else NO_SPAWN
    assert (done.stdout, done.stderr) == (line, "")


def test_the_help_needs_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, ["-m", "th_shell", "-h"], "lupa.py", LUPA).returncode == 0


def test_nothing_is_missing_here() -> None:
    assert platform.missing() is None


def test_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    line = "Windows lacks what th needs of Unix (such as posix_spawn); it runs in WSL"
    with pytest.raises(ImportError, match=re.escape(line)):
        platform.require()


def test_a_processor_of_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "byteorder", "big")
    line = "th needs a processor with addresses of 64 bits, low byte first"
    assert platform.missing() == line


def test_functions_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pwrite")
    monkeypatch.delattr(signal, "sigwait")
    line = "th needs functions that this system has not: os.pwrite, signal.sigwait"
    assert platform.missing() == line


# -- what can be done without

PROGRAM = data(__file__, "PROGRAM")


@pytest.mark.thorough
def test_without_the_c_library_and_affinity(tmp_path: Path) -> None:
    command = ["-m", "th_shell", "-e", PROGRAM + "io.write(torch.getnumcores())"]
    expected = run(tmp_path, ["-m", "th_shell", "-e", PROGRAM]).stdout
    done = run(tmp_path, command, "sitecustomize.py", WITHOUT_EXTRAS)
    assert done.stderr == ""
    assert done.stdout.startswith(expected) and expected.count("\n") == 1


CHILD = data(__file__, "CHILD")


@pytest.mark.thorough
@pytest.mark.parametrize("name", ['"pthread_mutex_trylock"', '"sched_yield"', '"stdout"'])
def test_without_a_name_of_the_c_library(name: str, tmp_path: Path) -> None:
    program = "torch.setnumthreads(2)" + PROGRAM
    command = ["-c", CHILD, name]
    expected = run(tmp_path, [*command, name, program])
    done = run(tmp_path, [*command, '"no_such_name"', program])
    assert done.stderr == expected.stderr == ""
    assert done.stdout == expected.stdout and done.stdout.endswith("\n''\n")


def test_without_what_proc_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    assert platform.processor_seconds() > 0 or not os.path.exists("/proc/stat")

    def refuse(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(platform, "open", refuse, raising=False)
    assert platform.processor_seconds() == 0


# What is asked of the system, and the only modules that do.
RUNNING = "th_shell/docs/running/"  # what runs documentation pages
ASKED = {
    r"CDLL\(None": {
        "runtime/core/platform.py",
        "th_shell/jupyter/streams.py",
        *(f"{RUNNING}{name}.py" for name in ("sandbox", "seccomp", "system")),
    },
    r"mallopt|malloc_trim": {"runtime/core/platform.py"},
    r"\bproc/": {
        "runtime/core/platform.py",
        "runtime/core/memory.py",
        "runtime/core/machine.py",
        "runtime/core/system.py",
        *(f"{RUNNING}{name}.py" for name in ("sandbox", "system")),
    },
    r"sched_getaffinity": {"runtime/core/platform.py"},
    r"posix_spawn\(": {"runtime/core/system.py"},
    r"pthread_sigmask\(": {"runtime/core/system.py", "th_shell/session/output.py"},
    r"pthread_(?!sigmask)|sched_yield": {
        "runtime/core/platform.py",
        "runtime/lua/parallel/thread_pool.lua",
    },
    r"ffi\.load\b": {"runtime/packages/require.lua"},
}


@pytest.mark.parametrize("pattern", ASKED)
def test_one_module_asks(pattern: str) -> None:
    files = [p for end in ("py", "lua") for p in (TOP / "runtime").rglob(f"*.{end}")]
    files += (TOP / "th_shell").rglob("*.py")
    found = {p for p in files if re.search(pattern, p.read_text())}
    assert {str(p.relative_to(TOP)) for p in found} == ASKED[pattern]
