"""runtime/host/lua_calls.py: exceptions become bytes, and Ctrl-C ends only what may be ended."""

import sys

import pytest

from th_shell.runtime.core.errors import ArgError
from th_shell.runtime.core.interrupts import is_interruptible
from th_shell.runtime.host.lua_calls import guarded


def _refuse(position: int) -> None:
    raise ArgError(position, "out of range")


def _may_be_ended() -> bool:
    return is_interruptible(sys._getframe())


@pytest.mark.parametrize("interruptible", [False, True])
def test_an_exception_is_returned_as_bytes(interruptible: bool) -> None:
    assert guarded(_refuse, interruptible=interruptible)(2) == b"\2out of range"


def test_ctrl_c_ends_only_functions_that_allow_it() -> None:
    interruptible, other = guarded(_may_be_ended, interruptible=True), guarded(_may_be_ended)
    assert interruptible() is True
    assert other() is False
