"""Classes, utilities, Tester, CmdLine and the packages that th brings along."""

from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.transcripts import Entry, cases, wrong

HERE = Path(__file__).parent / "transcripts"
NAMES = ("class", "utility", "tester", "cmdline", "packages")


@pytest.mark.sample(9)
@pytest.mark.parametrize("programs", [case for name in NAMES for case in cases(name, HERE)])
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""
