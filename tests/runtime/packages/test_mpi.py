"""The package mpi: what one process sees, and, in slow tests, what several tell each other."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.data_files import data
from tests.mpi import TOP, missing_mpi, missing_mpirun, run_together, started_together
from tests.processes import run_th
from th_shell.runtime import load
from th_shell.runtime.packages import mpi

ALONE = pytest.mark.skipif(bool(missing_mpi()), reason=missing_mpi())
PAGE = TOP / "tests/docs/mpi.md"
#: How long the others may live when one has ended, in seconds.
SOON = 5


def together(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that starts several processes."""
    skip = pytest.mark.skipif(bool(missing_mpirun()), reason=missing_mpirun())
    return pytest.mark.slow(skip(test))


def printed(program: str) -> str:
    done = run_th("-e", f"mpi = require 'mpi' {program}")
    return done.stdout + done.stderr


@pytest.mark.thorough
@ALONE
@pytest.mark.parametrize(("program", "expected"), data(__file__, "test_one_process"))
def test_one_process(program: str, expected: str) -> None:
    assert printed(program) == expected


@pytest.mark.thorough
@ALONE
@pytest.mark.parametrize(("call", "message"), data(__file__, "test_errors"))
def test_errors(call: str, message: str) -> None:
    lines = printed(call).splitlines()
    assert lines[0] == f"th: (command line):1: {message}"


@ALONE
@pytest.mark.parametrize(
    ("text", "told"),
    data(__file__, "test_what_mpi_says_ends_in_a_word"),
)
def test_what_mpi_says_ends_in_a_word(
    text: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = len(text) + (2 if text.startswith("Other") else 3)
    monkeypatch.setattr(mpi, "_mpi", lambda: SimpleNamespace(MAX_ERROR_STRING=limit))
    assert mpi._summary(text) == told


@ALONE
def test_a_message_that_is_too_long() -> None:
    program = "h = mpi.async.send(torch.ones(3), 0) print(pcall(mpi.receive, torch.zeros(2)))"
    assert printed(program).splitlines()[0] in (
        "false\tMPI: Message truncated: Message from rank 0 and tag 0 truncated; 16 bytes received "
        "but buffer size is 24\t",
        "false\tMPI: MPI_ERR_TRUNCATE: message truncated\t",
    )


@ALONE
def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPI4PY_LIBMPI", "/nowhere/libmpi.so")
    assert printed("").splitlines()[0] == (
        "th: mpi4py finds no MPI (/nowhere/libmpi.so: cannot open shared object file: No such file "
        "or directory): install Open MPI or MPICH, such as by: pip install mpich"
    )


def test_nothing_is_loaded_before_it_is_required() -> None:
    program = "local found = require('ffi').os print(package.loaded.mpi, found)"
    assert run_th("-e", program).stdout == "nil\tLinux\t\n"


# -- the C halves of the packages torchmpi and mpiT

#: What torchmpi's own Lua files do when it starts.
TORCHMPI = data(__file__, "TORCHMPI")


@pytest.mark.sample(1)
@ALONE
@pytest.mark.parametrize(("program", "expected"), data(__file__, "test_torchmpi"))
def test_torchmpi(program: str, expected: str) -> None:
    assert printed(f"{TORCHMPI} {program}").replace("nil\tnil\tnil\tnil\t\n", "") == expected


@ALONE
def test_mpit() -> None:
    program = data(__file__, "test_mpit")
    assert printed(program) == (
        "0\t0\t0\t0\t1\t\n0\t\n1\t2\t0\t0\t5\t\n1\t6\t\n3\t\n1\t\n"
        "false\tmpiT: a torch.DoubleStorage expected, got torch.FloatStorage\t\n"
    )


# -- several processes


CALLS = data(__file__, "CALLS")

FAILS = data(__file__, "FAILS")

WAITS = data(__file__, "WAITS")


@together
@pytest.mark.parametrize("count", [2, 4])
def test_all_calls(tmp_path: Path, count: int) -> None:
    (tmp_path / "calls.lua").write_text(CALLS)
    done = run_together(count, tmp_path / "calls.lua")
    assert (done.stdout, done.returncode) == ("all is well\t\n", 0), done.stderr


@pytest.mark.thorough
@ALONE
def test_all_of_its_page_is_checked() -> None:
    words = [sys.executable, "-m", "th_shell.docs", str(PAGE)]
    env = {**os.environ, "WITH_MPI": "1", "WITH_NN": ""}
    done = subprocess.run(words, env=env, cwd=TOP, capture_output=True, text=True)
    assert "pass" in done.stdout and "fragment" not in done.stdout


@together
@pytest.mark.needs("nn")
def test_the_net_of_the_page_is_the_same_whatever_their_number(tmp_path: Path) -> None:
    found = re.search(r"```lua\n(local mpi, nn.*?)```", PAGE.read_text(), re.S)
    assert found
    parameters = []
    for count in 1, 2, 4:
        path = tmp_path / f"{count}.t7"
        done = run_together(
            count, "-e", f"{found[1]} if mpi.rank() == 0 then torch.save('{path}', w) end"
        )
        assert done.returncode == 0, done.stderr
        parameters.append(load(path).numpy())
    assert max(np.abs(parameters[0] - other).max() for other in parameters[1:]) < 1e-12


@together
def test_an_error_of_one_ends_all() -> None:
    program = FAILS.format("local function f() error('oh no') end f()")
    begin = time.monotonic()
    done = run_together(4, "-e", program)
    assert time.monotonic() - begin < SOON + 5  # with the start of four processes
    assert done.stdout == ""
    assert "th: rank 2: (command line):3: oh no\nstack traceback:\n" in done.stderr
    assert done.returncode == 1


@together
def test_exit_with_a_failure_ends_all() -> None:
    assert run_together(3, "-e", FAILS.format("os.exit(7)")).returncode == 7
    done = run_together(2, "-e", "require 'mpi' print('here') os.exit(0)")
    assert (done.stdout.count("here"), done.returncode) == (2, 0)


@together
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_signal_to_one_ends_all(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "waits.lua").write_text(WAITS)
    with started_together(3, "waits.lua", cwd=tmp_path) as process:
        pids = _pids(tmp_path / "pids")
        os.kill(pids[1], number)
        told = "".join(process.communicate(timeout=SOON))
    # Open MPI tells which rank and signal it was; MPICH may tell of one that it has ended itself.
    assert f"signal {number.value}" in told and "rank 1" in told or "BAD TERMINATION" in told
    assert process.returncode


@together
def test_ctrl_c_ends_all(tmp_path: Path) -> None:
    (tmp_path / "waits.lua").write_text(WAITS)
    with started_together(3, "waits.lua", cwd=tmp_path) as process:
        pids = _pids(tmp_path / "pids")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SOON)
    assert [pid for pid in pids if os.path.exists(f"/proc/{pid}/exe")] == []


def _pids(path: Path) -> list[int]:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if path.exists() and len(found := path.read_text().split()) == 3:
            return [int(pid) for pid in found]
        time.sleep(0.05)
    raise AssertionError("the processes did not start")
