"""th --check: files, folders, what is printed, the exit status."""

import json
import os
import re
from pathlib import Path

import pytest

from th_shell.preflight import programs
from th_shell.preflight.command import check as check_in
from th_shell.preflight.command import run
from th_shell.preflight.programs import Program
from th_shell.runtime.shell import Engine, LuaError
from th_shell.visible import UsageError


def check(words: list[str], as_json: bool = False) -> int:
    """Check in an engine that has no more than th itself."""
    return check_in(words, Engine(), as_json)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    (tmp_path / "inner").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.lua").write_text("require 'cunn'")
    (tmp_path / "inner" / "gpu.lua").write_text("if arg.gpu then\n  x = x:cuda() end")
    (tmp_path / "good.lua").write_text("#!/usr/bin/env th\nprint(torch.ones(2))")
    (tmp_path / "runs.lua").write_text("io.open('made', 'w')")
    return tmp_path


GPU = (
    "inner/gpu.lua:2:9: :cuda(): th computes on the processor alone; use :float(), or "
    "th --gpu-as-cpu for the whole program [if arg.gpu]\n"
)


@pytest.mark.parametrize(
    ("words", "status", "output", "errors"),
    [
        (["good.lua"], 0, "checked 1 file: nothing is missing\n", ""),
        (["."], 1, f"{GPU}checked 3 files: 1 place in 1 (:cuda() 1)\n", ""),
        (["inner/gpu.lua", "inner"], 1, f"{GPU}checked 1 file: 1 place in 1 (:cuda() 1)\n", ""),
        (["none.lua"], 2, "", "th: none.lua: No such file or directory\n"),
        ([".hidden/none"], 2, "", "th: .hidden/none: No such file or directory\n"),
        (
            ["good.lua", "code"],
            2,
            "checked 1 file: nothing is missing\n",
            "th: code: it is bytecode or a library, and not Lua source\n",
        ),
        (
            ["special"],
            2,
            "checked 1 file: nothing is missing\n",
            "th: special/device.lua: it is a pipe, a device or the like, and no file\n"
            "th: special/pipe.lua: it is a pipe, a device or the like, and no file\n",
        ),
    ],
)
def test_what_is_printed(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    status: int,
    output: str,
    errors: str,
) -> None:
    (folder / "code").write_bytes(b"\x1bLJ\x02")
    if words == ["special"]:
        (folder / "special").mkdir()
        os.mkfifo(folder / "special" / "pipe.lua")
        (folder / "special" / "device.lua").symlink_to("/dev/zero")
        (folder / "special" / "file.lua").write_text("")
    assert check(words) == status
    assert capsys.readouterr() == (output, errors)
    assert not (folder / "made").exists()


def test_a_folder_without_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    assert check(["empty"]) == 2
    assert capsys.readouterr() == ("", "th: no file *.lua in empty\n")


def test_lines_end_as_lua_has_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "ends.lua").write_bytes(
        b"x = 1 -- \f\r\ny = 2 -- \rcutorch()\n\rx = '\xe2\x80\xa8' z()"
    )
    assert check(["ends.lua"]) == 1
    found = capsys.readouterr().out.splitlines()[:2]
    assert [line.split(":")[1:3] for line in found] == [["3", "1"], ["4", "10"]]


@pytest.mark.thorough
def test_a_program_that_does_not_fit_the_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read = programs.read

    def failing(path: Path, engine: Engine) -> Program:
        if path.name == "large.lua":
            raise LuaError("not enough memory")
        return read(path, engine)

    monkeypatch.setattr(programs, "read", failing)
    assert check(["large.lua", "good.lua"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "checked 1 file: nothing is missing\n"
    assert printed.err == "th: large.lua: not enough memory\n"


def test_many_places_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "many.lua").write_text("".join(f"require 'missing_{i}'\n" for i in range(10)) * 2)
    assert check(["many.lua"]) == 1
    lines = capsys.readouterr().out.splitlines()
    counts = ", ".join(f"missing_{i} 2" for i in range(8))
    assert lines[-2:] == ["", f"checked 1 file: 20 places in 1 ({counts}, others 4)"]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(["inner"], as_json=True) == 1
    assert json.loads(capsys.readouterr().out) == {
        "checked": 1,
        "found": [
            {
                "file": "inner/gpu.lua",
                "line": 2,
                "column": 9,
                "subject": ":cuda()",
                "what": ":cuda()",
                "why": "th computes on the processor alone",
                "advice": "use :float(), or th --gpu-as-cpu for the whole program",
                "condition": "arg.gpu",
            }
        ],
    }


def test_deep_nesting_and_other_encodings(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (folder / "deep.lua").write_bytes(
        b"x = " + b"{" * 150 + b"}" * 150 + b" y = '\xff' \xe9 = 1 require '\xe9'"
    )
    assert check(["deep.lua"]) == 1
    assert capfdbinary.readouterr().out.startswith(
        b"deep.lua:1:320: require '\xe9': no such module"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--check needs files or folders"),
        (["--json"], "--check needs files or folders"),
        (["a", "--all"], "unrecognized option --all of --check"),
    ],
)
def test_what_is_no_command_line(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        run(words, Engine())


@pytest.mark.thorough
def test_modules_are_found_as_by_a_run_in_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one/.git/x", "one/sub/run.lua", "one/own.lua", "one/get-it.lua", "two/init.lua"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    program = "require 'own' require '../get-it.lua' require 'sub/run.lua' require './two'"
    (folder / "one/sub/run.lua").write_text(f"{program}\nrequire 'two'")
    relative = (
        "run.lua:1:61: require './two': there is no such file beside this one; correct the path"
    )
    missing = "run.lua:2:1: require 'two': no such module is found; install it where package.path "
    missing += "(LUA_PATH) finds it"
    for inside, found in (
        ("one", [f"sub/{relative}", f"sub/{missing}"]),
        ("one/sub", [relative, missing]),
    ):
        monkeypatch.chdir(folder / inside)
        assert check(["."]) == 1
        assert capsys.readouterr().out.splitlines()[:2] == found
    monkeypatch.chdir(folder)  # where a program finds the package two
    assert check(["one"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"one/sub/{relative}",
        "checked 3 files: 1 place in 1 (./two 1)",
    ]
