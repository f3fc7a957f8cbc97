"""Lua and Python find the members of structs in the same places."""

import struct

import pytest

from th_shell.runtime.core.c_structs import STORAGE, STRUCTS, TENSOR, CStruct
from th_shell.runtime.io.file import Window
from th_shell.runtime.shell import Engine


def test_offsets_and_sizes() -> None:
    assert TENSOR.offsets() == {
        "size": 0,
        "stride": 8,
        "nDimension": 16,
        "storage": 24,
        "storageOffset": 32,
        "refcount": 40,
        "flag": 44,
    }
    assert (TENSOR.size, STORAGE.size) == (48, 24)
    assert struct.calcsize(TENSOR.format) == 45


def test_the_window_of_files() -> None:
    assert Window.room.offset == 24 and Window.opened.offset == 32


@pytest.mark.parametrize("changed", STRUCTS, ids=lambda s: s.name)
def test_lua_refuses_structs_that_it_has_elsewhere(
    changed: CStruct, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = changed.members[1]
    offsets = {**changed.offsets(), member: 99}
    monkeypatch.setattr(changed, "offsets", lambda: offsets)
    with pytest.raises(
        Exception, match=rf"{changed.name}\.{member} is at 8 in Lua, at 99 in Python"
    ):
        Engine()
