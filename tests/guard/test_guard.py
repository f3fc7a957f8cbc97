"""Guard mode: a process ends at the first access behind, before or after a piece of memory.

The programs of one mode run in forks of one process, which has been started in this mode.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.data_files import data

TOP = Path(__file__).parents[2]

# Runs each program of a list in a fork; prints how each has ended, and what it has written. One
# whose pointer is to working memory runs in a Lua state that has no torch.
FORKS = data(__file__, "FORKS")


def run(code: str, mode: str | None, *arguments: str) -> Any:
    """What Python code in a process of its own prints as JSON."""
    environment = {name: value for name, value in os.environ.items() if name != "TH_GUARD"}
    if mode is not None:
        environment["TH_GUARD"] = mode
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=TOP, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


# What gives a pointer, the elements that may be accessed, their bytes, and what messages call them.
PIECES = data(__file__, "PIECES")

FREED = data(__file__, "FREED")


def accesses(mode: str) -> list[tuple[str, str]]:
    """Programs that access what they must not, and the messages that they end with."""
    found = list(FREED)
    for pointer, count, size, what in PIECES:
        index = -1 if mode == "front" else count
        place = f"{size} bytes before" if mode == "front" else "0 bytes behind"
        message = f"access to {place} {what}, which has {count * size} bytes"
        found.append((f"local p = {pointer} p[{index}] = 1", message))
        found.append((f"local p = {pointer} x = p[{index}]", message))
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["1", "front"])
def test_processes_end_where_they_access_other_memory(mode: str) -> None:
    wanted = accesses(mode)
    ended = run(FORKS, mode, json.dumps([program for program, _ in wanted]))
    assert ended == [[-signal.SIGSEGV, f"TH_GUARD: {message}\n"] for _, message in wanted]


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["1", "front"])
def test_all_elements_may_be_accessed(mode: str) -> None:
    whole = [
        f"local p = {pointer} for i = 0, {count - 1} do p[i] = p[i] + 1 end"
        for pointer, count, _, _ in PIECES
    ]
    assert run(FORKS, mode, json.dumps(whole)) == [[0, ""]] * len(whole)


# Whether numpy keeps no memory, and whether the process catches SIGSEGV.
INSTALLED = data(__file__, "INSTALLED")


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize(("mode", "installed"), [(None, False), ("0", False), ("front", True)])
def test_nothing_is_installed_in_other_processes(mode: str | None, installed: bool) -> None:
    assert run(INSTALLED, mode) == [installed, installed]
