"""Debug hooks of a program see its own lines, and none within th's functions."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

_PROGRAMS = data(__file__, "_PROGRAMS")


@pytest.mark.parametrize("what", _PROGRAMS)
def test_hooks(lua: Lua, what: str) -> None:
    program, expected = _PROGRAMS[what]
    try:
        assert lua.run(f"jit.off() {program}") == expected
    finally:
        lua("jit.on()")
