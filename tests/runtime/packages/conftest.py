"""Packages are loaded in an engine of their own: they add globals."""

from collections.abc import Iterator

import pytest

from tests.conftest import FRESH, Lua
from th_shell.runtime.shell import Engine


@pytest.fixture(scope="session")
def engine_for_packages() -> Engine:
    return Engine()


@pytest.fixture
def lua(engine_for_packages: Engine, capfd: pytest.CaptureFixture[str]) -> Iterator[Lua]:
    """Lua with the default tensor type and a fixed seed."""
    engine_for_packages.run(engine_for_packages.compile(FRESH))
    yield Lua(engine_for_packages, capfd)
