"""Python's lock is free after each call of Lua, also where an error has left lupa's code.

That happens where Lua has no memory for what Python has returned. It cannot be made to happen at a
given place: so the programs here take the lock as lupa does, and never free it.
"""

import pytest

from tests.data_files import data
from tests.processes import run_python

PROGRAM = data(__file__, "PROGRAM")


@pytest.mark.thorough
@pytest.mark.parametrize(("source", "printed"), data(__file__, "test_the_lock_is_free"))
def test_the_lock_is_free(source: str, printed: str) -> None:
    run = run_python("-c", PROGRAM, source, timeout=60)
    assert (run.stdout, run.stderr) == (f"{printed}3\t\n", "")
