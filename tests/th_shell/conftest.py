"""What the tests of the shell share: an engine, a session, and what they print."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.processes import run_th
from tests.starters import SharingStarter, shared
from th_shell.docs import checking, cli, fix, library
from th_shell.runtime.shell import Engine
from th_shell.session.session import Session

TOP = Path(__file__).resolve().parents[2]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session", autouse=True)
def one_starter() -> Iterator[None]:
    """Lets the th-docs that runs in this process start pages by one process for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (checking, cli, fix, library):
            patch.setattr(module, "Starter", SharingStarter)
        yield
    shared().stop()


@pytest.fixture(scope="session", autouse=True)
def luacheck_finds_nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whether luacheck is installed must not matter: one stands first that finds nothing."""
    folder = tmp_path_factory.mktemp("tools")
    (folder / "luacheck").write_text("#!/bin/sh\n")
    (folder / "luacheck").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(folder), prepend=os.pathsep)
        yield


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def session(engine: Engine) -> Session:
    return Session(engine)


@pytest.fixture
def printed(engine: Engine, capfd: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was written to the standard output since the last call."""

    def read() -> str:
        engine.flush()
        return capfd.readouterr().out

    return read


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a th in a process of its own."""
    others = ("TREPL", "LUA_", "XDG_CACHE")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(others)}
    return kept | {
        "PYTHONPATH": str(TOP),
        "HOME": str(tmp_path),
        "TREPL_HISTORY": str(tmp_path / "history"),
        "TERM": "xterm",
    }


@pytest.fixture
def command() -> list[str]:
    return [sys.executable, "-m", "th_shell"]


@pytest.fixture
def th(environment: dict[str, str], tmp_path: Path) -> Run:
    """Runs th with arguments in an empty folder; input: what it reads."""

    def run(*args: str, input: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        return run_th(*args, input=input, cwd=tmp_path, env=environment | variables)

    return run
