"""What the tests of the documentation runner share: the processes that run pages."""

from collections.abc import Iterator

import pytest

from th_shell.docs.running.evaluation import Runner
from th_shell.docs.running.processes import Starter


@pytest.fixture(scope="session")
def starter() -> Iterator[Starter]:
    with Starter() as starter:
        yield starter


@pytest.fixture(scope="session")
def runner(starter: Starter) -> Runner:
    return Runner(starter)
