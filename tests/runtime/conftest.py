"""Disks, folders and users that tests of files need, and engines without formulas."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from th_shell.runtime.compute import formulas
from th_shell.runtime.shell import Engine


@contextmanager
def somebody() -> Iterator[None]:
    """Do without root's power."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(1234)
    os.seteuid(1234)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody can reach."""
    with tempfile.TemporaryDirectory(prefix="th-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)
        Path(name).chmod(0o755)


@pytest.fixture
def full(public: Path) -> Iterator[Path]:
    """A folder on a disk of a megabyte."""
    folder = public / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="module")
def by_python() -> Iterator[Callable[[str], str]]:
    """Runs Lua in an engine that has no formulas."""
    engine = Engine()
    found = formulas.source

    def run(program: str) -> None:
        formulas.source = lambda *args: None  # type: ignore[assignment]
        try:
            engine.run(engine.compile(program.encode(), b"=lua"))
        finally:
            formulas.source = found

    yield run
    engine.close()
