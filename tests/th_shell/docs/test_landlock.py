"""The rights that each version of Landlock knows, and how a process restricts itself to them."""

import os
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_python
from th_shell.docs.running import sandbox
from th_shell.docs.running.sandbox import READ, WRITE, Access

TOP = Path(__file__).parents[3]
needs_landlock = pytest.mark.skipif(
    not sandbox.landlock_version(), reason="the kernel of this system has no Landlock"
)


@pytest.mark.parametrize(
    ("version", "bits"), [(1, 13), (2, 14), (3, 15), (4, 15), (5, 16), (6, 16), (9, 16)]
)
def test_rights_of_versions(version: int, bits: int) -> None:
    assert sandbox.known_rights(version) == (1 << bits) - 1


def test_rights_to_a_folder_are_those_to_make_change_and_remove_what_is_in_it() -> None:
    assert Access.REMOVE_DIR | Access.REFER | Access.MAKE_SYM in WRITE
    assert not WRITE & (Access.EXECUTE | Access.MAKE_CHAR | Access.MAKE_BLOCK)
    assert not READ & (Access.WRITE_FILE | Access.TRUNCATE | Access.MAKE_REG)


def test_numbers_are_the_kernel_s() -> None:
    header = Path("/usr/include/linux/landlock.h")
    if not header.exists():
        pytest.skip(f"this system has no {header}")
    text = header.read_text()
    for right in Access:
        line = f"#define LANDLOCK_ACCESS_FS_{right.name}"
        if line in text:
            assert f"(1ULL << {right.bit_length() - 1})" in text.partition(line)[2].split("\n")[0]


RESTRICTED = data(__file__, "RESTRICTED")


@pytest.mark.sample(2)
@needs_landlock
@pytest.mark.parametrize("version", [1, 3, 4, 6])
def test_a_process_restricts_itself(tmp_path: Path, version: int) -> None:
    if version > sandbox.landlock_version():
        pytest.skip(f"the kernel of this system has version {sandbox.landlock_version()}")
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.touch()
    env = {**os.environ, "PYTHONPATH": str(TOP)}
    found = run_python("-c", RESTRICTED, own, other, str(version), env=env)
    assert (found.stdout, found.stderr) == ("denied\n" * 3, "")
    assert os.listdir(own) == ["renamed"]


def test_a_system_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(sandbox, "_call", refuse)
    assert sandbox.landlock_version() == 0
