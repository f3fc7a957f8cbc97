"""The package socket: the time and waiting."""

from __future__ import annotations

import platform
import time

import pytest

from tests.conftest import Lua


def test_time_and_name(lua: Lua) -> None:
    before = time.time()
    lua("socket = require 'socket' a = socket.gettime() socket.sleep(0.02) b = socket.gettime()")
    assert before <= lua.engine.values["a"] <= lua.engine.values["b"] - 0.02 <= time.time()
    assert lua("print(socket.dns.gethostname())") == f"{platform.node()}\t\n"
    assert lua("socket.sleep(-1)") == ""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("socket.sleep()", "bad argument #1 to 'sleep' (number expected, got no value)"),
        ("socket.sleep({})", "bad argument #1 to 'sleep' (number expected, got table)"),
        (
            "socket.connect('x', 1)",
            "socket.connect: connections are not provided here, only socket.gettime, socket.sleep "
            "and socket.dns.gethostname; for more, install LuaSocket for LuaJIT "
            "(luarocks install luasocket)",
        ),
    ],
)
def test_errors(lua: Lua, call: str, message: str) -> None:
    lua("socket = require 'socket'")
    assert lua.error(call) == message
