"""Reports of errors: the versions, and a case that tells nothing of who has it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.processes import TOP, run_python, run_th
from th_shell import __version__, report

VERSIONS = (
    rf"th {re.escape(__version__)}\nPython 3\.\d+\.\S+, Linux-\S+\n"
    r"LuaJIT 2\.1\S* \(lupa \S+\), numpy \S+, scipy \S+, [^\n]+\n"
)
PROGRAM = """\
print(torch.ones(1))
print(os.getenv("HOME"), os.getenv("TOKEN"), os.getenv("USER") .. "s")
require("nothing")
error(io.open("/proc/self/environ"):read("*a"))
"""
#: What must not be told of the person who asks.
SECRETS = ["quentin", "s3cr3t-token", "private-modules"]


def told(name: str, text: str, folder: Path) -> str:
    """What the report tells of a file in a person's home."""
    home = folder / "quentin"
    (home / "work").mkdir(parents=True)
    (home / "work" / name).write_text(text)
    env = {"HOME": str(home), "USER": "quentin", "TOKEN": "s3cr3t-token"}
    lua_path = f"{folder}/private-modules/?.lua;;"
    done = run_th(
        *("--report", home / "work" / name),
        cwd=home,
        env=os.environ | env | {"LUA_PATH": lua_path, "PATH": f"{home}/bin:{os.environ['PATH']}"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [secret for secret in SECRETS if secret in done.stdout] == []
    versions = re.match(VERSIONS, done.stdout)
    assert versions
    return done.stdout[versions.end() :]


def test_a_program_and_what_it_prints_without_names_of_people(tmp_path: Path) -> None:
    case = told("case.lua", PROGRAM, tmp_path)
    source = "".join(f"    {line}\n" for line in PROGRAM.splitlines())
    printed = " 1\n    [torch.DoubleTensor of dimension 1]\n\n    ~\t$TOKEN\tNAMEs\n    th: "
    ending = "`th case.lua` ends with status 1; the last 60 lines of what it prints"
    assert case.startswith(f"\ncase.lua:\n\n{source}\n{ending}:\n\n    {printed}")
    assert re.search(r"^    th: (\.\.\./)?case\.lua:3: module 'nothing' not found", case, re.M)
    assert "no file '$LUA_PATH" in case


@pytest.mark.thorough
def test_all_that_is_in_the_environment_may_be_printed(tmp_path: Path) -> None:
    assert "TOKEN=$TOKEN" in told("case.lua", PROGRAM.replace('require("nothing")', ""), tmp_path)


def test_a_short_name_is_replaced_as_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "al")
    assert report._anonymous("al (al) total") == "NAME (NAME) total"


@pytest.mark.thorough
def test_a_page(tmp_path: Path) -> None:
    assert told("page.md", "```lua\n> 1 + 1\n3\n```\n", tmp_path) == (
        "\n`th-docs page.md` ends with status 1; the last 60 lines of what it prints:\n\n"
        "    FAIL page.md:2: differs\n      input:\n        > 1 + 1\n"
        "      difference (- page, + program):\n        - 3\n        + 2\n\n"
        "    page.md: checked 1 of 1 example: 1 differs\n"
    )


@pytest.mark.thorough
def test_a_model(tmp_path: Path) -> None:
    path = tmp_path / "model.t7"
    assert run_th("-e", f"torch.save('{path}', torch.ones(2))").returncode == 0
    case = run_th("--report", path).stdout.partition("`")[2]
    assert case.startswith("th --convert model.t7` ends with status 0; ")
    assert case.endswith("\n    model.t7: torch.DoubleTensor 2\n")


def test_what_cannot_be_read(tmp_path: Path) -> None:
    done = run_th("--report", tmp_path / "none.lua")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"th: cannot read {tmp_path}/none.lua: No such file or directory\n"
    assert run_th("--report", "a", "b").stderr.startswith("th: --report takes one file")


def test_a_case_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "_SECONDS", 0.5)
    (tmp_path / "a.lua").write_text("print(1) io.stdout:flush() while true do end")
    assert "`th a.lua` still runs after 0.5 s" in report._case(tmp_path / "a.lua")


@pytest.mark.thorough
def test_the_versions_where_a_library_is_missing() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from th_shell.report import versions; print(*versions('th'), sep='')"
    )
    done = run_python("-c", code, cwd=TOP)
    assert re.fullmatch(r"th \S+\nPython \S+, \S+\n[^\n]*numpy[^\n]*\n\n", done.stdout)
