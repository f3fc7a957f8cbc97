"""Ctrl-C while the prompt's inputs run, in a process of its own: a signal is everyone's."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Talk = Callable[[str], "subprocess.Popen[str]"]

GO = "io.stdout:write('go\\n') io.stdout:flush() "


@pytest.fixture
def talk(
    command: list[str], environment: dict[str, str], tmp_path: Path
) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts th with some inputs, and waits until it prints 'go'."""
    started: list[subprocess.Popen[str]] = []

    def start(inputs: str) -> subprocess.Popen[str]:
        source = tmp_path / "inputs"
        source.write_text(inputs)
        with source.open() as stream:
            program = subprocess.Popen(
                [*command, "-i"],
                stdin=stream,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=tmp_path,
                env=environment,
                text=True,
            )
        started.append(program)
        assert program.stdout is not None
        assert program.stdout.readline() == "go\n"
        return program

    yield start
    for program in started:
        program.kill()
        program.communicate()


@pytest.mark.parametrize(
    "source",
    [
        "while true do end",
        "local t = {} for i = 1, 1e15 do t[1] = i end",
        "x:apply(function() while true do end end)",
        "while true do x:apply(function(v) return v end) end",
        "while true do x:add(1) end",
        "while true do torch.randn(1000000) end",
        "pcall(function() while true do end end) error('interrupted!', 0)",
        "coroutine.wrap(function() while true do end end)()",
        # Lua's text where another one comes while the traceback is written.
        "pcall(function() while true do end end) error(select(2, xpcall(error, error)), 0)",
    ],
)
def test_it_stops_what_runs_and_keeps_the_state(talk: Talk, source: str) -> None:
    program = talk(f"x = torch.zeros(3)\nkept = 5\n{GO}{source}\nkept\n")
    time.sleep(0.2)
    program.send_signal(signal.SIGINT)
    output, errors = program.communicate(timeout=60)
    assert (program.returncode, errors) == (0, "")
    lines = output.splitlines()
    assert (lines[0], lines[-1]) == ("interrupted!", "5\t")


def test_the_third_one_ends_what_cannot_be_stopped(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "loop.lua").write_text(f"{GO} local i = 0 while true do i = i + 1 end")
    program = talk("dofile('loop.lua')\n")
    for _ in range(3):
        time.sleep(0.3)
        program.send_signal(signal.SIGINT)
    output, errors = program.communicate(timeout=60)
    assert (program.returncode, output) == (130, "")
    assert errors == "\nStill running: stops at its next step. Ctrl-C once more ends th.\n"
