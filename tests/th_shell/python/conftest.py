from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.th_shell.conftest import Run


@pytest.fixture
def python(command: list[str], environment: dict[str, str], tmp_path: Path) -> Run:
    """Runs `th --python` with arguments, in an empty folder and a process of its own."""

    def run(*args: str, input: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, "--python", *args],
            input=input,
            cwd=tmp_path,
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run
