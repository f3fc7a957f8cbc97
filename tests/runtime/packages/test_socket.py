"""The package socket: the time and waiting."""

import platform
import time

import pytest

from tests.conftest import Lua
from tests.data_files import data


def test_time_and_name(lua: Lua) -> None:
    before = time.time()
    lua("socket = require 'socket' a = socket.gettime() socket.sleep(0.02) b = socket.gettime()")
    assert before <= lua.engine.values["a"] <= lua.engine.values["b"] - 0.02 <= time.time()
    assert lua("print(socket.dns.gethostname())") == f"{platform.node()}\t\n"
    assert lua("socket.sleep(-1)") == ""


@pytest.mark.parametrize(("call", "message"), data(__file__, "test_errors"))
def test_errors(lua: Lua, call: str, message: str) -> None:
    lua("socket = require 'socket'")
    assert lua.error(call) == message
