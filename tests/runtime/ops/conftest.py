"""Operations are called without Lua here: they work for the tests' engine."""

import pytest

from th_shell.runtime.shell import Engine


@pytest.fixture(scope="session", autouse=True)
def running(engine: Engine) -> Engine:
    """The engine, which is active for all tests of this folder, whichever runs first."""
    return engine
