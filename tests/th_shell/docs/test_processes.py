"""Runs are processes that leave nothing behind, however they end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from th_shell.docs.running.processes import Engine, LostError, Starter

TOP = Path(__file__).parents[3]


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(process: int, seconds: float = 10) -> bool:
    until = time.monotonic() + seconds
    while is_running(process) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_running(process)


@pytest.mark.parametrize(
    "how", ["sleep 1000 &", "setsid sleep 1000 &", "setsid sh -c 'sleep 1000 & sleep 1000' &"]
)
def test_processes_and_folder_go_with_the_run(starter: Starter, how: str) -> None:
    run = starter.start(Engine(), 0)
    folder = run.ask("input", b"io.popen('pwd'):read('*l')").output.strip()
    run.ask("run", f"os.execute([[{how} echo $! > pid]])".encode())
    process = int(Path(folder, "pid").read_text())
    assert is_running(process)
    run.close()
    assert not is_running(process)
    assert not Path(folder).parent.exists()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_nothing_is_left_when_th_docs_is_ended(tmp_path: Path, ending: signal.Signals) -> None:
    if signal.getsignal(ending) is signal.SIG_IGN:
        pytest.skip("the tests were started without this signal")
    found = tmp_path / "found"
    (tmp_path / "page.md").write_text(
        f"```\nos.execute('setsid sleep 1000 & echo $! $PWD > {found}.new; "
        f"mv {found}.new {found}')\nwhile true do end\n```\n"
    )
    command = [sys.executable, "-m", "th_shell.docs", "page.md"]
    environment = {**os.environ, "PYTHONPATH": str(TOP)}
    th_docs = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, start_new_session=True
    )
    while not found.exists():
        time.sleep(0.02)
    process, folder = found.read_text().split()
    th_docs.send_signal(ending)
    th_docs.communicate(timeout=10)
    assert th_docs.returncode in (-ending, 130)
    assert wait_until_gone(int(process))
    until = time.monotonic() + 10
    while Path(folder).parent.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not Path(folder).parent.exists()


def test_memory_has_a_limit(starter: Starter) -> None:
    run = starter.start(Engine(memory=1 << 30), 0)
    assert run.ask("input", b"x = torch.zeros(5e7)").error is None
    error = run.ask("input", b"y = torch.zeros(1e9)").error
    assert error is not None and "not enough memory" in error
    assert run.ask("input", b"x:nElement()").output == "50000000\t\n"
    command = "import mmap; mmap.mmap(-1, 2 << 30)"
    reply = run.shell(f"{sys.executable} -c '{command}' 2>&1 | tail -n 1")
    assert "Cannot allocate memory" in reply.output
    run.close()


def test_an_engine_that_cannot_be_started(starter: Starter) -> None:
    run = starter.start(Engine(["/no/such/engine"]), 0)
    with pytest.raises(LostError, match="ended with status 1") as raised:
        run.ask("begin")
    assert "/no/such/engine: No such file or directory" in raised.value.output
    run.close()
