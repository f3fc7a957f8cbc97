"""What an engine is doing, as another thread sees it."""

import threading
import time

import pytest

from th_shell.runtime.host.lua_calls import IN_LUA, describe
from th_shell.runtime.shell import Engine


@pytest.mark.thorough
def test_it_names_the_operation_that_the_program_has_called() -> None:
    with Engine() as engine:
        chunk = engine.compile(b"local x = torch.randn(200, 100) for _ = 1, 50 do torch.svd(x) end")
        thread = threading.Thread(target=engine.run, args=(chunk,))
        thread.start()
        found = set()
        while thread.is_alive():
            found.add(describe(thread.ident or 0))
            time.sleep(0.002)
        thread.join()
    assert "torch.svd" in found
    assert found <= {"torch.svd", "torch.randn", IN_LUA}


def test_what_no_operation_does_is_of_lua() -> None:
    assert describe(threading.get_ident()) == IN_LUA
    assert describe(-1) == IN_LUA
