"""Packages that compute alone: what the reference prints. Programs of csvigo share their files."""

from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.transcripts import Entry, cases, normal, read, wrong

HERE = Path(__file__).parent / "transcripts"
ALONE = ("md5", "signal", "gnuplot")


@pytest.mark.parametrize("programs", [case for name in ALONE for case in cases(name, HERE)])
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""


def test_csvigo_as_the_reference(lua: Lua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for entry in read(HERE / "csvigo.txt"):
        source = "\n".join(entry.source)
        assert normal(lua.answer(source)) == normal("\n".join(entry.printed)), source


@pytest.mark.parametrize("blanks", ["", " ", " \t\n"])
def test_csvigo_takes_blanks_for_an_empty_file(lua: Lua, tmp_path: Path, blanks: str) -> None:
    (tmp_path / "x.csv").write_text(blanks)
    load = "require('csvigo').load{{ path = '{0}/x.csv', mode = '{1}', verbose = false }}"
    raw, large = (load.format(tmp_path, mode) for mode in ("raw", "large"))
    assert lua(f"print(#{raw}, #{large})") == "0\t0\t\n"
    assert lua.error("local x = " + load.format(tmp_path, "tidy")) == "attempt to index a nil value"
