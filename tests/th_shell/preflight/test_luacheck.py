"""Findings of luacheck, for which a program stands that says what the test wants."""

from collections.abc import Callable
from pathlib import Path

import pytest

from th_shell.preflight.command import check
from th_shell.runtime.shell import Engine

Install = Callable[[str], Path]

SAID = r"""
./0.lua:1:7-7: (W211) unused variable 'x'
./0.lua:2:1-3: (W112) mutating non-standard global variable 'own'
./0.lua:2:9-12: (W113) accessing undefined variable 'cunn'
./0.lua:2:25-26: (W113) accessing undefined variable 'hm'
./1.lua:1:1-3: (W111) setting non-standard global variable 'own'
./1.lua:2:1-2: (E011) expected expression near '//'
"""
FOUND = """\
a.lua:1:7: x: a local that nothing reads; leave the name out
a.lua:2:25: hm: accessing undefined variable 'hm'; see luacheck's W113
b.lua:1:1: own: setting non-standard global variable 'own'; see luacheck's W111

checked 2 files: 3 places in 2 (luacheck 2, unused 1)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a luacheck of these lines of the shell on the path; return the folder of programs."""
    folder, tools = tmp_path / "programs", tmp_path / "tools"
    for place in (folder, tools):
        place.mkdir()
    (folder / "a.lua").write_text("local x = 1\nown.y = cunn or 'é' and hm and hm.y\n")
    (folder / "b.lua").write_text("own = {} \n")
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(folder)

    def install(lines: str) -> Path:
        (tools / "luacheck").write_text(f"#!/bin/sh\n{lines}\n")
        (tools / "luacheck").chmod(0o755)
        return folder

    return install


def test_what_it_finds_stands_between_ths_own(
    install: Install, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where nothing else is found the status is 0; it runs once, and not again for the same."""
    before = check(["."], Engine()), capfd.readouterr().out
    install(f'echo $* >>{tmp_path}/runs\nprintf "{SAID}"')
    for _ in range(2):
        assert (check(["."], Engine()), capfd.readouterr().out) == (0, FOUND)
    assert before == (
        0,
        FOUND[: FOUND.index("\n") + 1] + "checked 2 files: 1 place in 1 (unused 1)\n",
    )
    [run] = (tmp_path / "runs").read_text().splitlines()
    assert run.startswith(". --no-config ") and " torch " in run


@pytest.mark.parametrize("lines", ["exit 3", "echo '0.lua:1: no warning'", "kill -9 $$"])
def test_a_luacheck_that_fails_changes_nothing(
    install: Install, capfd: pytest.CaptureFixture[str], lines: str
) -> None:
    install(lines)
    assert check(["b.lua"], Engine()) == 0
    assert capfd.readouterr() == ("checked 1 file: nothing is missing\n", "")


def test_it_reads_copies_in_another_folder(
    install: Install, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = install(f'pwd >{tmp_path}/where\nread line <1.lua\necho "1.lua:1:1-3: (W1) $line"')
    (folder / ".luacheckrc").write_text("error('it was run')")
    assert check(["."], Engine()) == 0
    assert "b.lua:1:1: own: own = {}; see luacheck's W1\n" in capfd.readouterr().out
    assert not Path((tmp_path / "where").read_text().strip()).exists()
